"""Models: the only room that knows torch and transformers."""

from __future__ import annotations

from functools import lru_cache

from nlgauge.encode.encoder import Encoder, MaskedLm
from nlgauge.encode.hashing import HashingEncoder, HashingMaskedLm
from nlgauge.encode.locate import chosen_model
from nlgauge.encode.static import names_vectors, open_static


def open_encoder(
    model: str | None,
    *,
    long_text: str = "window",
    precision: str = "float32",
    device: str = "auto",
    batch_tokens: int = 2048,
) -> Encoder:
    """The encoder of a model, loaded at most once; ``None`` takes the default model."""
    name = chosen_model(model)
    if names_vectors(name):  # a table knows neither windows nor precision, so it is opened once
        return open_static(name)
    return _open(name, long_text, precision, device, batch_tokens)


@lru_cache(maxsize=4)
def _open(name: str, long_text: str, precision: str, device: str, batch_tokens: int) -> Encoder:
    if name == "hashing":
        return HashingEncoder()
    from nlgauge.encode.huggingface import HuggingFaceEncoder  # noqa: PLC0415
    from nlgauge.encode.locate import locate  # noqa: PLC0415

    return HuggingFaceEncoder(
        locate(name),
        long_text=long_text,
        precision=precision,
        device=device,
        batch_tokens=batch_tokens,
    )


def open_masked_lm(
    model: str | None,
    *,
    long_text: str = "window",
    precision: str = "float32",
    device: str = "auto",
    batch_tokens: int = 2048,
) -> MaskedLm:
    """The masked language model of a name, loaded at most once."""
    return _open_masked_lm(chosen_model(model), long_text, precision, device, batch_tokens)


@lru_cache(maxsize=2)
def _open_masked_lm(
    name: str, long_text: str, precision: str, device: str, batch_tokens: int
) -> MaskedLm:
    if name == "hashing":
        return HashingMaskedLm()
    from nlgauge.encode.locate import locate  # noqa: PLC0415
    from nlgauge.encode.masked_lm import HuggingFaceMaskedLm  # noqa: PLC0415

    return HuggingFaceMaskedLm(
        locate(name),
        long_text=long_text,
        precision=precision,
        device=device,
        batch_tokens=batch_tokens,
    )
