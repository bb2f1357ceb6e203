"""Exchanges of cells and of pairs against all exchanges, and ranks of metrics."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from nlgauge.core.errors import OptionError, ShapeError
from nlgauge.stats import correlate, permutation_test, rank_clusters, rank_metrics

RNG = np.random.default_rng(8)
HUMAN = np.round(RNG.normal(size=(3, 3)), 1)
GOOD, POOR = HUMAN + RNG.normal(size=(3, 3)), HUMAN + 2 * RNG.normal(size=(3, 3))


def _standardised(values):
    return (values - np.nanmean(values)) / np.nanstd(values)


def _exact_p(first, second, human, level, coefficient):
    """The share of all 2 ** cells exchanges with a difference at least as large."""
    a, b = _standardised(first), _standardised(second)

    def difference(x, y):
        return (
            correlate(x, human, level, coefficient).value
            - correlate(y, human, level, coefficient).value
        )

    observed = difference(a, b)
    null = []
    for bits in product([False, True], repeat=a.size):
        swap = np.reshape(bits, a.shape)
        null.append(difference(np.where(swap, b, a), np.where(swap, a, b)))
    null = np.array(null)[np.isfinite(null)]
    return float((null >= observed - 1e-9).mean())


@pytest.mark.parametrize(
    ("level", "coefficient"),
    [
        ("segment", "pearson"),
        ("text", "pearson"),
        ("by_system", "kendall_b"),
        ("system", "pearson"),
        ("text", "acc_eq"),
        ("text", "pairwise_pearson"),
    ],
)
def test_cells_are_exchanged_one_by_one(level, coefficient):
    got = permutation_test(GOOD, POOR, HUMAN, level, coefficient, over="cells", count=700)
    want = _exact_p(GOOD, POOR, HUMAN, level, coefficient)
    assert got.p == pytest.approx(want, abs=0.06)
    assert got.over == "cells"


def test_cells_of_soft_pairwise_accuracy():
    """Three systems that differ much: few exchanges of cells agree with people as well."""
    rng = np.random.default_rng(2)
    human = rng.normal(size=(4, 30)) + np.arange(4)[:, None]
    good, poor = human + 0.1 * rng.normal(size=(4, 30)), rng.normal(size=(4, 30))
    options = {"level": "system", "coefficient": "spa", "over": "cells", "count": 60}
    assert permutation_test(good, poor, human, **options).p == pytest.approx(1 / 61)
    assert permutation_test(poor, good, human, **options).p > 0.9


def test_pairs_of_acc_eq_by_enumeration():
    """The decisions of two metrics on the 9 pairs are swapped in all 512 ways."""
    right = []
    for metric in (GOOD, POOR):
        best = 0.0, None
        for epsilon in [0.0, *(abs(x - y) for col in metric.T for x, y in combinations(col, 2))]:
            decided = [
                (0 if abs(x - y) <= epsilon else np.sign(x - y)) == np.sign(h - k)
                for col, people in zip(metric.T, HUMAN.T, strict=True)
                for (x, h), (y, k) in combinations(zip(col, people, strict=True), 2)
            ]
            if best[1] is None or np.mean(decided) > best[0] + 1e-12:
                best = np.mean(decided), np.array(decided, float)
        right.append(best[1])
    gap = (right[0] - right[1]) / 9
    null = np.array([np.dot(signs, gap) for signs in product([-1, 1], repeat=9)])
    want = float((null >= gap.sum() - 1e-9).mean())
    got = permutation_test(GOOD, POOR, HUMAN, "text", "acc_eq", over="pairs", count=2000)
    assert got.difference == pytest.approx(gap.sum(), abs=1e-12)
    assert got.p == pytest.approx(want, abs=0.06)


def test_the_null_has_one_difference_per_exchange():
    found = permutation_test(GOOD, POOR, HUMAN, over="cells", count=50, seed=3)
    assert found.null.shape == (50,)
    assert found.difference == pytest.approx(
        correlate(GOOD, HUMAN).value - correlate(POOR, HUMAN).value
    )
    assert np.array_equal(
        found.null, permutation_test(GOOD, POOR, HUMAN, over="cells", count=50, seed=3).null
    )


@pytest.mark.parametrize("over", ["systems", "inputs", "both"])
def test_rows_and_columns_are_exchanged_as_a_whole(over):
    """Whole systems, whole inputs, or the exclusive or of both: all exchanges are drawn."""
    a, b = _standardised(GOOD), _standardised(POOR)
    every = np.array(list(product([False, True], repeat=3)))
    none = np.zeros((1, 3), bool)
    rows, columns = (every if over in (one, "both") else none for one in ("systems", "inputs"))
    expected = set()
    for row, column in product(rows, columns):
        swap = row[:, None] ^ column
        one, other = np.where(swap, b, a), np.where(swap, a, b)
        expected.add(round(correlate(one, HUMAN).value - correlate(other, HUMAN).value, 9))
    found = permutation_test(GOOD, POOR, HUMAN, over=over, count=800, seed=2)
    assert set(np.round(found.null, 9).tolist()) == expected


def test_impossible_exchanges_are_refused():
    with pytest.raises(OptionError, match="only acc_eq"):
        permutation_test(GOOD, POOR, HUMAN, over="pairs")
    with pytest.raises(OptionError, match="'cells' or 'pairs'"):
        permutation_test(GOOD, POOR, HUMAN, over="rows")
    with pytest.raises(OptionError, match="at least 2 cells, but there is 1"):
        permutation_test([[1.0]], [[1.0]], [[1.0]], over="cells")


def test_one_system_exchanges_cells():
    rng = np.random.default_rng(1)
    human = rng.normal(size=(1, 40))
    good, poor = human + 0.2 * rng.normal(size=(1, 40)), human + 5 * rng.normal(size=(1, 40))
    assert permutation_test(good, poor, human, over="cells", count=99).p == 0.01


def test_ranks_by_hand():
    p = np.full((4, 4), 0.5)
    values = [0.1, 0.4, 0.3, 0.2]  # the order is 1, 2, 3, 0
    p[1, 3] = 0.01  # the first beats the third, which begins rank 2
    p[2, 0] = 0.01  # the second is not of rank 2, so this says nothing of the last
    assert rank_metrics(values, p) == [2, 1, 1, 2]
    p[3, 0] = 0.05  # a p equal to alpha counts
    assert rank_metrics(values, p) == [3, 1, 1, 2]
    assert rank_metrics(values, p, alpha=0.005) == [1, 1, 1, 1]


def test_a_metric_without_a_value_is_last():
    p = np.full((3, 3), np.nan)
    p[0, 2] = p[2, 0] = 0.4
    assert rank_metrics([0.2, np.nan, 0.5], p) == [1, 2, 1]
    assert rank_metrics([np.nan], [[np.nan]]) == [1]
    assert rank_metrics([], np.zeros((0, 0))) == []


def test_invalid_ranks_are_refused():
    with pytest.raises(ShapeError, match=r"2 values need.*\(3, 3\)"):
        rank_metrics([1, 2], np.ones((3, 3)))
    with pytest.raises(OptionError, match="alpha is 1"):
        rank_metrics([1], [[1]], alpha=1)
    with pytest.raises(OptionError, match="alpha is 5"):
        rank_clusters("a", [1], [[1]], alpha=5)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall_b", "accuracy"])
@pytest.mark.parametrize("scale", [1.0, 1e300, 1e-300])
def test_correlations_are_those_of_the_scores_before_standardisation(coefficient, scale):
    # .1 + .2 and .3 are a tie; both are the mean, so their standardised scores are nearly 0.
    metric = np.array([[0.5, 0.3, 0.1 + 0.2, 0.3, 0.1, 0.3]]) * scale
    human = [[6, 4, 3, 2, 1, 5]]
    got = permutation_test(metric, human, human, "segment", coefficient, over="cells", count=9)
    want = correlate(metric, human, "segment", coefficient).value
    assert got.first == pytest.approx(want, abs=1e-12)


def test_scores_that_are_constant_up_to_rounding_have_no_correlation():
    data = [[0.1 + 0.2, 0.3, 0.3, 0.3]], [[1, 3, 2, 4]], [[1, 2, 3, 4]]
    got = permutation_test(*data, over="cells", count=99)
    assert np.isnan([got.first, got.p]).all()
