"""Models: the only room that knows torch and transformers."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from types import ModuleType

from nlgauge.core.errors import MissingExtra
from nlgauge.encode.encoder import Encoder, MaskedLm
from nlgauge.encode.hashing import HashingEncoder, HashingMaskedLm
from nlgauge.encode.locate import chosen_model, find_model
from nlgauge.encode.static import names_vectors, open_static
from nlgauge.encode.ways import PLAIN, Ways


def open_encoder(model: str | None, ways: Ways = PLAIN) -> Encoder:
    """The encoder of a model, loaded at most once; ``None`` takes the default model."""
    name = chosen_model(model)
    if names_vectors(name):  # a table knows neither windows nor precision, so it is opened once
        return open_static(name)
    return _open_encoder(name, ways)


def open_masked_lm(model: str | None, ways: Ways = PLAIN) -> MaskedLm:
    """The masked language model of a name, loaded at most once."""
    return _open_masked_lm(chosen_model(model), ways)


@lru_cache(maxsize=4)
def _open_encoder(name: str, ways: Ways) -> Encoder:
    if name == "hashing":
        return HashingEncoder()
    encoder: Encoder = _heavy("huggingface").HuggingFaceEncoder(find_model(name), ways)
    return encoder


@lru_cache(maxsize=2)
def _open_masked_lm(name: str, ways: Ways) -> MaskedLm:
    if name == "hashing":
        return HashingMaskedLm()
    masked_lm: MaskedLm = _heavy("masked_lm").HuggingFaceMaskedLm(find_model(name), ways)
    return masked_lm


def _heavy(module: str) -> ModuleType:
    """A module of this room that imports torch; where that is absent, the extra is named."""
    try:
        return import_module(f"{__name__}.{module}")
    except ImportError as error:
        missing = error.name or "torch"
        if missing.startswith("nlgauge"):
            raise
        raise MissingExtra("a metric that runs a model", missing, "embedded") from None
