"""Cloud: a text as weighted token vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from nlgauge.core.arrays import Bools, Floats, Ints
from nlgauge.core.errors import ShapeError


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of a text: strings, ids, which are special, and the word each belongs to."""

    strings: tuple[str, ...]
    ids: Ints
    special: Bools
    words: Ints  # the number of the word that a token is a piece of; -1 for special tokens

    def __len__(self) -> int:
        return len(self.strings)

    def keep(self, mask: Bools) -> "Tokens":
        """Return the tokens where ``mask`` is true."""
        strings = tuple(compress(self.strings, mask.tolist()))
        return Tokens(strings, self.ids[mask], self.special[mask], self.words[mask])


@dataclass(frozen=True, eq=False)
class Cloud:
    """The vectors of a text, ``points[layer, token]``, and the weight of every token.

    Weights are non-negative and sum to 1, or are all 0 for a text that has nothing to compare.
    """

    points: Floats
    weights: Floats
    tokens: Tokens
    notes: tuple[str, ...] = ()  # such as "truncated"

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def void(self) -> bool:
        """Whether no token carries mass."""
        return not bool(np.any(self.weights > 0))

    @property
    def layer(self) -> Floats:
        """The points of the only layer."""
        if len(self.points) != 1:
            raise ShapeError(f"the cloud has {len(self.points)} layers, not one: reduce them first")
        return np.asarray(self.points[0])

    def at(self, layers: Sequence[int]) -> "Cloud":
        """Return the cloud with these entries of the layer axis, in this order."""
        if list(layers) == list(range(len(self.points))):
            return self  # points are large: avoid the copy
        return replace(self, points=self.points[list(layers)])

    def keep(self, mask: Bools, weights: Floats | None = None) -> "Cloud":
        """Return the tokens where ``mask`` is true, with weights that sum to 1 unless all are 0."""
        mass = np.asarray(self.weights if weights is None else weights, dtype=np.float64)[mask]
        total = mass.sum()
        mass = mass / total if total > 0 else np.zeros_like(mass)
        if mask.all():
            return Cloud(self.points, mass, self.tokens, self.notes)
        return Cloud(self.points[:, mask], mass, self.tokens.keep(mask), self.notes)
