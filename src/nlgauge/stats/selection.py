"""Choosing an option of a metric on some of the data and testing it on the rest.

A temperature or a layer picked where it correlates best with people is not evidence on the same
people. Here the numbers say what they are: every tried value carries its score on the tuning part
only, one value is chosen by those scores, and only that one meets the test part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.levels import Correlation, Which, correlate
from nlgauge.stats.validation import Array, Index, Seed, as_matrices, as_matrix

Axis = Literal["inputs", "systems"]


@dataclass(frozen=True, eq=False)
class Split:
    """Indices of the tuning and the test part, disjoint, in ascending order."""

    tune: Index
    test: Index
    groups: int
    """Units that were kept together: as many as items if no groups were given."""


def split(
    n: int, fraction: float = 0.5, seed: Seed = 0, groups: Sequence[object] | None = None
) -> Split:
    """A random split of n items, about `fraction` of them (or of their groups) for tuning.

    Items of one group (segments of a document, outputs for one source) land on the same side:
    otherwise the test part has been seen. Both sides hold at least one group.
    """
    if not 0 < fraction < 1:
        raise OptionError(
            f"fraction is {fraction}; the tuning part is between 0 and 1 of the data."
        )
    labels = list(range(n)) if groups is None else list(groups)
    if len(labels) != n:
        raise ShapeError(f"there are {n} items but {len(labels)} group labels; give one per item.")
    numbers = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    if len(numbers) < 2:
        raise DataError(
            f"{n} items in {len(numbers)} groups cannot be split in two; at least 2 are needed."
        )
    size = min(max(round(fraction * len(numbers)), 1), len(numbers) - 1)
    chosen = np.random.default_rng(seed).permutation(len(numbers))[:size]
    tuning = np.isin([numbers[label] for label in labels], chosen)
    return Split(np.flatnonzero(tuning), np.flatnonzero(~tuning), len(numbers))


@dataclass(frozen=True)
class Tried:
    """One value of the option and its correlation on the tuning part. Not a test result."""

    value: object
    tuned: Correlation


@dataclass(frozen=True)
class Sweep:
    """An option chosen on the tuning part and tested once on the other."""

    option: str
    tried: tuple[Tried, ...]
    chosen: Tried
    tested: Correlation
    """The chosen value on the test part: the number to report."""
    tuned_on: str
    tested_on: str

    @property
    def optimism(self) -> float:
        """How much the tuning part promised above what the test part gave."""
        return self.chosen.tuned.value - self.tested.value

    def __str__(self) -> str:
        return (
            f"{self.option}={self.chosen.value} of {len(self.tried)} tried, "
            f"{self.tested.level}-level {self.tested.coefficient}: "
            f"{self.tested.value:.4f} tested on {self.tested_on} "
            f"({self.chosen.tuned.value:.4f} tuned on {self.tuned_on})"
        )


def take(matrix: Array, index: Index, axis: Axis) -> Array:
    """The columns of some inputs, or the rows of some systems."""
    return matrix[:, index] if axis == "inputs" else matrix[index]


def sweep(
    option: str,
    values: Sequence[object],
    scores: Mapping[object, ArrayLike] | Callable[[object], ArrayLike],
    human: ArrayLike,
    parts: Split,
    *,
    level: str = "segment",
    coefficient: Which = "pearson",
    axis: Axis = "inputs",
    part_names: tuple[str, str] = ("tune", "test"),
) -> Sweep:
    """The option value with the highest correlation on the tuning part, tested on the other.

    `scores` maps each option value to its higher-is-better system x input matrix, or computes it
    (once per value). `parts` indexes inputs (columns) or systems (rows), as `axis` says. Values
    undefined on the tuning part are never chosen; of equals the first is.
    """
    if axis not in ("inputs", "systems"):
        raise OptionError(f"axis is {axis!r}; it is 'inputs' or 'systems'.")
    if not len(values):
        raise OptionError(f"no values of {option!r} were given; a sweep tries at least 1.")
    people = as_matrix(human, "human")
    _check_parts(parts, people.shape[1 if axis == "inputs" else 0], axis)
    tuning_people = take(people, parts.tune, axis)
    tried, best, best_scores = [], None, None
    for value in values:
        given = _scores_of(option, value, scores)
        matrix, _ = as_matrices(**{f"the scores at {option}={value}": given, "human": people})
        tuned = correlate(take(matrix, parts.tune, axis), tuning_people, level, coefficient)
        tried.append(Tried(value, tuned))
        if np.isfinite(tuned.value) and (best is None or tuned.value > best.tuned.value):
            best, best_scores = tried[-1], matrix
    if best is None or best_scores is None:
        raise DataError(
            f"none of the {len(values)} values of {option!r} has a defined correlation on the "
            f"tuning part: {tried[0].tuned.reason}."
        )
    tested = correlate(
        take(best_scores, parts.test, axis), take(people, parts.test, axis), level, coefficient
    )
    labels = (
        f"{len(index)} {axis} ({name})"
        for index, name in zip((parts.tune, parts.test), part_names, strict=True)
    )
    return Sweep(option, tuple(tried), best, tested, *labels)


def _scores_of(
    option: str,
    value: object,
    scores: Mapping[object, ArrayLike] | Callable[[object], ArrayLike],
) -> ArrayLike:
    if callable(scores):
        return scores(value)
    if value not in scores:
        raise OptionError(
            f"there are no scores for {option}={value!r}; the table has "
            f"{', '.join(repr(key) for key in scores)}."
        )
    return scores[value]


def _check_parts(parts: Split, n: int, axis: str) -> None:
    both = np.intersect1d(parts.tune, parts.test)
    if both.size:
        raise DataError(
            f"{both.size} {axis} are in both the tuning and the test part; they must be disjoint."
        )
    if not parts.tune.size or not parts.test.size:
        raise DataError(
            f"the tuning part has {parts.tune.size} {axis} and the test part {parts.test.size}; "
            "neither may be empty."
        )
    top = int(max(parts.tune.max(), parts.test.max()))
    if top >= n:
        raise ShapeError(f"the split reaches item {top} (from 0), but there are {n} {axis}.")
