"""Models: the only room that knows torch and transformers."""

from __future__ import annotations

from functools import lru_cache

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
    from nlgauge.encode.huggingface import HuggingFaceEncoder  # noqa: PLC0415

    return HuggingFaceEncoder(find_model(name), ways)


@lru_cache(maxsize=2)
def _open_masked_lm(name: str, ways: Ways) -> MaskedLm:
    if name == "hashing":
        return HashingMaskedLm()
    from nlgauge.encode.masked_lm import HuggingFaceMaskedLm  # noqa: PLC0415

    return HuggingFaceMaskedLm(find_model(name), ways)
