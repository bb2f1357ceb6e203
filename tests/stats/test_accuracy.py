"""Tie calibration and soft pairwise accuracy against loops and known answers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from nlgauge.core.errors import DataError, OptionError
from nlgauge.stats import correlate
from nlgauge.stats.accuracy import calibrate_ties, pairwise_accuracy, soft_pairwise_accuracy


def loop_accuracy(metric, human, epsilon):
    """Mean over inputs of the share of right decisions, written as the paper says it."""
    inputs = []
    for x, y in zip(metric.T, human.T, strict=True):
        live = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        right = []
        for i, j in itertools.combinations(live, 2):
            said = 0 if abs(x[i] - x[j]) <= epsilon else np.sign(x[i] - x[j])
            right.append(said == np.sign(y[i] - y[j]))
        if right:
            inputs.append(np.mean(right))
    return np.mean(inputs)


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    human = rng.integers(0, 4, (6, 20)).astype(float)
    metric = human + rng.normal(0, 0.7, human.shape)
    human[rng.random(human.shape) < 0.1] = np.nan
    return metric, human


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 5.0])
def test_accuracy_equals_a_loop(data, epsilon):
    got = pairwise_accuracy(*data, epsilon=epsilon)
    assert got.value == pytest.approx(loop_accuracy(*data, epsilon), abs=1e-12)


def test_accuracy_without_a_threshold_is_the_coefficient(data):
    assert pairwise_accuracy(*data).value == pytest.approx(
        correlate(*data, "text", "accuracy").value, abs=1e-12
    )
    assert pairwise_accuracy(*data, "system").value == pytest.approx(
        correlate(*data, "system", "accuracy").value, abs=1e-12
    )


@pytest.mark.parametrize("digits", [12, 1, 0])
def test_calibration_finds_the_best_threshold_of_all(data, digits):
    metric, human = np.round(data[0], digits), data[1]
    best = calibrate_ties(metric, human)
    gaps = {0.0}
    for x, y in zip(metric.T, human.T, strict=True):
        live = np.flatnonzero(np.isfinite(y))
        gaps |= {np.abs(x[i] - x[j]) for i, j in itertools.combinations(live, 2)}
    tried = {gap: loop_accuracy(metric, human, gap) for gap in gaps}
    assert best.value == pytest.approx(max(tried.values()), abs=1e-12)
    assert best.epsilon == min(g for g, a in tried.items() if a >= best.value - 1e-12)
    if digits > 0:
        assert best.epsilon > 0
        assert best.value > pairwise_accuracy(metric, human).value
    assert best.calibrated
    applied = pairwise_accuracy(metric, human, epsilon=best.epsilon)
    assert applied.value == pytest.approx(best.value, abs=1e-12)
    assert not applied.calibrated


def test_accuracy_counts_inputs_without_pairs():
    human = np.array([[1.0, 2.0], [2.0, np.nan]])
    got = pairwise_accuracy([[0.1, 0.2], [0.3, 0.4]], human)
    assert (got.value, got.pairs, got.rows_used, got.rows_undefined) == (1.0, 1, 1, 1)


def test_bad_calls_say_what_is_wrong():
    with pytest.raises(DataError, match="no input has two of the 1 systems"):
        calibrate_ties([[1.0, 2.0]], [[1.0, 2.0]])
    with pytest.raises(OptionError, match="epsilon is -1"):
        pairwise_accuracy(np.eye(2), np.eye(2), epsilon=-1)
    with pytest.raises(OptionError, match="not at 'segment'"):
        pairwise_accuracy(np.eye(2), np.eye(2), "segment")
    with pytest.raises(DataError, match="no two of the 2 systems share"):
        soft_pairwise_accuracy([[1.0, np.nan], [np.nan, 1.0]], np.ones((2, 2)))


def test_soft_accuracy_equals_exact_enumeration():
    """Four inputs have 16 swaps: many draws come close to their exact p-values."""
    rng = np.random.default_rng(8)
    metric, human = rng.normal(size=(2, 3, 4))

    def exact(values):
        p = []
        for i, j in itertools.combinations(range(3), 2):
            gap = values[i] - values[j]
            sums = [np.dot(s, gap) for s in itertools.product([-1, 1], repeat=4)]
            above = sum(s > gap.sum() + 1e-9 for s in sums)
            p.append((above + 0.5 * sum(abs(s - gap.sum()) <= 1e-9 for s in sums)) / 16)
        return np.array(p)

    want = 1 - np.abs(exact(metric) - exact(human)).mean()
    got = soft_pairwise_accuracy(metric, human, count=40_000)
    assert got.value == pytest.approx(want, abs=0.01)
    assert got.pairs == 3


def test_soft_accuracy_of_people_is_one_and_of_their_opposite_near_zero():
    rng = np.random.default_rng(0)
    human = rng.normal(size=(4, 200)) + np.arange(4)[:, None]
    assert soft_pairwise_accuracy(human, human).value == 1.0
    assert soft_pairwise_accuracy(-human, human).value < 0.01


def test_two_equal_systems_are_a_coin_toss_for_the_metric():
    """p = 1/2 for the metric, about 0 for people: half right, whichever system comes first."""
    human = np.random.default_rng(0).normal(size=(2, 100)) + np.array([[2.0], [0.0]])
    equal = np.tile(human[0], (2, 1))
    assert soft_pairwise_accuracy(equal, human).value == pytest.approx(0.5, abs=1e-3)
    assert soft_pairwise_accuracy(equal, human[::-1]).value == pytest.approx(0.5, abs=1e-3)


def test_soft_accuracy_is_seeded_and_counts_pairs_without_common_inputs():
    rng = np.random.default_rng(0)
    metric, human = rng.normal(size=(2, 3, 30))
    human[0, 10:] = np.nan
    human[1, :10] = np.nan
    first = soft_pairwise_accuracy(metric, human, seed=4)
    assert first == soft_pairwise_accuracy(metric, human, seed=4)
    assert first.value != soft_pairwise_accuracy(metric, human, seed=5).value
    assert (first.pairs, first.pairs_undefined) == (2, 1)
