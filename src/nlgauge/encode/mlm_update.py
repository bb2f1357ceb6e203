"""The update that turns the embedded MiniLM into a masked language model.

The file holds only what training changed: low-rank products for matrices, differences for vectors,
and the head. ``tools/train_mlm`` makes it; until one is good enough to ship, InfoLM asks for a
model.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

import torch
from safetensors.torch import load

from nlgauge.core.errors import ModelError

_FILE = "data/minilm-mlm.safetensors"


@cache
def _content() -> bytes:
    source = files(__package__).joinpath(_FILE)
    if not source.is_file():
        raise ModelError(
            "InfoLM needs a masked language model, and the embedded model has no masked-language "
            "head; name one with model=NAME or a folder (such as bert-base-uncased), or set "
            "NLGAUGE_MODEL"
        )
    return source.read_bytes()


def update_digest() -> str:
    """The first twelve hexadecimal digits of the update's sha256."""
    return hashlib.sha256(_content()).hexdigest()[:12]


def apply_update(model: Any) -> Any:
    """The base model turned into the masked language model, in place.

    ``<weight>.lora_a`` and ``.lora_b``: weight += b @ a. ``<name>.delta``: parameter += value.
    ``<name>.full``: parameter = value. All arithmetic in float32.
    """
    parameters = dict(model.named_parameters())
    tensors = {key: value.float() for key, value in load(_content()).items()}
    with torch.no_grad():
        for key, value in tensors.items():
            name, _, kind = key.rpartition(".")
            if kind == "lora_a":
                parameters[name] += tensors[f"{name}.lora_b"] @ value
            elif kind == "delta":
                parameters[name] += value
            elif kind == "full":
                parameters[name].copy_(value)
        head = model.cls.predictions
        head.decoder.weight = model.bert.embeddings.word_embeddings.weight
        head.decoder.bias = head.bias
    return model
