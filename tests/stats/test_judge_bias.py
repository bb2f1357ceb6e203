"""Biases of a judge: published intervals, scipy, brute force and limits."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats import spearman
from nlgauge.stats.coefficients import mean_ranks, weighted_pearson
from nlgauge.stats.judge_bias import (
    length_bias,
    self_preference,
    wilson_interval,
)

N = float("nan")


def test_wilson_interval_of_published_examples() -> None:
    """Newcombe 1998, Statistics in Medicine 17, table I, method 3: 81/263, 15/148, 0/20, 1/29."""
    published = {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }
    for (successes, trials), (low, high) in published.items():
        found = wilson_interval(successes, trials)
        assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)
    for trials in range(1, 50):
        assert (wilson_interval(0, trials).low, wilson_interval(trials, trials).high) == (0, 1)
    assert np.isnan(wilson_interval(0, 0).value)
    assert wilson_interval(1, 2).method == "wilson"
    with pytest.raises(OptionError, match="3 successes of 2 trials"):
        wilson_interval(3, 2)


def test_weighted_ranks_are_those_of_repeated_points() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    x, y = rng.integers(5, size=12).astype(float), rng.integers(6, size=12) * 1.0
    weights = rng.integers(3, size=(6, 12)).astype(float)
    ranks = mean_ranks(x[None], weights), mean_ranks(y[None], weights)
    found = weighted_pearson(*ranks, weights)
    for row, value in zip(weights.astype(int), found, strict=True):
        expected = stats.spearmanr(np.repeat(x, row), np.repeat(y, row)).statistic
        assert value == pytest.approx(expected, abs=1e-12)


def test_length_bias() -> None:
    rng = np.random.default_rng(1)
    length = rng.integers(10, 300, size=200).astype(float)
    none = length_bias(rng.normal(size=200), length, count=300)
    assert none.low < 0 < none.high
    some = length_bias(0.01 * length + rng.normal(size=200), length, count=300)
    assert some.low > 0.3
    assert some.over == "items"
    assert length_bias([1, N, 3], [2, 5, 4], count=20).value == 1
    assert np.isnan(length_bias([1, 1, 1], [2, 5, 4], count=20).value)  # the same gap everywhere
    assert np.isnan(length_bias([1], [2], count=20).value)
    with pytest.raises(DataError, match="none of 2 items"):
        length_bias([1, N], [N, 2])
    with pytest.raises(ShapeError, match="3 items need 3 clusters"):
        length_bias([1, 2, 3], [3, 2, 4], clusters=["a"])


def test_gaps_that_are_equal_up_to_rounding_are_ties() -> None:
    gaps = [3 - (2 + 2 + 3) / 3, 4 - (3 + 3 + 4) / 3, 5 - (4 + 4 + 5) / 3, 1 - 4 / 3, 1 - 5 / 3]
    assert gaps[1] != gaps[2]  # both are 2/3
    want = spearman(np.round(gaps, 6), [1, 2, 3, 4, 5])
    assert length_bias(gaps, [1, 2, 3, 4, 5], count=5).value == pytest.approx(want)


def test_self_preference() -> None:
    gaps = [1.0, 2, 0, 0, 1, N]
    own = [True, True, False, False, False, True]
    found = self_preference(gaps, own, count=400)
    assert found.value == pytest.approx(1.5 - 1 / 3)
    assert found.undefined > 0  # draws without own outputs, or without others
    assert np.isnan(self_preference([1, 2], [True, True], count=5).value)
    copies = self_preference(gaps[:5] * 8, own[:5] * 8, clusters=list(range(5)) * 8, count=400)
    single = self_preference(gaps[:5] * 8, own[:5] * 8, count=400)
    assert copies.value == pytest.approx(found.value)
    assert copies.high - copies.low > 1.5 * (single.high - single.low)
