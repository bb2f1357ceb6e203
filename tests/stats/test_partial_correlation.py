"""Partial correlation against the correlation of residuals, and in its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nlgauge.core.errors import DataError, ShapeError
from nlgauge.stats.partial_correlation import partial_correlation


def _residuals(values: np.ndarray, given: np.ndarray) -> np.ndarray:
    design = np.stack([np.ones_like(given), given], axis=1)
    return values - design @ np.linalg.lstsq(design, values, rcond=None)[0]


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_correlation_of_residuals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = rng.normal(size=40)
    first = given + rng.normal(size=40) + 1000
    second = 0.5 * first - given + rng.normal(size=40)
    found = partial_correlation(first, second, given, count=50)
    expected = np.corrcoef(_residuals(first, given), _residuals(second, given))[0, 1]
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert found.low <= found.value <= found.high


def test_a_resample_is_the_statistic_of_repeated_points() -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(3, 12))
    whole = partial_correlation(*np.repeat(points, 3, axis=1), count=2).value
    assert whole == pytest.approx(partial_correlation(*points, count=2).value, abs=1e-12)


def test_whole_clusters_are_drawn() -> None:
    rng = np.random.default_rng(2)
    points = np.repeat(rng.normal(size=(3, 10)), 20, axis=1)
    free = partial_correlation(*points, count=300)
    clustered = partial_correlation(*points, clusters=np.repeat(np.arange(10), 20), count=300)
    assert clustered.value == pytest.approx(free.value)
    assert (free.over, clustered.over) == ("points", "clusters")
    assert clustered.high - clustered.low > 2 * (free.high - free.low)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e200])
def test_the_unit_does_not_matter(scale: float) -> None:
    points = np.random.default_rng(5).normal(size=(3, 20))
    expected = partial_correlation(*points, count=2).value
    assert partial_correlation(*(points * scale), count=2).value == pytest.approx(expected)


def test_an_offset_does_not_matter() -> None:
    points = np.random.default_rng(5).normal(size=(3, 20))
    expected = partial_correlation(*points, count=2).value
    shifted = 1e6 + 0.01 * points[0], *points[1:]
    assert partial_correlation(*shifted, count=2).value == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("constant", range(3))
def test_a_constant_variable_has_no_correlation(constant: int) -> None:
    points = np.random.default_rng(3).normal(size=(3, 9))
    points[constant] = 7.25
    assert math.isnan(partial_correlation(*points, count=5).value)


def test_a_variable_that_the_third_determines_has_none() -> None:
    given = np.arange(8.0)
    other = np.random.default_rng(4).normal(size=8)
    assert math.isnan(partial_correlation(2 * given + 1, other, given, count=5).value)


def test_bad_input() -> None:
    with pytest.raises(ShapeError, match=r"got shapes \(2,\), \(3,\), \(2,\)"):
        partial_correlation([1, 2], [1, 2, 3], [1, 2])
    with pytest.raises(DataError, match="none of 0 points"):
        partial_correlation(np.zeros(0), np.zeros(0), np.zeros(0))


def test_points_with_a_missing_value_are_left_out() -> None:
    points = np.random.default_rng(6).normal(size=(3, 12))
    gaps = points.copy()
    gaps[0, 1] = gaps[2, 5] = math.nan
    clusters = np.repeat(np.arange(6), 2)
    left = [1, 5]
    want = partial_correlation(
        *np.delete(points, left, axis=1), clusters=np.delete(clusters, left), count=20
    )
    assert partial_correlation(*gaps, clusters=clusters, count=20) == want
    with pytest.raises(DataError, match="none of 2 points"):
        partial_correlation([1, math.nan], [1, 2], [math.nan, 1])
