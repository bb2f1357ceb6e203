"""Coefficients against scipy, constants and their own definitions."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from nlgauge.core.errors import OptionError, ShapeError
from nlgauge.stats.coefficients import (
    COEFFICIENTS,
    SHORT,
    accuracy_rows,
    constant_rows,
    count_pairs,
    dense_ranks,
    kendall_b,
    kendall_b_rows,
    kendall_c,
    pearson,
    spearman,
)
from nlgauge.stats.named_coefficients import choose_coefficient

GOLD = [100, 70, 70, 40, 0]
METRIC = [0.9, 0.8, 0.8, 0.8, 0.1]

SCIPY = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall_b": lambda x, y: stats.kendalltau(x, y, variant="b").statistic,
    "kendall_c": lambda x, y: stats.kendalltau(x, y, variant="c").statistic,
}


@pytest.mark.parametrize("name", SCIPY)
@pytest.mark.parametrize("n", [3, 17, SHORT, SHORT + 1, 700])
@pytest.mark.parametrize("levels", [4, 10_000])
def test_equals_scipy_with_and_without_ties(name, n, levels):
    rng = np.random.default_rng(n + levels)
    x = rng.integers(0, levels, (6, n)).astype(float)
    y = x + rng.integers(-levels // 2, levels // 2 + 1, (6, n))
    ours = COEFFICIENTS[name](x, y)
    for row, value in enumerate(ours):
        if np.ptp(x[row]) and np.ptp(y[row]):
            assert value == pytest.approx(SCIPY[name](x[row], y[row]), abs=1e-12)
        else:
            assert np.isnan(value)
    assert np.isfinite(ours).any()


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("n", [12, SHORT + 20])
def test_missing_cells_are_ignored(name, n):
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 6, (2, 5, n)).astype(float)
    x[rng.random(x.shape) < 0.2] = np.nan
    y[rng.random(y.shape) < 0.2] = np.nan
    ours = COEFFICIENTS[name](x, y)
    for row, value in enumerate(ours):
        both = np.isfinite(x[row]) & np.isfinite(y[row])
        alone = COEFFICIENTS[name](x[row][both][None], y[row][both][None])[0]
        assert value == pytest.approx(alone, abs=1e-12)


def test_pair_counts_by_hand():
    metric, gold = np.array([METRIC]), np.array([GOLD], float)
    pairs = count_pairs(metric, gold)
    counted = [pairs.concordant, pairs.discordant, pairs.tied_x, pairs.tied_y, pairs.tied_both]
    assert [int(c[0]) for c in counted] == [7, 0, 3, 1, 1]
    # Of 10 pairs, 7 are untied in the metric and 9 in the gold scores; 3 and 4 distinct values.
    assert kendall_b(GOLD, METRIC) == pytest.approx(7 / np.sqrt(7 * 9), abs=1e-12)
    assert kendall_c(GOLD, METRIC) == pytest.approx(2 * 7 / (5**2 * (3 - 1) / 3), abs=1e-12)
    assert accuracy_rows(metric, gold)[0] == pytest.approx((7 + 1) / 10, abs=1e-12)


@pytest.mark.parametrize("n", [9, SHORT + 6])
def test_accuracy_equals_a_loop(n):
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 5, (2, n)).astype(float)
    agree = [
        np.sign(x[i] - x[j]) == np.sign(y[i] - y[j]) for i, j in itertools.combinations(range(n), 2)
    ]
    assert accuracy_rows(x[None], y[None])[0] == pytest.approx(np.mean(agree), abs=1e-12)


def test_rows_that_differ_by_ulps_are_constant():
    base = 0.3
    x = [base, np.nextafter(base, 1), base, np.nextafter(base, 0)]
    y = [1.0, 2.0, 3.0, 4.0]
    # A naive computation differs in the last bit:
    assert abs(np.corrcoef(x, y)[0, 1]) > 0.1
    assert constant_rows(np.array([x]))[0]
    for function in (pearson, spearman, kendall_b, kendall_c):
        assert np.isnan(function(x, y))


def test_scores_one_float32_step_apart_keep_their_order():
    x = [np.float64(np.float32(0.3)), np.float64(np.nextafter(np.float32(0.3), np.float32(1)))]
    assert pearson(x, [1, 2]) == 1.0
    assert dense_ranks(np.array([x])).tolist() == [[0, 1]]


def test_near_ties_are_ties_even_beside_a_huge_value():
    x = np.array([[1.0, 1.0 + 1e-13, 2.0, 3e38]])
    assert dense_ranks(x).tolist() == [[0, 0, 1, 2]]


def test_r_is_the_same_at_huge_and_tiny_scales():
    x = np.array([1.0, 2.0, 4.0, 3.0])
    assert pearson(x * 1e200, x * 1e-200) == pytest.approx(1.0)


@pytest.mark.parametrize("x", [[], [1.0], [np.nan, 1.0], [np.nan, np.nan]])
def test_fewer_than_two_points_are_undefined(x):
    for function in (pearson, spearman, kendall_b, kendall_c):
        assert np.isnan(function(x, x))


def test_kendall_of_200_000_points():
    """A table of all pairs would take 320 GB."""
    rng = np.random.default_rng(0)
    x, y = (rng.permutation(200_000).astype(float) for _ in range(2))
    assert kendall_b(x, y) == pytest.approx(SCIPY["kendall_b"](x, y), abs=1e-12)


def test_any_function_of_two_vectors_is_a_coefficient():
    def agreement(x, y):
        return float(np.mean((x > 0) == (y > 0)))

    chosen = choose_coefficient(agreement)
    assert chosen.name == "agreement"
    x, y = np.array([[1.0, -1.0, np.nan], [1.0, np.nan, np.nan]]), np.ones((2, 3))
    assert chosen.rowwise(x, y).tolist()[0] == 0.5
    assert np.isnan(chosen.rowwise(x, y)[1])


def test_unknown_coefficient_lists_the_known():
    with pytest.raises(OptionError, match=r"'cosine'.*pearson, spearman, kendall_b"):
        choose_coefficient("cosine")


def test_vectors_of_two_lengths_are_refused():
    with pytest.raises(ShapeError, match=r"\(2,\) and \(3,\)"):
        pearson([1, 2], [1, 2, 3])


def test_importing_coefficients_does_not_import_scipy_stats():
    code = "import sys, nlgauge.stats; print('scipy.stats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_tau_of_more_different_values_than_17_bits_hold():
    x, y = np.random.default_rng(9).permuted(np.tile(np.arange(140_000.0), (2, 1)), axis=1)
    y[:1000] = y[0]
    x[-1000:] = np.nan
    expected = stats.kendalltau(x[:-1000], y[:-1000]).statistic
    assert kendall_b_rows(x[None], y[None])[0] == pytest.approx(expected, abs=1e-12)
