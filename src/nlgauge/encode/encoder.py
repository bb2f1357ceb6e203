"""What turns texts into clouds or histograms, whatever model is behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from nlgauge.core.cloud import Cloud, Floats, Tokens
from nlgauge.core.histogram import Histogram
from nlgauge.core.requirements import ModelCard


class Encoder(Protocol):
    """Texts in, clouds out, in the caller's order; equal texts give equal clouds in one call."""

    @property
    def card(self) -> ModelCard:
        """Name, digest, depth and best layers of the model."""

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, special ones included, none cut off."""

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        """A cloud for each text with ``points[k]`` taken from layer ``layers[k]``."""


class MaskedLm(Protocol):
    """Texts in, distributions over a vocabulary out."""

    @property
    def card(self) -> ModelCard:
        """Name and digest of the model."""

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, special ones included, none cut off."""

    def histograms(
        self,
        texts: Sequence[str],
        weigh: Callable[[Tokens], Floats],
        *,
        temperatures: Sequence[float] = (1.0,),
        whole_words: bool = False,
    ) -> dict[float, list[Histogram]]:
        """By temperature, what is expected in the places of each text, weighted by ``weigh``."""
