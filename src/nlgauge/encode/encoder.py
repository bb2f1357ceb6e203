"""Encoder: what turns texts into clouds, whatever model is behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from nlgauge.core.cloud import Cloud, Tokens
from nlgauge.core.need import ModelCard


class Encoder(Protocol):
    """Texts in, clouds out, in the caller's order; equal texts give equal clouds in one call."""

    @property
    def card(self) -> ModelCard:
        """Name, digest, depth and best layers of the model."""

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, special ones included, none cut off."""

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        """A cloud for each text with ``points[k]`` taken from layer ``layers[k]``."""
