"""Histogram: a text as a distribution over the vocabulary of a masked language model."""

from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Histogram:
    """Log-probabilities of the tokens the model predicts at masked positions, and the token ids."""

    log_probabilities: Floats  # none if there was nothing to mask
    ids: Ints
    notes: tuple[str, ...] = ()  # such as "truncated"

    @property
    def unknown(self) -> int:
        """The number of tokens that the model does not know."""
        return int(np.count_nonzero(self.ids < 0))

    @property
    def void(self) -> bool:
        """Whether there was nothing to mask that the model knows."""
        return not self.log_probabilities.size
