"""Tests whether one metric agrees with people better than another.

Williams's test is exact for Pearson's r of jointly normal scores; the permutation tests hold for
any coefficient and level. All are directed: they ask whether the FIRST metric is better, and a
small p says yes; the p of the reverse question is one minus it (Williams), not the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.coefficients import TOLERANCE, choose_coefficient, pearson
from nlgauge.stats.intervals import Over, check_over
from nlgauge.stats.levels import Which, choose_level, points, stack_values
from nlgauge.stats.validation import Array, Mask, Seed, as_matrices, check_count, chunks

Alternative = Literal["greater", "two-sided"]


@dataclass(frozen=True)
class Williams:
    """Williams's t test that r12 (people, first metric) exceeds r13 (people, second metric)."""

    t: float
    df: int
    p: float
    r12: float
    r13: float
    r23: float
    n: int


def williams(r12: float, r13: float, r23: float, n: int) -> Williams:
    """The one-sided p-value of r12 > r13 for two correlations that share a variable.

        t = (r12 - r13) sqrt((n-1)(1+r23)) / sqrt(2 K (n-1)/(n-3) + (r12+r13)^2/4 (1-r23)^3)
        K = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23,   t ~ Student with n - 3 df

    r12 = corr(people, first), r13 = corr(people, second), r23 = corr(first, second), all Pearson.
    Signs are kept (no |r|, no |t|): r12 < r13 gives p > .5. Old versions of R's psych::r.test used
    n - 2 degrees of freedom; n - 3 is Williams 1959.
    """
    for name, r in (("r12", r12), ("r13", r13), ("r23", r23)):
        if not -1 <= r <= 1:
            raise DataError(f"{name} is {r}; a correlation lies between -1 and 1 (is it defined?).")
    if n < 4:
        raise DataError(f"Williams's test needs at least 4 points (n - 3 df), but n is {n}.")
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if k < -TOLERANCE:
        raise DataError(
            f"no data has the correlations r12={r12:.6g}, r13={r13:.6g}, r23={r23:.6g} "
            f"(their determinant is {k:.6g} < 0); take all three from the same points."
        )
    below = 2 * max(k, 0.0) * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    above = (r12 - r13) * np.sqrt((n - 1) * (1 + r23))
    if below <= TOLERANCE**2:
        # The two metrics are one up to scale: nothing to tell apart.
        return Williams(0.0, n - 3, 0.5, r12, r13, r23, n)
    from scipy.stats import t as student

    t = float(above / np.sqrt(below))
    return Williams(t, n - 3, float(student.sf(t, n - 3)), r12, r13, r23, n)


def williams_test(
    first: ArrayLike, second: ArrayLike, human: ArrayLike, level: str = "segment"
) -> Williams:
    """Williams's test on system x input matrices, over the points that all three share.

    The points are cells at the segment level and systems at the system level. For other
    coefficients than Pearson's, and for the text level, use `permutation_test`.
    """
    a, b, people = as_matrices(first=first, second=second, human=human)
    a, b, people = _common(a, b, people)
    level = choose_level(level)
    x, z = points(a, people, level)
    y, _ = points(b, people, level)
    named = {"first metric": x, "second metric": y, "human": z}
    correlations = pearson(z, x), pearson(z, y), pearson(x, y)
    if not np.isfinite(correlations).all():
        constant = [name for name, v in named.items() if not np.isfinite(pearson(v, v))]
        raise DataError(
            f"Pearson's r is undefined over the {z.size} common points, because these are "
            f"constant or fewer than two: {', '.join(constant)}."
        )
    return williams(*correlations, z.size)


@dataclass(frozen=True)
class Permutation:
    """A permutation test of the difference of two metrics' correlations with people."""

    first: float
    second: float
    difference: float
    p: float
    over: str
    alternative: str
    level: str
    coefficient: str
    count: int
    """Permutations with a defined difference; p = (1 + as extreme) / (1 + count)."""
    undefined: int
    cells: int
    cells_dropped: int
    """Cells that not all three of the matrices fill."""
    p_reverse: float
    """The p of the reverse question, from the same permutations; p again if two-sided."""


def _standardised(values: Array) -> Array:
    """Scores with mean 0 and deviation 1, so that cells of two metrics can trade places."""
    spread = float(np.nanstd(values))
    return (values - np.nanmean(values)) / (spread if spread > 0 else 1.0)


def _swaps(size: int, shape: tuple[int, int], over: str, rng: np.random.Generator) -> Mask:
    """Which cells trade places: whole rows, whole columns, or both (a cell swapped twice stays)."""
    rows = rng.integers(0, 2, size=(size, shape[0], 1), dtype=np.int8).astype(np.bool_)
    columns = rng.integers(0, 2, size=(size, 1, shape[1]), dtype=np.int8).astype(np.bool_)
    if over == "systems":
        return rows
    return columns if over == "inputs" else rows ^ columns


