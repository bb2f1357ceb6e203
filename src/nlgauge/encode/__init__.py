"""Encoders and masked language models; only this package and ``adapters`` import torch."""

from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from nlgauge.core.device import Device
from nlgauge.core.errors import MissingExtra
from nlgauge.encode.cache.cached_models import CachedEncoder, CachedMaskedLm, model_identity
from nlgauge.encode.cache.database import open_cache
from nlgauge.encode.cache.settings import cache_folder
from nlgauge.encode.hashing import HashingEncoder, HashingMaskedLm
from nlgauge.encode.model_files import EMBEDDED, chosen_model, find_model
from nlgauge.encode.protocols import Encoder, MaskedLm
from nlgauge.encode.run_options import DEFAULT_OPTIONS, RunOptions
from nlgauge.encode.universal_sentence_encoder import USE, open_use
from nlgauge.encode.word_vectors import names_vectors, open_static

_CLASSES: dict[str, tuple[Any, str, str, Any]] = {  # the second needs torch: module and class
    "encoder": (HashingEncoder, "huggingface", "HuggingFaceEncoder", CachedEncoder),
    "masked lm": (HashingMaskedLm, "masked_lm", "HuggingFaceMaskedLm", CachedMaskedLm),
}


def open_encoder(
    model: str | None, options: RunOptions = DEFAULT_OPTIONS, *, cache: str | Path | None = None
) -> Encoder:
    """Return the encoder of a model (None: the default model), loaded at most once.

    With a cache, the model is loaded only if a text is not in the cache.
    """
    name = chosen_model(model)
    if names_vectors(name):  # word vectors have no options, and a cache would not be faster
        return open_static(name)
    if name == USE:
        return open_use()
    return cast(Encoder, _open("encoder", name, options, cache))


def open_masked_lm(
    model: str | None, options: RunOptions = DEFAULT_OPTIONS, *, cache: str | Path | None = None
) -> MaskedLm:
    """Return the masked language model of a name, loaded as in ``open_encoder``."""
    return cast(MaskedLm, _open("masked lm", chosen_model(model), options, cache))


def solver_device(name: str) -> Device | None:
    """Return the device of this name for solvers, None for the processor; ``auto`` is the latter.

    Whether solvers are faster on a GPU depends on its float64 and on the lengths of the texts.
    """
    return None if name in ("auto", "cpu") else _import("device").solver_device(name)


def _open(kind: str, name: str, options: RunOptions, cache: str | Path | None) -> Any:
    folder = cache_folder(cache)
    if folder is None:
        return _open_model(kind, name, options)
    return _open_cached(kind, name, options, folder)


# Tasks share the passes of an encoder, so there is one encoder per model, options and folder.
@lru_cache(maxsize=6)
def _open_cached(kind: str, name: str, options: RunOptions, folder: Path) -> Any:
    identity = model_identity(name, options)
    if kind == "masked lm" and name == EMBEDDED:
        identity["update"] = _import("mlm_update").update_digest()
    model = partial(_open_model, kind, name, options)
    return _CLASSES[kind][-1](name, model, identity, open_cache(folder))


@lru_cache(maxsize=6)
def _open_model(kind: str, name: str, options: RunOptions) -> Any:
    hashing, module, huggingface, _ = _CLASSES[kind]
    if name == "hashing":
        return hashing()
    located = find_model(name, download=options.download)
    return getattr(_import(module), huggingface)(located, options)


def _import(module: str) -> ModuleType:
    """Import a module of this package that needs torch; raise MissingExtra without torch."""
    try:
        return import_module(f"{__name__}.{module}")
    except ImportError as error:
        missing = error.name or "torch"
        if missing.startswith("nlgauge"):
            raise
        raise MissingExtra("a metric that runs a model", missing, "embedded") from None
