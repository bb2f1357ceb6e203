"""Tables of every metric against every other, and against people.

All cells of a table use the same data: the grid cells that people judged and every metric scored;
the others are counted. Otherwise Williams's test could get inconsistent correlations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import exp, lgamma
from typing import Any

import numpy as np

from nlgauge.core.arrays import Floats, Ints
from nlgauge.core.errors import DataError, OptionError
from nlgauge.stats.coefficients import TOLERANCE, constant_rows, dense_ranks, mean_ranks
from nlgauge.stats.judgements import Grid
from nlgauge.stats.levels import Average, Which, choose_level, correlation_of, per_input, points
from nlgauge.stats.named_coefficients import Coefficient, choose_coefficient
from nlgauge.stats.permutation_tests import Exchanged, permutation_test, rank_metrics
from nlgauge.stats.significance import holm, williams_test
from nlgauge.stats.validation import Seed, common_cells, require_scipy

HUMAN = "human"

MAX_EXACT = 8
"""Up to this many points, p of rank correlations is the share of all orders (8! = 40,320)."""


@dataclass(frozen=True, eq=False)
class _Matrix:
    names: tuple[str, ...]
    level: str
    coefficient: str
    cells: int
    cells_dropped: int
    p: Floats


@dataclass(frozen=True, eq=False)
class CoefficientMatrix(_Matrix):
    """Coefficients between people (first row) and metrics, with two-sided p of "no relation".

    p is not corrected for the number of pairs. It is NaN on the diagonal and where no test exists
    for the coefficient.
    """

    values: Floats


@dataclass(frozen=True, eq=False)
class _PairwiseTests(_Matrix):
    correlations: Floats

    @property
    def p_holm(self) -> Floats:
        """The p-values, Holm-corrected for all ordered pairs."""
        return holm(self.p)

    def ranks(self, alpha: float = 0.05) -> list[int]:
        """Return the metrics' ranks by significance, from the p-values without correction."""
        return rank_metrics(self.correlations, self.p, alpha=alpha)


@dataclass(frozen=True, eq=False)
class WilliamsMatrix(_PairwiseTests):
    """Williams's tests of all ordered pairs of metrics; p[i, j] is the p of "i beats j"."""

    n: int
    """Points: cells or systems."""


@dataclass(frozen=True, eq=False)
class PermutationMatrix(_PairwiseTests):
    """Permutation tests of all ordered pairs of metrics; p[i, j] is the p of "i beats j"."""

    over: str
    count: int
    undefined: int
    """Permutations without a defined difference, summed over pairs."""

    @property
    def smallest(self) -> float:
        """The smallest corrected p that this number of permutations can give."""
        return min(1.0, int(np.isfinite(self.p).sum()) / (1 + self.count))


def _stack_common(grid: Grid, level: str, coefficient: Which) -> tuple[dict[str, Any], Floats]:
    """Return the fields that all matrices share, and people and metrics on their common cells."""
    if HUMAN in grid.metrics:
        raise DataError(f"a metric is called {HUMAN!r}, as the row of the judgements; rename it.")
    stack = np.stack(common_cells(**{HUMAN: grid.human}, **grid.metrics))
    cells = int(np.isfinite(stack[0]).sum())
    shared = {"names": tuple(grid.metrics), "level": choose_level(level), "cells": cells}
    shared["cells_dropped"] = int(np.isfinite(grid.human).sum()) - cells
    return {**shared, "coefficient": choose_coefficient(coefficient).name}, stack


def _no_relation_p(x: Floats, y: Floats, level: str, coefficient: Coefficient) -> float:
    """Return the two-sided p-value of "no relation" between two matrices."""
    from scipy import stats

    if coefficient.name not in ("pearson", "spearman", "kendall_b", "kendall_c"):
        return float("nan")
    if level in ("text", "by_system"):
        # A t test against 0 of the coefficients of inputs or systems, which are independent.
        rows = per_input(x, y, coefficient) if level == "text" else per_input(x.T, y.T, coefficient)
        rows = rows[np.isfinite(rows)]
        constant = rows.size < 2 or constant_rows(rows[None])[0]
        return float("nan") if constant else float(stats.ttest_1samp(rows, 0.0).pvalue)
    a, b = points(x, y, level)
    if a.size < 3 or not np.isfinite(coefficient.rowwise(a[None], b[None])[0]):
        return float("nan")
    if coefficient.name == "pearson":
        return float(stats.pearsonr(a, b).pvalue)
    if a.size <= MAX_EXACT:
        return _exact_p(a, b, signs=coefficient.name != "spearman")
    # On ranks, so that scores within the tie tolerance are ties for the test as well.
    ranks = dense_ranks(a[None])[0], dense_ranks(b[None])[0]
    # tau-b and tau-c are two scales of the same C - D, so their test is the same.
    test = stats.spearmanr if coefficient.name == "spearman" else stats.kendalltau
    # scipy's p of Spearman's rho is approximate, and 0 for equal ranks; no exact p is below 2 / n!.
    return max(float(test(*ranks).pvalue), 2 * exp(-lgamma(a.size + 1)))


