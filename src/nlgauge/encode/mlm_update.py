"""The update that turns the embedded MiniLM into a masked language model.

The file only contains changes by training: low-rank products for matrices, differences for vectors,
and the head. ``tools/train_mlm`` creates it; ``data/minilm-mlm.md`` reports its quality.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import torch
from safetensors.torch import load


@cache
def _content() -> bytes:
    return files(__package__).joinpath("data/minilm-mlm.safetensors").read_bytes()


def update_digest() -> str:
    """Return the first twelve hexadecimal digits of the update's sha256."""
    return hashlib.sha256(_content()).hexdigest()[:12]


def apply_tensors(model: Any, tensors: Mapping[str, torch.Tensor] | None = None) -> Any:
    """Apply an update (None: the shipped one) to the base model in place, and return the update.

    ``<weight>.lora_a`` and ``.lora_b``: weight += b @ a. ``<name>.delta``: parameter += value.
    ``<name>.full``: parameter = value. All arithmetic in float32.
    """
    tensors = load(_content()) if tensors is None else tensors
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for key, value in tensors.items():
            name, _, kind = key.rpartition(".")
            if kind == "lora_a":
                parameters[name] += tensors[f"{name}.lora_b"].float() @ value.float()
            elif kind == "delta":
                parameters[name] += value.float()
            elif kind == "full":
                parameters[name].copy_(value)
        head = model.cls.predictions
        head.decoder.weight = model.bert.embeddings.word_embeddings.weight
        head.decoder.bias = head.bias
    return model
