"""Protocols of models that turn texts into clouds or histograms."""

from collections.abc import Callable, Sequence
from typing import Protocol

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Cloud, Tokens
from nlgauge.core.histogram import Histogram
from nlgauge.core.requirements import ModelCard, Unknown


class _Model(Protocol):
    @property
    def card(self) -> ModelCard:
        """Name, digest, depth and best layers of the model."""

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Return all tokens of each text, including special tokens."""


class Encoder(_Model, Protocol):
    """A model that returns clouds; equal texts have equal clouds within a call."""

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        """Return a cloud for each text with ``points[k]`` from layer ``layers[k]``."""


class MaskedLm(_Model, Protocol):
    """A model that returns distributions over its vocabulary."""

    def histograms(
        self,
        texts: Sequence[str],
        weigh: Callable[[Tokens], Floats],
        *,
        temperatures: Sequence[float] = (1.0,),
        whole_words: bool = False,
        unknown: Unknown = "string",
    ) -> dict[float, list[Histogram]]:
        """Return, for every temperature, the mean prediction over masked positions of each text.

        ``weigh`` returns the masses of the positions of a text. The prediction for an unknown token
        only depends on its string, unless ``unknown`` is "model".
        """
