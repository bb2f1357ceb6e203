"""Tables of every metric against every other, and against people.

All cells of one table speak about the same data: only grid cells that people judged and every
metric scored are used, and the rest is counted. Otherwise two entries of a row could differ because
of which outputs were compared, and Williams's test would meet correlations no data has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nlgauge.core.errors import DataError
from nlgauge.stats.coefficients import Coefficient, choose_coefficient, dense_ranks
from nlgauge.stats.intervals import Over
from nlgauge.stats.judgements import Grid
from nlgauge.stats.levels import Which, choose_level, per_input, points, stack_values
from nlgauge.stats.significance import holm, permutation_test, williams_test
from nlgauge.stats.validation import Array

HUMAN = "human"


@dataclass(frozen=True, eq=False)
class CoefficientMatrix:
    """Coefficients between metrics (and people, the first row), with p-values of "no relation"."""

    names: tuple[str, ...]
    values: Array
    p: Array
    """Two-sided; NaN on the diagonal and where no test exists for the coefficient."""
    level: str
    coefficient: str
    cells: int
    cells_dropped: int


@dataclass(frozen=True, eq=False)
class WilliamsMatrix:
    """p[i, j]: one-sided p of "metric i has a higher Pearson r with people than metric j"."""

    names: tuple[str, ...]
    correlations: Array
    p: Array
    level: str
    n: int
    cells_dropped: int

    @property
    def p_holm(self) -> Array:
        """The p-values corrected for all ordered pairs having been tested (Holm)."""
        return holm(self.p)


@dataclass(frozen=True, eq=False)
class PermutationMatrix:
    """p[i, j]: one-sided p of "metric i correlates with people better than metric j"."""

    names: tuple[str, ...]
    correlations: Array
    p: Array
    level: str
    coefficient: str
    over: str
    count: int
    undefined: int
    """Permutations without a defined difference, of all pairs together."""
    cells: int
    cells_dropped: int

    @property
    def p_holm(self) -> Array:
        """The p-values corrected for all ordered pairs having been tested (Holm)."""
        return holm(self.p)

    @property
    def smallest(self) -> float:
        """The smallest corrected p that this number of permutations can give."""
        tests = int(np.isfinite(self.p).sum())
        return min(1.0, tests / (1 + self.count))


def _common(grid: Grid) -> tuple[dict[str, Array], int, int]:
    """Human and metric matrices with NaN wherever any lacks a value, cells kept and dropped."""
    if HUMAN in grid.metrics:
        raise DataError(
            f"a metric is called {HUMAN!r}, the name of the judgements' row; rename it."
        )
    everything: Mapping[str, Array] = {HUMAN: grid.human, **grid.metrics}
    present = np.logical_and.reduce([np.isfinite(m) for m in everything.values()])
    if not present.any():
        raise DataError(
            f"no cell is judged and scored by all {len(grid.metrics)} metrics; "
            "leave out the metric with the gaps (Grid.gaps lists them)."
        )
    judged = int(np.isfinite(grid.human).sum())
    kept = {name: np.where(present, m, np.nan) for name, m in everything.items()}
    return kept, int(present.sum()), judged - int(present.sum())


def _p_value(x: Array, y: Array, level: str, coefficient: Coefficient) -> float:
    """The two-sided p-value of "no relation" between two matrices.

    Segment and system level: the coefficient's own test over the points. Text level: a one-sample
    t test of the per-input coefficients against 0, the inputs being the independent units.
    """
    from scipy import stats

    if coefficient.name not in ("pearson", "spearman", "kendall_b", "kendall_c"):
        return float("nan")
    if level == "text":
        rows = per_input(x, y, coefficient)
        rows = rows[np.isfinite(rows)]
        varies = rows.size > 1 and float(np.ptp(rows)) > 0
        return float(stats.ttest_1samp(rows, 0.0).pvalue) if varies else float("nan")
    a, b = points(x, y, level)
    if a.size < 3 or not np.isfinite(coefficient.rowwise(a[None], b[None])[0]):
        return float("nan")
    if coefficient.name == "pearson":
        return float(stats.pearsonr(a, b).pvalue)
    # On ranks, so that scores within the tie tolerance are ties for the test as well.
    ra, rb = dense_ranks(a[None])[0], dense_ranks(b[None])[0]
    if coefficient.name == "spearman":
        return float(stats.spearmanr(ra, rb).pvalue)
    # tau-b and tau-c are two scales of the same C - D, so their test is the same.
    return float(stats.kendalltau(ra, rb).pvalue)


def coefficient_matrix(
    grid: Grid, level: str = "segment", coefficient: Which = "pearson"
) -> CoefficientMatrix:
    """The coefficient and p-value of every pair among people and the grid's metrics."""
    level, chosen = choose_level(level), choose_coefficient(coefficient)
    matrices, cells, dropped = _common(grid)
    names = tuple(matrices)
    stack = np.stack(list(matrices.values()))
    values = np.stack([stack_values(stack, m[None], level, chosen.rowwise) for m in stack])
    p = np.full(values.shape, np.nan)
    for i, j in zip(*np.triu_indices(len(names), 1), strict=True):
        p[i, j] = p[j, i] = _p_value(stack[i], stack[j], level, chosen)
    return CoefficientMatrix(names, values, p, level, chosen.name, cells, dropped)


def williams_matrix(grid: Grid, level: str = "segment") -> WilliamsMatrix:
    """Williams's one-sided p for every ordered pair of metrics; NaN on the diagonal.

    p[i, j] + p[j, i] = 1. Read a row: where it is below .05, that metric beats the column's.
    Many pairs are many tests: `holm` adjusts them.
    """
    level = choose_level(level)
    matrices, _, dropped = _common(grid)
    people = matrices.pop(HUMAN)
    names = tuple(matrices)
    p = np.full((len(names), len(names)), np.nan)
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i != j:
                p[i, j] = williams_test(matrices[first], matrices[second], people, level).p
    stack = np.stack(list(matrices.values()))
    rowwise = choose_coefficient("pearson").rowwise
    correlations = stack_values(stack, people[None], level, rowwise)
    return WilliamsMatrix(
        names, correlations, p, level, points(people, people, level)[0].size, dropped
    )


def permutation_matrix(
    grid: Grid,
    level: str = "segment",
    coefficient: Which = "pearson",
    *,
    over: Over = "both",
    count: int = 1000,
    seed: int = 0,
) -> PermutationMatrix:
    """The permutation test's one-sided p for every ordered pair of metrics; NaN on the diagonal.

    Any level and any coefficient. Both directions of a pair come from the same permutations, so a
    p cannot fall below 1 / (1 + count).
    """
    level, chosen = choose_level(level), choose_coefficient(coefficient)
    matrices, cells, dropped = _common(grid)
    people = matrices.pop(HUMAN)
    names = tuple(matrices)
    p = np.full((len(names), len(names)), np.nan)
    undefined = 0
    for i, j in zip(*np.triu_indices(len(names), 1), strict=True):
        test = permutation_test(
            *(matrices[names[i]], matrices[names[j]], people, level, chosen),
            over=over,
            count=count,
            seed=seed,
        )
        p[i, j], p[j, i] = test.p, test.p_reverse
        undefined += test.undefined
    correlations = stack_values(
        np.stack(list(matrices.values())), people[None], level, chosen.rowwise
    )
    return PermutationMatrix(
        names, correlations, p, level, chosen.name, over, count, undefined, cells, dropped
    )