def permutation_test(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    level: str = "segment",
    coefficient: Which = "pearson",
    *,
    over: Over = "both",
    alternative: Alternative = "greater",
    count: int = 1000,
    seed: Seed = 0,
) -> Permutation:
    """The p-value of "the first metric correlates with people better than the second".

    PERM-SYSTEMS, PERM-INPUTS and PERM-BOTH of Deutsch et al. 2021: if the metrics were
    equally good their (standardised) scores could trade places, for whole systems (rows), whole
    inputs (columns) or both. p = (1 + #{permuted difference >= observed}) / (1 + count).
    """
    check_count(count)
    if alternative not in ("greater", "two-sided"):
        raise OptionError(f"alternative is {alternative!r}; it is 'greater' or 'two-sided'.")
    a, b, people = as_matrices(first=first, second=second, human=human)
    check_over(over, *a.shape)
    a, b, people = _common(a, b, people)
    level, chosen = choose_level(level), choose_coefficient(coefficient)

    def agreement(stack: Array) -> Array:
        return stack_values(stack, people[None], level, chosen.rowwise)

    pair = np.stack([_standardised(a), _standardised(b)])
    r1, r2 = (float(r) for r in agreement(pair))
    null = _null_differences(pair, agreement, over, count, np.random.default_rng(seed))
    null = null[np.isfinite(null)]
    cells = int(np.isfinite(people).sum())
    return Permutation(
        r1,
        r2,
        r1 - r2,
        _tail(null, r1 - r2, alternative),
        over,
        alternative,
        level,
        chosen.name,
        null.size,
        count - null.size,
        cells,
        a.size - cells,
        _tail(-null, r2 - r1, alternative),
    )


def _common(*matrices: Array) -> tuple[Array, ...]:
    """The matrices with NaN wherever any of them lacks a value."""
    filled = np.logical_and.reduce([np.isfinite(matrix) for matrix in matrices])
    if not filled.any():
        raise DataError(
            f"none of the {filled.size} cells is filled in all {len(matrices)} matrices; "
            "a comparison needs cells that people judged and both metrics scored."
        )
    return tuple(np.where(filled, matrix, np.nan) for matrix in matrices)


def _tail(null: Array, observed: float, alternative: str) -> float:
    """(1 + #{null at least as extreme}) / (1 + count); NaN if the observed value is undefined."""
    if not np.isfinite(observed):
        return float("nan")
    if alternative == "two-sided":
        null, observed = np.abs(null), abs(observed)
    return float((1 + (null >= observed - TOLERANCE).sum()) / (1 + null.size))


def _null_differences(
    pair: Array,
    agreement: Callable[[Array], Array],
    over: str,
    count: int,
    rng: np.random.Generator,
) -> Array:
    """Differences of the two metrics' agreement after random trades, one per permutation."""
    systems, inputs = pair.shape[1:]
    parts = []
    for size in chunks(count, systems * inputs):
        swap = _swaps(size, (systems, inputs), over, rng)
        parts.append(
            agreement(np.where(swap, pair[1], pair[0]))
            - agreement(np.where(swap, pair[0], pair[1]))
        )
    return np.concatenate(parts)


def holm(p_values: ArrayLike) -> Array:
    """p-values adjusted for testing several hypotheses at once (Holm 1979, step-down).

    Sorted p_(1) <= ... <= p_(m): adjusted_(i) = max over j <= i of min(1, (m - j + 1) p_(j)).
    NaN stays NaN and does not count as a test. Any shape is kept.
    """
    p = np.asarray(p_values, dtype=np.float64)
    tested = np.isfinite(p)
    if ((p[tested] < 0) | (p[tested] > 1)).any():
        raise DataError(
            f"p-values lie between 0 and 1, but these range from {np.nanmin(p):.6g} "
            f"to {np.nanmax(p):.6g}."
        )
    flat = p[tested]
    order = np.argsort(flat, kind="stable")
    steps = np.minimum(1.0, (flat.size - np.arange(flat.size)) * flat[order])
    adjusted = np.empty_like(flat)
    adjusted[order] = np.maximum.accumulate(steps)
    result = np.full(p.shape, np.nan)
    result[tested] = adjusted
    return result


@dataclass(frozen=True)
class Cluster:
    """Systems between which no significant line can be drawn, best first, with their ranks."""

    names: tuple[str, ...]
    best_rank: int
    worst_rank: int


def rank_clusters(
    names: Sequence[str], scores: ArrayLike, p_values: ArrayLike, *, alpha: float = 0.05
) -> tuple[Cluster, ...]:
    """The clusters of a ranking, as WMT prints them: a line falls where all above beat all below.

    `p_values[i, j]` is the one-sided p of "i is better than j". Systems are sorted by score; a new
    cluster starts where every system above is better than every system below with p < alpha. An
    undefined (NaN) p draws no line.
    """
    score = np.asarray(scores, dtype=np.float64)
    p = np.asarray(p_values, dtype=np.float64)
    n = len(names)
    if score.shape != (n,) or p.shape != (n, n):
        raise ShapeError(
            f"{n} names need {n} scores and {n} x {n} p-values, "
            f"but their shapes are {score.shape} and {p.shape}."
        )
    if not np.isfinite(score).all():
        raise DataError(f"{int((~np.isfinite(score)).sum())} of {n} scores are NaN or infinite.")
    order = np.argsort(-score, kind="stable")
    better = p[np.ix_(order, order)] < alpha
    starts = [0, *(cut for cut in range(1, n) if better[:cut, cut:].all()), n]
    return tuple(
        Cluster(tuple(names[i] for i in order[start:stop]), start + 1, stop)
        for start, stop in pairwise(starts)
        if stop > start
    )
