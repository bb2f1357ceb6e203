"""Models: with ``adapters`` the only package that imports torch and transformers."""

from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

from nlgauge.core.errors import MissingExtra
from nlgauge.encode.cache import cached_models
from nlgauge.encode.cache.database import open_cache
from nlgauge.encode.cache.settings import cache_folder
from nlgauge.encode.encoder import Encoder, MaskedLm
from nlgauge.encode.hashing import HashingEncoder, HashingMaskedLm
from nlgauge.encode.model_files import EMBEDDED, chosen_model, find_model
from nlgauge.encode.run_options import DEFAULT_OPTIONS, RunOptions
from nlgauge.encode.static import names_vectors, open_static


def open_encoder(
    model: str | None, options: RunOptions = DEFAULT_OPTIONS, *, cache: str | Path | None = None
) -> Encoder:
    """Return the encoder of a model (None: the default model), loaded at most once.

    With a cache, the model is loaded only if a text is not in the cache.
    """
    name = chosen_model(model)
    if names_vectors(name):  # vectors of words have no options, and a cache would be no faster
        return open_static(name)
    folder = cache_folder(cache)
    if folder is None:
        return _open_encoder(name, options)
    return _cached_encoder(name, options, folder)


def open_masked_lm(
    model: str | None, options: RunOptions = DEFAULT_OPTIONS, *, cache: str | Path | None = None
) -> MaskedLm:
    """Return the masked language model of a name, loaded as in ``open_encoder``."""
    name, folder = chosen_model(model), cache_folder(cache)
    if folder is None:
        return _open_masked_lm(name, options)
    return _cached_masked_lm(name, options, folder)


# Tasks with the same encoder share its passes, so each model, options and folder has only one.
@lru_cache(maxsize=4)
def _cached_encoder(name: str, options: RunOptions, folder: Path) -> Encoder:
    identity = cached_models.model_identity(name, options)
    model = partial(_open_encoder, name, options)
    return cached_models.CachedEncoder(name, model, identity, open_cache(folder))


@lru_cache(maxsize=2)
def _cached_masked_lm(name: str, options: RunOptions, folder: Path) -> MaskedLm:
    identity = cached_models.model_identity(name, options)
    if name == EMBEDDED:
        identity["update"] = _import("mlm_update").update_digest()
    model = partial(_open_masked_lm, name, options)
    return cached_models.CachedMaskedLm(name, model, identity, open_cache(folder))


@lru_cache(maxsize=4)
def _open_encoder(name: str, options: RunOptions) -> Encoder:
    if name == "hashing":
        return HashingEncoder()
    located = find_model(name, download=options.download)
    encoder: Encoder = _import("huggingface").HuggingFaceEncoder(located, options)
    return encoder


@lru_cache(maxsize=2)
def _open_masked_lm(name: str, options: RunOptions) -> MaskedLm:
    if name == "hashing":
        return HashingMaskedLm()
    located = find_model(name, download=options.download)
    masked_lm: MaskedLm = _import("masked_lm").HuggingFaceMaskedLm(located, options)
    return masked_lm


def _import(module: str) -> ModuleType:
    """Return a module of this package that imports torch; raise if torch is not installed."""
    try:
        return import_module(f"{__name__}.{module}")
    except ImportError as error:
        missing = error.name or "torch"
        if missing.startswith("nlgauge"):
            raise
        raise MissingExtra("a metric that runs a model", missing, "embedded") from None
