"""Tie calibration and soft pairwise accuracy against loops and known answers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from nlgauge.core.errors import DataError, OptionError
from nlgauge.stats import bootstrap_correlation, correlate, permutation_test
from nlgauge.stats.accuracy import (
    calibrate_ties,
    chance_accuracy,
    pairwise_accuracy,
    soft_pairwise_accuracy,
)


def loop_accuracy(metric, human, epsilon):
    """Return the mean over inputs of the share of right decisions, as in the paper."""
    inputs = []
    for x, y in zip(metric.T, human.T, strict=True):
        live = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        right = []
        for i, j in itertools.combinations(live, 2):
            decision = 0 if abs(x[i] - x[j]) <= epsilon else np.sign(x[i] - x[j])
            right.append(decision == np.sign(y[i] - y[j]))
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
    human = np.array([[1.0, 2.0, np.nan], [2.0, np.nan, 3.0]])
    got = pairwise_accuracy([[0.1, 0.2, 0.5], [0.3, 0.4, 0.6]], human)
    assert (got.value, got.pairs, got.rows_used, got.rows_undefined) == (1.0, 1, 1, 2)


def test_invalid_arguments_are_refused():
    with pytest.raises(DataError, match="no input has two of the 1 systems"):
        calibrate_ties([[1.0, 2.0]], [[1.0, 2.0]])
    with pytest.raises(OptionError, match="epsilon is -1"):
        pairwise_accuracy(np.eye(2), np.eye(2), epsilon=-1)
    for level in ("segment", "by_system", "document"):
        with pytest.raises(OptionError, match=f"not at '{level}'"):
            pairwise_accuracy(np.eye(2), np.eye(2), level)
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


@pytest.mark.filterwarnings("error")
def test_soft_accuracy_of_one_system_is_undefined():
    found = correlate([[1.0, 2.0]], [[1.0, 3.0]], "system", "spa")
    assert np.isnan(found.value)
    assert found.reason == "1 judged system; the system level compares at least 2"


def test_two_equal_systems_have_p_one_half_for_the_metric():
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


def reference_soft_accuracy(metric, human, count=1000, seed=4):
    """Soft pairwise accuracy as in mt-metrics-eval's pce.py."""

    def p_values(scores):
        rng = np.random.default_rng(seed)
        mask = rng.random(size=(count, scores.shape[1]), dtype=np.float32)
        np.rint(mask, out=mask, casting="same_kind")
        mask = mask * 2.0 - 1.0
        scores = scores.astype(np.float32)
        sums, partial = np.sum(scores, axis=1), np.matmul(mask, scores.T)
        return np.array(
            [
                np.sum(partial[:, i] - partial[:, j] >= sums[i] - sums[j]) / count
                for i, j in itertools.combinations(range(len(scores)), 2)
            ]
        )

    return 1.0 - np.mean(np.abs(p_values(human) - p_values(metric)))


def test_soft_accuracy_has_the_numbers_of_mt_metrics_eval():
    human, metric = np.array([[1, 2, 3], [2, 3, 4]]), np.array([[2, 2, 4], [1, 3, 5]])
    found = soft_pairwise_accuracy(metric, human, compat="mt-metrics-eval")
    assert found.value == pytest.approx(0.872, abs=5e-4)  # its stats_test.py
    rng = np.random.default_rng(0)
    human = rng.integers(0, 5, (5, 30)).astype(float)
    metric = human + rng.integers(-1, 2, human.shape)
    found = soft_pairwise_accuracy(metric, human, compat="mt-metrics-eval")
    assert found.value == pytest.approx(reference_soft_accuracy(metric, human), abs=1e-12)
    assert found.pairs == 10
    human[:, 3] = np.nan  # an input that was not judged
    kept = np.arange(30) != 3
    found = soft_pairwise_accuracy(metric, human, compat="mt-metrics-eval")
    expected = reference_soft_accuracy(metric[:, kept], human[:, kept])
    assert found.value == pytest.approx(expected, abs=1e-12)


def test_only_mid_p_does_not_depend_on_the_order_of_systems():
    human = np.array([[1, 1, 2], [1, 2, 2], [3, 2, 2]], dtype=float)
    metric = np.array([[2, 1, 2], [1, 1, 2], [1, 2, 2]], dtype=float)
    orders = [list(order) for order in itertools.permutations(range(3))]

    def values(**options):
        return {
            round(soft_pairwise_accuracy(metric[order], human[order], **options).value, 9)
            for order in orders
        }

    assert len(values()) == 1
    assert len(values(compat="mt-metrics-eval")) > 1


