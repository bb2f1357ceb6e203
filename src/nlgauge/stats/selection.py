"""Selection of a metric's option on one part of the data, and its test on the other.

The correlation of the best value is optimistic on the data on which it was chosen. So every value
is evaluated on the tuning part, and only the chosen one on the test part.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats, Ints
from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.groups import number_groups
from nlgauge.stats.levels import Correlation, Which, correlate
from nlgauge.stats.validation import Seed, as_matrices, as_matrix, check_share

Axis = Literal["inputs", "systems"]


@dataclass(frozen=True, eq=False)
class Split:
    """Indices of the tuning and the test part, disjoint and ascending."""

    tune: Ints
    test: Ints
    groups: int
    """Number of groups that were kept together (items, if no groups were given)."""


def split(
    n: int, fraction: float = 0.5, seed: Seed = 0, groups: Sequence[object] | None = None
) -> Split:
    """Return a random split of n items into a tuning and a test part of at least one group each.

    Parameters
    ----------
    n : int, number of items
    fraction : float, share of the items (or of their groups) for tuning
    seed : int or numpy.random.Generator
    groups : sequence, a label per item; items of one group (a document) stay in one part

    Returns
    -------
    Split

    Examples
    --------
    >>> parts = split(4, groups=["a", "a", "b", "b"])
    >>> sorted([parts.tune.tolist(), parts.test.tolist()])
    [[0, 1], [2, 3]]
    """
    check_share("fraction", fraction, ".5")
    labels = list(range(n)) if groups is None else list(groups)
    if len(labels) != n:
        raise ShapeError(f"there are {n} items but {len(labels)} group labels; give one per item.")
    names, number = number_groups(labels)
    count = len(names)
    if count < 2:
        raise DataError(f"{n} items in {count} groups cannot be split in two; it takes 2 or more.")
    size = min(max(round(fraction * count), 1), count - 1)
    tuning_groups = np.random.default_rng(seed).permutation(count)[:size]
    tuning = np.isin(number, tuning_groups)
    return Split(np.flatnonzero(tuning), np.flatnonzero(~tuning), count)


@dataclass(frozen=True)
class Trial:
    """One value of the option and its correlation on the tuning part."""

    value: object
    tuned: Correlation


@dataclass(frozen=True)
class Sweep:
    """An option chosen on the tuning part and tested once on the other."""

    option: str
    tried: tuple[Trial, ...]
    chosen: Trial
    tested: Correlation
    """The chosen value on the test part: the number to report."""
    tuned_on: str
    tested_on: str

    def __str__(self) -> str:
        tested, tuned = self.tested, self.chosen.tuned
        return (
            f"{self.option}={self.chosen.value} of {len(self.tried)} tried, {tested.level}-level "
            f"{tested.coefficient}: {tested.value:.4f} tested on {self.tested_on} "
            f"({tuned.value:.4f} tuned on {self.tuned_on})"
        )


def take(matrix: Floats, index: Ints, axis: Axis) -> Floats:
    """Return the columns of some inputs, or the rows of some systems."""
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
    """Return the option value with the highest correlation on the tuning part, and its test.

    Values that are undefined on the tuning part are never chosen; ties are resolved by order.

    Parameters
    ----------
    option, values : name of the option and the values to try
    scores : mapping or callable, the higher-is-better system x input matrix of each value
    human : array_like, systems x inputs
    parts : Split of the inputs (columns) or systems (rows), according to `axis`
    level, coefficient : as in `correlate`
    part_names : names of the two parts in the result

    Returns
    -------
    Sweep

    Raises
    ------
    DataError
        If no value has a defined correlation on the tuning part.

    Examples
    --------
    >>> scores = {1: [[4, 3, 2, 1]], 2: [[1, 2, 3, 4]]}
    >>> sweep("t", [1, 2], scores, [[1, 2, 3, 4]], split(4)).chosen.value
    2
    """
    if axis not in ("inputs", "systems"):
        raise OptionError(f"axis is {axis!r}; it is 'inputs' or 'systems'.")
    if not len(values):
        raise OptionError(f"no values of {option!r} were given; a sweep tries at least 1.")
    people = as_matrix(human, "human")
    _check_parts(parts, people.shape[1 if axis == "inputs" else 0], axis)

    def on(index: Ints, matrix: Floats) -> Correlation:
        x, y = take(matrix, index, axis), take(people, index, axis)
        return correlate(x, y, level, coefficient)

    tried, best, best_scores = [], None, people
    for value in values:
        if not callable(scores) and value not in scores:
            known = ", ".join(map(repr, scores))
            raise OptionError(f"there are no scores for {option}={value!r}; the table has {known}.")
        table = scores(value) if callable(scores) else scores[value]
        matrix, _ = as_matrices(**{f"the scores at {option}={value}": table, "human": people})
        trial = Trial(value, on(parts.tune, matrix))
        tried.append(trial)
        if np.isfinite(trial.tuned.value) and (not best or trial.tuned.value > best.tuned.value):
            best, best_scores = trial, matrix
    if best is None:
        part = f"none of the {len(values)} values of {option!r} is defined on the tuning part"
        raise DataError(f"{part}: {tried[0].tuned.reason}.")
    sizes = zip((parts.tune, parts.test), part_names, strict=True)
    labels = (f"{len(index)} {axis} ({name})" for index, name in sizes)
    return Sweep(option, tuple(tried), best, on(parts.test, best_scores), *labels)


def _check_parts(parts: Split, n: int, axis: str) -> None:
    both = np.intersect1d(parts.tune, parts.test).size
    if both:
        raise DataError(f"{both} {axis} are in both the tuning and the test part; keep them apart.")
    tune, test = parts.tune.size, parts.test.size
    if not tune or not test:
        raise DataError(
            f"the tuning part has {tune} {axis}, the test part {test}; neither may be empty."
        )
    top = int(max(parts.tune.max(), parts.test.max()))
    if top >= n:
        raise ShapeError(f"the split reaches item {top} (from 0), but there are {n} {axis}.")
