"""Draws follow Poisson(1), and depend on seed, id and resample alone."""

import numpy as np
import pytest
from scipy import stats

from nlgauge.core.errors import OptionError
from nlgauge.core.resampling import draw_counts

IDS = [f"s{i}" for i in range(2000)]
GOLDEN = [[2.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]


def test_frequencies_are_those_of_poisson() -> None:
    counts = draw_counts(IDS, 200, seed=0)
    assert counts.shape == (200, 2000)
    observed = np.bincount(counts.astype(int).ravel(), minlength=8)
    expected = stats.poisson(1).pmf(np.arange(8)) * counts.size
    statistic = (((observed[:8] - expected) ** 2) / expected).sum()
    assert statistic < stats.chi2(7).ppf(0.9999)
    assert abs(counts.mean() - 1) < 4 / np.sqrt(counts.size)
    assert abs(counts.var() - 1) < 4 * np.sqrt(3 / counts.size)  # Var of (X-1)^2 is 3


def test_resamples_and_segments_do_not_depend_on_each_other() -> None:
    counts = draw_counts(IDS, 300, seed=1)
    between_resamples = np.corrcoef(counts)[np.triu_indices(300, 1)]
    assert np.abs(between_resamples).max() < 6 / np.sqrt(2000)
    between_segments = np.corrcoef(counts.T[:300])[np.triu_indices(300, 1)]
    assert np.abs(between_segments).max() < 6 / np.sqrt(300)


def test_draws_do_not_depend_on_order_or_other_ids() -> None:
    whole = draw_counts(IDS, 50, seed=3)
    backwards = draw_counts(IDS[::-1], 50, seed=3)
    np.testing.assert_array_equal(whole, backwards[:, ::-1])
    halves = [draw_counts(part, 50, seed=3) for part in (IDS[:700], IDS[700:])]
    np.testing.assert_array_equal(whole, np.hstack(halves))
    np.testing.assert_array_equal(whole[:20], draw_counts(IDS, 20, seed=3))


def test_one_id_one_draw_and_another_seed_another_draw() -> None:
    twice = draw_counts(["x", "y", "x"], 100, seed=0)
    np.testing.assert_array_equal(twice[:, 0], twice[:, 2])
    assert (twice[:, 0] != twice[:, 1]).any()
    assert (draw_counts(["x"], 100, seed=0) != draw_counts(["x"], 100, seed=1)).any()


def test_draws_are_the_same_in_every_version() -> None:
    """Published intervals must be reproducible in later versions."""
    assert draw_counts(["a", "ü", "\ud800"], 4, seed=7).tolist() == GOLDEN


def test_invalid_draws_are_refused() -> None:
    with pytest.raises(OptionError, match="at least 1, got 0"):
        draw_counts(["a"], 0, seed=0)
    with pytest.raises(OptionError, match="seed of 167 bits"):
        draw_counts(["a"], 1, seed=10**50)
    assert draw_counts(["a"], 1, seed=-(2**127)).shape == (1, 1)
    assert draw_counts([], 3, seed=0).shape == (3, 0)
