"""Permutation tests of whether one metric agrees with people better than another; ranks.

They are valid for any coefficient and level, except that exchanges of "pairs" give too small a p
(see `permutation_test`). They are directed: a small p means that the FIRST metric is better; the
reverse hypothesis has a separate p.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Bools, Floats
from nlgauge.core.errors import OptionError, ShapeError
from nlgauge.stats.coefficients import TOLERANCE, merge_ties
from nlgauge.stats.levels import Average, Which, choose_level, correlation_of
from nlgauge.stats.named_coefficients import choose_coefficient
from nlgauge.stats.pair_statistics import decisions
from nlgauge.stats.validation import (
    Seed,
    as_floats,
    check_over,
    check_share,
    common_cells,
    p_value,
    resample,
)

Alternative = Literal["greater", "less", "two-sided"]
Exchanged = Literal["both", "inputs", "systems", "cells", "pairs"]
"""What is swapped between two metrics."""


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
    """The p of the reverse hypothesis from the same permutations; equal to p if two-sided."""
    null: Floats = field(repr=False, compare=False)
    """The permuted differences; NaN where one is undefined."""


def _standardise(values: Floats) -> Floats:
    """Return scores with mean 0 and deviation 1, so that cells of two metrics are exchangeable.

    Scores that are equal up to rounding become equal, because the tolerance of ties is relative:
    it would be too small for scores near the mean, which become nearly 0.
    """
    scaled = values / (float(np.nanmax(np.abs(values))) or 1.0)  # so that squares do not overflow
    tied = merge_ties(scaled)
    spread = float(np.nanstd(tied))
    return np.asarray((tied - np.nanmean(tied)) / (spread if spread > 0 else 1.0))


def _draw_swaps(size: int, shape: tuple[int, ...], over: str, rng: np.random.Generator) -> Bools:
    """Return which cells are swapped: rows, columns, the exclusive or of both, or any."""
    if over == "cells":
        return rng.integers(0, 2, size=(size, *shape), dtype=np.int8).astype(np.bool_)
    rows = rng.integers(0, 2, size=(size, shape[0], 1), dtype=np.int8).astype(np.bool_)
    columns = rng.integers(0, 2, size=(size, 1, shape[1]), dtype=np.int8).astype(np.bool_)
    if over == "systems":
        return rows
    return columns if over == "inputs" else rows ^ columns


def _check(over: str, coefficient: str, systems: int, inputs: int) -> None:
    """Raise OptionError for an exchange that is unknown or that the data does not permit."""
    if over == "pairs" and coefficient != "acc_eq":
        raise OptionError(
            "over='pairs' exchanges decisions on pairs of outputs, which only acc_eq has; "
            f"use over='cells' for {coefficient}."
        )
    if over not in ("cells", "pairs"):
        if over not in ("inputs", "systems", "both"):
            known = "'inputs', 'systems', 'both', 'cells' or 'pairs'"
            raise OptionError(f"over is {over!r}; it is {known}.")
        check_over(over, systems, inputs)
    elif systems * inputs < 2:
        raise OptionError(f"over={over!r} needs at least 2 cells, but there is 1.")


def _exchange_scores(
    a: Floats,
    b: Floats,
    people: Floats,
    correlation: Callable[[Floats, Floats], Floats],
    over: str,
    count: int,
    seed: Seed,
) -> tuple[float, float, Floats]:
    """Return the correlations of two metrics, and their differences if their scores are swapped."""
    a, b = _standardise(a), _standardise(b)
    r1, r2 = (float(r) for r in correlation(np.stack([a, b]), people[None]))

    def draw(size: int, rng: np.random.Generator) -> Floats:
        swap = _draw_swaps(size, a.shape, over, rng)
        swapped = np.where(swap, b, a), np.where(swap, a, b)
        one, other = (correlation(metric, people[None]) for metric in swapped)
        return one - other

    return r1, r2, resample(draw, count, seed, a.size)


def _exchange_pairs(
    a: Floats, b: Floats, people: Floats, level: str, count: int, seed: Seed
) -> tuple[float, float, Floats]:
    """Return acc_eq of two metrics, and its differences if their decisions on pairs are swapped.

    Both metrics keep their best tie threshold, so that it is not computed for every draw.
    """
    choose_coefficient("acc_eq").check_level(level)
    pairs = [decisions(each, people, level) for each in (a, b)]
    best = [each.best() for each in pairs]
    correct = [each.right(threshold) for each, (_, threshold) in zip(pairs, best, strict=True)]
    weighted = (correct[0].astype(float) - correct[1]) * pairs[0].weight

    def draw(size: int, rng: np.random.Generator) -> Floats:
        return (rng.integers(0, 2, size=(size, weighted.size)) * 2.0 - 1.0) @ weighted

    return best[0][0], best[1][0], resample(draw, count, seed, weighted.size)


def _one_sided(null: Floats, difference: float) -> tuple[float, float]:
    """Return p of a larger, and of a smaller difference than the permuted ones that are defined."""
    defined = null[np.isfinite(null)]
    return p_value(defined, difference, TOLERANCE), p_value(-defined, -difference, TOLERANCE)


def permutation_test(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    level: str = "segment",
    coefficient: Which = "pearson",
    *,
    over: Exchanged = "both",
    alternative: Alternative = "greater",
    average: Average = "macro",
    count: int = 1000,
    seed: Seed = 0,
) -> Permutation:
    """Return the test of "the first metric correlates with people better than the second".

    If the metrics are equally good, their standardised scores are exchangeable: for whole systems
    (rows), whole inputs (columns), both one after the other (PERM-SYSTEMS, PERM-INPUTS and
    PERM-BOTH of Deutsch et al. 2021 and of nlpstats), or for single cells. mt-metrics-eval calls
    the last variant PERM-BOTH, and WMT ranks metrics by it; at the system level it exchanges system
    scores, which here are matrices of one column. For acc_eq, WMT exchanges the metrics' decisions
    on pairs of outputs ("pairs"), with the best tie threshold of each metric. Pairs that share an
    output are not independent, so this p is too small, the more so the more systems there are: of
    two equally good metrics, 8 % of p are below .05 with 6 systems, and 17 % with 12 (simulated).
    p = (1 + #{permuted difference >= observed}) / (1 + count).

    Parameters
    ----------
    first, second, human : array_like, systems x inputs; cells that all three fill are used
    level, coefficient, average : as in `correlate`
    over : "both", "inputs", "systems", "cells" or "pairs" (of acc_eq), what is swapped
    alternative : "greater", "less" (the first correlates worse) or "two-sided"
    count, seed : permutations and their seed

    Returns
    -------
    Permutation

    Examples
    --------
    >>> people = [[1, 2, 3, 4], [2, 4, 4, 7], [3, 5, 6, 9]]
    >>> permutation_test(people, people, people).p
    1.0
    """
    if alternative not in ("greater", "less", "two-sided"):
        known = "'greater', 'less' or 'two-sided'"
        raise OptionError(f"alternative is {alternative!r}; it is {known}.")
    a, b, people = common_cells(first=first, second=second, human=human)
    level, name = choose_level(level), choose_coefficient(coefficient).name
    _check(over, name, *a.shape)
    if over == "pairs":
        r1, r2, null = _exchange_pairs(a, b, people, level, count, seed)
    else:
        correlation = correlation_of(level, coefficient, average)
        r1, r2, null = _exchange_scores(a, b, people, correlation, over, count, seed)
    p, p_reverse = _one_sided(null, r1 - r2)
    if alternative == "less":
        p, p_reverse = p_reverse, p
    elif alternative == "two-sided":
        p = p_reverse = _one_sided(np.abs(null), abs(r1 - r2))[0]
    cells, defined = int(np.isfinite(people).sum()), int(np.isfinite(null).sum())
    sizes = defined, count - defined, cells, people.size - cells
    return Permutation(
        r1, r2, r1 - r2, p, over, alternative, level, name, *sizes, p_reverse, null=null
    )


def rank_by_differences(
    values: ArrayLike, differences: Mapping[tuple[int, int], Floats]
) -> list[int]:
    """Return the ranks of metrics by permutation tests of every pair; see `rank_metrics`.

    `differences[i, j]` are the permuted differences of metrics i and j, and last the observed one.
    """
    p = np.full((np.size(values), np.size(values)), np.nan)
    for (i, j), each in differences.items():
        p[i, j], p[j, i] = _one_sided(each[:-1], each[-1])
    return rank_metrics(values, p)


def rank_metrics(values: ArrayLike, p_values: ArrayLike, *, alpha: float = 0.05) -> list[int]:
    """Return the ranks of metrics by significance, as WMT's metrics tasks do.

    Metrics are sorted by value. A metric has the rank of the previous one unless some metric of
    that rank is significantly better (p <= alpha); then a new rank begins. Metrics without a value
    come last.

    Parameters
    ----------
    values : array_like, the n metrics' correlations with people
    p_values : array_like, n x n; `p_values[i, j]` is the p of "i correlates better than j"
    alpha : float, significance level

    Returns
    -------
    list of int, from 1

    Examples
    --------
    >>> p = [[1, 0.4, 0.01], [0.6, 1, 0.2], [0.99, 0.8, 1]]
    >>> rank_metrics([0.5, 0.4, 0.3], p)
    [1, 1, 2]
    """
    value, p = as_floats(values, "values"), as_floats(p_values, "p_values")
    if value.ndim != 1 or p.shape != (value.size, value.size):
        raise ShapeError(f"{value.size} values need as many x as many p-values, not {p.shape}.")
    check_share("alpha", alpha, ".05")
    order = np.argsort(-value, kind="stable")  # NaN goes last
    ranks, rank, start = [0] * value.size, 1, 0
    for place, i in enumerate(order):
        above = order[start:place]
        if (p[above, i] <= alpha).any() or (place and not np.isfinite(value[i])):
            rank, start = rank + 1, place
        ranks[int(i)] = rank
    return ranks
