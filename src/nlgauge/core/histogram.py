"""Histogram: a text as a distribution over the vocabulary of a masked language model."""

from dataclasses import dataclass

from nlgauge.core.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Histogram:
    """Log-probabilities of the tokens the model predicts at masked positions, and the token ids."""

    log_probabilities: Floats  # none if there was nothing to mask
    ids: Ints
    notes: tuple[str, ...] = ()  # such as "truncated"

    @property
    def void(self) -> bool:
        """Whether there was nothing to mask."""
        return not self.log_probabilities.size
