"""Cloud: a text as weighted token vectors."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from nlgauge.core.arrays import Bools, Floats, Ints
from nlgauge.core.errors import ShapeError


def string_hash(string: str) -> int:
    """Return a 56-bit hash of the string."""
    digest = hashlib.blake2b(string.encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return int.from_bytes(digest, "little")


def unknown_id(string: str) -> int:
    """Return a negative id for a token that the model does not know, unique to its string."""
    return -1 - string_hash(string)


def normal_vector(seed: int, dimension: int) -> Floats:
    """Return a pseudo-random normal vector for the seed; two of them are nearly orthogonal."""
    return np.random.default_rng(seed).standard_normal(dimension, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of a text: strings, ids, which are special, and the word each belongs to.

    ``offsets[token]`` are the start and the end of its characters in the text; both are 0 for
    special tokens.
    """

    strings: tuple[str, ...]
    ids: Ints  # negative for tokens that the model does not know: `unknown_id` of the string
    special: Bools
    words: Ints  # the number of the word that a token is a piece of; -1 for special tokens
    offsets: Ints

    def __len__(self) -> int:
        return len(self.strings)

    @property
    def unknown(self) -> Bools:
        """Which tokens the model does not know."""
        return np.asarray(self.ids < 0)

    def keep(self, mask: Bools) -> "Tokens":
        """Return the tokens where ``mask`` is true."""
        kept = _selection(mask)
        if isinstance(kept, slice):
            strings = self.strings[kept]
        else:
            strings = tuple(compress(self.strings, mask.tolist()))
        numbers = (self.ids[kept], self.special[kept], self.words[kept], self.offsets[kept])
        return Tokens(strings, *numbers)


@dataclass(frozen=True, eq=False)
class Cloud:
    """The vectors of a text, ``points[layer, token]``, and the weight of every token.

    Weights are non-negative and sum to 1, or are all 0 if the text has nothing to compare.
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
        return not (self.weights > 0).any()

    @property
    def layer(self) -> Floats:
        """The points of the only layer."""
        if len(self.points) != 1:
            raise ShapeError(f"the cloud has {len(self.points)} layers, not one: reduce them first")
        return np.asarray(self.points[0])

    @property
    def unknown(self) -> int:
        """The number of tokens that the model does not know."""
        return int(np.count_nonzero(self.tokens.unknown))

    def separate_unknown(self) -> "Cloud":
        """Return the cloud with vectors of unknown tokens that depend on their strings only.

        They have random directions, and the mean length of the other vectors in each layer.
        """
        unknown = self.tokens.unknown
        points = np.array(self.points)
        directions = [normal_vector(-1 - n, points.shape[2]) for n in self.tokens.ids[unknown]]
        directions = [each / np.linalg.norm(each) for each in directions]
        lengths = np.linalg.norm(points[:, ~unknown], axis=2)
        mean = lengths.mean(axis=1) if lengths.size else np.ones(len(points))
        points[:, unknown] = mean[:, None, None] * np.stack(directions)
        return replace(self, points=points)

    def at(self, layers: Sequence[int]) -> "Cloud":
        """Return the cloud with these entries of the layer axis, in this order."""
        first = layers[0] if layers else 0
        adjacent = slice(first, first + len(layers))  # needs no copy of points, which are large
        same = list(layers) == list(range(adjacent.start, adjacent.stop))
        return replace(self, points=self.points[adjacent if same else list(layers)])

    def keep(self, mask: Bools, weights: Floats | None = None) -> "Cloud":
        """Return the tokens where ``mask`` is true, with weights that sum to 1 unless all are 0."""
        kept = _selection(mask)
        mass = np.asarray(self.weights if weights is None else weights, dtype=np.float64)[kept]
        total = mass.sum()
        mass = mass / total if total > 0 else np.zeros_like(mass)
        return Cloud(self.points[:, kept], mass, self.tokens.keep(mask), self.notes)


def _selection(mask: Bools) -> Bools | slice:
    """Return an index of the entries where ``mask`` is true; a slice needs no copy of points."""
    kept = mask.nonzero()[0]
    contiguous = len(kept) and kept[-1] - kept[0] == len(kept) - 1
    return slice(kept[0], kept[-1] + 1) if contiguous else mask
