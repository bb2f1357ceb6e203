"""Models: the only room that knows torch and transformers."""

from __future__ import annotations

from functools import lru_cache

from nlgauge.encode.encoder import Encoder
from nlgauge.encode.hashing import HashingEncoder
from nlgauge.encode.locate import chosen_model


def open_encoder(
    model: str | None,
    *,
    long_text: str = "window",
    precision: str = "float32",
    device: str = "auto",
    batch_tokens: int = 2048,
) -> Encoder:
    """The encoder of a model, loaded at most once; ``None`` takes the default model."""
    return _open(chosen_model(model), long_text, precision, device, batch_tokens)


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