def test_compat_names_its_requirements():
    gap = [[1, 2, np.nan], [1, 2, 3]]
    with pytest.raises(DataError, match="1 of 3 inputs lack some of the 2 systems"):
        soft_pairwise_accuracy(gap, gap, compat="mt-metrics-eval")
    with pytest.raises(OptionError, match="it is None or 'mt-metrics-eval'"):
        soft_pairwise_accuracy(gap, gap, compat="mtme")


def test_chance_level_equals_enumeration():
    human = np.array([[1, 2], [1, 3], [2, 2]], dtype=float)
    metric = np.array([[1, 5], [2, 4], [4, 4]], dtype=float)
    shuffles = [
        calibrate_ties(np.column_stack([metric[list(a), 0], metric[list(b), 1]]), human).value
        for a in itertools.permutations(range(3))
        for b in itertools.permutations(range(3))
    ]
    found = chance_accuracy(metric, human, count=4000)
    assert found.value == pytest.approx(np.mean(shuffles), abs=0.01)
    assert found.low <= found.value <= found.high


def test_chance_level_of_incomplete_and_constant_data(data):
    metric, human = data
    found = chance_accuracy(metric, human)
    ties = pairwise_accuracy(0 * metric, human).value
    assert max(ties, 0.25) <= found.value < calibrate_ties(metric, human).value
    assert chance_accuracy(0 * metric, human).value == pytest.approx(ties)
    assert 0 < chance_accuracy(metric, human, "system").value < 1


def test_both_are_coefficients(data):
    metric, human = data
    for level in ("text", "system"):
        expected = calibrate_ties(metric, human, level).value
        assert correlate(metric, human, level, "acc_eq").value == pytest.approx(expected)
    expected = soft_pairwise_accuracy(metric, human).value
    assert correlate(metric, human, "system", "spa").value == pytest.approx(expected)
    drawn = bootstrap_correlation(metric, human, "text", "acc_eq", count=50)
    assert drawn.low < drawn.value < drawn.high
    tested = permutation_test(human + 0.0, metric, human, "system", "spa", count=50)
    assert tested.difference == pytest.approx(1 - expected)
    with pytest.raises(OptionError, match="spa is defined at the system level, not at the segment"):
        correlate(metric, human, "segment", "spa")
    alone = correlate([[1, 2, 3]], [[1, 2, 3]], "text", "acc_eq")
    assert (alone.n, alone.rows_undefined) == (0, 1)
    assert "1 judged system" in alone.reason


def loop_pairwise_pearson(metric, human):
    dx, dy = [], []
    for x, y in zip(metric.T, human.T, strict=True):
        live = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        for i, j in itertools.permutations(live, 2):
            dx.append(x[i] - x[j])
            dy.append(y[i] - y[j])
    return stats.pearsonr(dx, dy).statistic


def test_pairwise_pearson_equals_a_loop(data):
    found = correlate(*data, "text", "pdp")
    assert found.coefficient == "pairwise_pearson"
    assert found.value == pytest.approx(loop_pairwise_pearson(*data), abs=1e-12)


@pytest.mark.parametrize(
    ("human", "metric", "value"),
    [
        ([1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 3, 7], 0.926),
        ([1, 5, np.nan, 10, 2, 12], [3, 15, 1, 20, 4, 24], 0.968),
    ],
)
def test_pairwise_pearson_has_the_numbers_of_mt_metrics_eval(human, metric, value):
    x, y = np.reshape(metric, (2, 3)), np.reshape(human, (2, 3))
    assert correlate(x, y, "text", "pairwise_pearson").value == pytest.approx(value, abs=5e-4)


def test_pairwise_pearson_without_differences_is_undefined():
    assert np.isnan(correlate([[1, 2], [1, 2]], [[1, 2], [3, 4]], "text", "pdp").value)


def test_differences_that_are_equal_up_to_rounding_are_on_one_side_of_the_threshold():
    scores, ties = [[0.7], [0.8], [0.9]], [[1], [1], [1]]  # .8 - .7 > .1 > .9 - .8
    assert pairwise_accuracy(scores, ties, epsilon=0.1).value == pytest.approx(2 / 3)
    # A threshold of .1 makes both pairs ties or none: one of them is wrong.
    found = calibrate_ties([[0.7, 0.8], [0.8, 0.9]], [[1, 1], [2, 1]])
    assert found.value == 0.5
    other = calibrate_ties([[0.7, 0.8], [0.8, 0.9]], [[1, 1], [1, 2]])
    assert other.value == 0.5
