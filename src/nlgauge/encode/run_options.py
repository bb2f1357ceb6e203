"""Ways: how a model is run, whichever model it is."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Ways:
    """What is done with long texts, in which arithmetic, on which device, in what portions."""

    long_text: str = "window"
    precision: str = "float32"
    device: str = "auto"
    batch_tokens: int = 2048
    download: bool = field(default=False, compare=False)  # the values do not depend on it


PLAIN = Ways()