@cache
def _pairs_of_orders(n: int) -> tuple[Ints, Ints]:
    """Return the pairs of n points in all orders: two indices, orders x pairs."""
    orders = np.array(list(permutations(range(n))))
    first, second = np.triu_indices(n, 1)
    return orders[:, first], orders[:, second]


def _exact_p(x: Floats, y: Floats, *, signs: bool) -> float:
    """Return the share of all orders of x whose rank correlation is as far from 0, or farther.

    Rho and tau are sums over pairs of points of the product of two differences, of ranks or of the
    signs of these (Daniels 1944), divided by the same number in all orders.
    """
    first, second = _pairs_of_orders(x.size)
    a, b = (ranks[:, None] - ranks for ranks in mean_ranks(np.stack([x, y])))
    if signs:
        a, b = np.sign(a), np.sign(b)
    null = np.abs(a[first, second] @ b[first[0], second[0]])
    return float((null >= null[0] - TOLERANCE).mean())  # the first order is that of the data


def coefficient_matrix(
    grid: Grid, level: str = "segment", coefficient: Which = "pearson"
) -> CoefficientMatrix:
    """Return the coefficient and p-value of every pair among people and the grid's metrics."""
    require_scipy("a matrix with p-values")
    level, statistic = choose_level(level), choose_coefficient(coefficient)
    if statistic.name == "acc_eq":
        raise OptionError(
            "acc_eq calibrates the ties of a metric against people, so it is not symmetric and has "
            "no matrix; use `correlate`, or the coefficient 'accuracy'."
        )
    shared, stack = _stack_common(grid, level, statistic)
    correlation = correlation_of(level, statistic)
    values = np.stack([correlation(stack, matrix[None]) for matrix in stack])
    p = np.full(values.shape, np.nan)
    for i, j in zip(*np.triu_indices(len(stack), 1), strict=True):
        p[i, j] = p[j, i] = _no_relation_p(stack[i], stack[j], level, statistic)
    return CoefficientMatrix(**shared | {"names": (HUMAN, *grid.metrics)}, p=p, values=values)


def _test_pairs(
    grid: Grid,
    level: str,
    coefficient: Which,
    test: Callable[[Floats, Floats, Floats], tuple[float, float]],
    average: Average = "macro",
) -> tuple[dict[str, Any], Floats]:
    """Return the common fields, with the p of `test` in both directions, and the judgements."""
    shared, (people, *metrics) = _stack_common(grid, level, coefficient)
    n = len(metrics)
    if n < 2:
        raise OptionError(f"the test compares 2 metrics or more, but there is {n}.")
    p = np.full((n, n), np.nan)
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        p[i, j], p[j, i] = test(metrics[i], metrics[j], people)
    values = correlation_of(level, coefficient, average)(np.stack(metrics), people[None])
    return {**shared, "p": p, "correlations": values}, people


def williams_matrix(grid: Grid, level: str = "segment") -> WilliamsMatrix:
    """Return Williams's one-sided p for every ordered pair of metrics; p[i, j] + p[j, i] = 1."""

    def test(first: Floats, second: Floats, people: Floats) -> tuple[float, float]:
        tests = (williams_test(*pair, people, level) for pair in ((first, second), (second, first)))
        forth, back = (each.p for each in tests)  # 1 - p would round a small p to 0
        return forth, back

    fields, people = _test_pairs(grid, level, "pearson", test)
    return WilliamsMatrix(**fields, n=points(people, people, fields["level"])[0].size)


def permutation_matrix(
    grid: Grid,
    level: str = "segment",
    coefficient: Which = "pearson",
    *,
    over: Exchanged = "both",
    average: Average = "macro",
    count: int = 1000,
    seed: Seed = 0,
) -> PermutationMatrix:
    """Return the permutation test's one-sided p for every ordered pair of metrics."""
    undefined = 0

    def test(first: Floats, second: Floats, people: Floats) -> tuple[float, float]:
        nonlocal undefined
        data = first, second, people, level, coefficient
        result = permutation_test(*data, over=over, average=average, count=count, seed=seed)
        undefined += result.undefined
        return result.p, result.p_reverse

    fields, _ = _test_pairs(grid, level, coefficient, test, average)
    return PermutationMatrix(**fields, over=over, count=count, undefined=undefined)
