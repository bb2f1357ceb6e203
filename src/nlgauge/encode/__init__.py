"""Models: the only room that knows torch and transformers."""

from __future__ import annotations

from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

from nlgauge.core.errors import MissingExtra
from nlgauge.encode.cache import (
    CachedEncoder,
    CachedMaskedLm,
    cache_folder,
    model_identity,
    open_cache,
)
from nlgauge.encode.encoder import Encoder, MaskedLm
from nlgauge.encode.hashing import HashingEncoder, HashingMaskedLm
from nlgauge.encode.model_files import EMBEDDED, chosen_model, find_model
from nlgauge.encode.run_options import DEFAULT_OPTIONS, RunOptions
from nlgauge.encode.static import names_vectors, open_static


def open_encoder(
    model: str | None, options: RunOptions = DEFAULT_OPTIONS, *, cache: str | Path | None = None
) -> Encoder:
    """The encoder of a model, loaded at most once; ``None`` takes the default model.

    With a cache, the model is loaded only when a text is not in there.
    """
    name = chosen_model(model)
    if names_vectors(name):  # a table knows neither windows nor precision, so it is opened once
        return open_static(name)  # and looking words up is no slower than reading a cache
    folder = cache_folder(cache)
    return (
        _open_encoder(name, options) if folder is None else _cached_encoder(name, options, folder)
    )


def open_masked_lm(
    model: str | None, options: RunOptions = DEFAULT_OPTIONS, *, cache: str | Path | None = None
) -> MaskedLm:
    """The masked language model of a name, loaded at most once, with a cache only if need be."""
    name, folder = chosen_model(model), cache_folder(cache)
    return (
        _open_masked_lm(name, options)
        if folder is None
        else _cached_masked_lm(name, options, folder)
    )


# Tasks share a pass if they share the encoder, so there is one for each model, way and folder.
@lru_cache(maxsize=4)
def _cached_encoder(name: str, options: RunOptions, folder: Path) -> CachedEncoder:
    model = partial(_open_encoder, name, options)
    return CachedEncoder(name, model, model_identity(name, options), open_cache(folder))


@lru_cache(maxsize=2)
def _cached_masked_lm(name: str, options: RunOptions, folder: Path) -> CachedMaskedLm:
    model = partial(_open_masked_lm, name, options)
    known = model_identity(name, options)
    if name == EMBEDDED:
        known["update"] = _heavy("mlm_update").update_digest()
    return CachedMaskedLm(name, model, known, open_cache(folder))


@lru_cache(maxsize=4)
def _open_encoder(name: str, options: RunOptions) -> Encoder:
    if name == "hashing":
        return HashingEncoder()
    encoder: Encoder = _heavy("huggingface").HuggingFaceEncoder(find_model(name), options)
    return encoder


@lru_cache(maxsize=2)
def _open_masked_lm(name: str, options: RunOptions) -> MaskedLm:
    if name == "hashing":
        return HashingMaskedLm()
    masked_lm: MaskedLm = _heavy("masked_lm").HuggingFaceMaskedLm(find_model(name), options)
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
