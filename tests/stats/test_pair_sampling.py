"""Pairs of items: drawn without repetition, and the error of a mean over them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from nlgauge.core.errors import DataError, ShapeError
from nlgauge.stats.pair_sampling import draw_pairs, dyadic_error


@pytest.mark.parametrize("n", [2, 3, 7, 40])
def test_as_many_pairs_as_there_are_is_each_once(n: int) -> None:
    pairs = draw_pairs(n, 10**6, seed=3)
    assert sorted(tuple(sorted(pair)) for pair in pairs.tolist()) == list(combinations(range(n), 2))


def test_a_sample_has_no_pair_twice_and_no_item_with_itself() -> None:
    pairs = draw_pairs(1000, 5000, seed=1)
    assert len({tuple(sorted(pair)) for pair in pairs.tolist()}) == 5000
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert 0.4 < (pairs[:, 0] < pairs[:, 1]).mean() < 0.6
    assert abs(pairs.mean() - 499.5) < 10
    assert (pairs == draw_pairs(1000, 5000, seed=1)).all()
    assert (pairs != draw_pairs(1000, 5000, seed=2)).any()


def test_numbers_of_pairs_beyond_the_exact_roots_of_floats_stay_in_range() -> None:
    pairs = draw_pairs(3_000_000, 1000)
    assert pairs.min() >= 0
    assert pairs.max() < 3_000_000
    assert (pairs[:, 0] != pairs[:, 1]).all()


def _by_definition(values: np.ndarray, pairs: np.ndarray) -> float:
    deviations = values - values.mean()
    total = sum(
        deviations[i] * deviations[j]
        for i in range(len(values))
        for j in range(len(values))
        if set(pairs[i]) & set(pairs[j])
    )
    return float(np.sqrt(total / (len(values) * (len(values) - 1))))


def test_the_error_counts_every_two_pairs_that_share_an_item() -> None:
    rng = np.random.default_rng(5)
    pairs = draw_pairs(9, 20, seed=4)
    values = rng.normal(size=9)[pairs].sum(axis=1) + rng.normal(size=20) / 10
    assert dyadic_error(values, pairs) == pytest.approx(_by_definition(values, pairs))


def test_disjoint_pairs_have_the_usual_error() -> None:
    pairs = np.arange(20).reshape(10, 2)
    values = np.random.default_rng(0).normal(size=10)
    assert dyadic_error(values, pairs) == pytest.approx(values.std(ddof=1) / np.sqrt(10))


def test_the_error_is_that_of_repeated_samples() -> None:
    rng = np.random.default_rng(7)
    means, errors = [], []
    for seed in range(300):
        pairs = draw_pairs(60, 400, seed)
        values = rng.normal(size=60)[pairs].sum(axis=1) + rng.normal(size=400)
        means.append(values.mean())
        errors.append(dyadic_error(values, pairs))
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.12)


def test_too_few_pairs_are_refused() -> None:
    with pytest.raises(DataError, match="5 pairs of 1 items"):
        draw_pairs(1, 5)
    with pytest.raises(DataError, match="at least 2 values"):
        dyadic_error([1.0], [[0, 1]])
    with pytest.raises(ShapeError, match="need as many pairs"):
        dyadic_error([1.0, 2.0], [[0, 1]])
