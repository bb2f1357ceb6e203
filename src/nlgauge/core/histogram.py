"""Histogram: a text as a distribution over a vocabulary, what a masked language model makes."""

from __future__ import annotations

from dataclasses import dataclass

from nlgauge.core.cloud import Floats, Ints


@dataclass(frozen=True, eq=False)
class Histogram:
    """Log-probabilities of what the model expected in the text's places, and the tokens there.

    A void histogram, of a text with nothing to mask, has no log-probabilities.
    """

    log_probabilities: Floats
    ids: Ints
    remarks: tuple[str, ...] = ()  # what had to be done to the text

    @property
    def void(self) -> bool:
        """Whether there was nothing to mask."""
        return not self.log_probabilities.size
