"""Preference by score difference, against brute force, closed forms and known truths."""

from __future__ import annotations

import itertools
from statistics import NormalDist

import numpy as np
import pytest

from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.calibration import (
    ScorePairs,
    calibrate,
    fit_isotonic,
    fit_logistic,
    score_pairs,
)


def minimax(y, w):
    """Isotonic regression as the largest of the smallest means of intervals around a place."""
    n = len(y)

    def mean(a, b):
        return np.dot(y[a : b + 1], w[a : b + 1]) / w[a : b + 1].sum()

    return [max(min(mean(a, b) for b in range(i, n)) for a in range(i + 1)) for i in range(n)]


@pytest.mark.parametrize("seed", range(6))
def test_isotonic_is_the_minimax_of_means(seed):
    rng = np.random.default_rng(seed)
    y, w = rng.integers(0, 4, 14) / 3, rng.uniform(0.1, 3, 14)
    assert fit_isotonic(y, w) == pytest.approx(minimax(y, w), abs=1e-12)
    assert fit_isotonic(y) == pytest.approx(minimax(y, np.ones(14)), abs=1e-12)


def test_no_increasing_sequence_of_a_grid_is_nearer():
    rng = np.random.default_rng(1)
    y, w = rng.random(5), rng.uniform(0.5, 2, 5)
    best = (w * (fit_isotonic(y, w) - y) ** 2).sum()
    grid = itertools.combinations_with_replacement(np.linspace(0, 1, 21), 5)
    errors = [(w * (np.array(each) - y) ** 2).sum() for each in grid]
    assert best <= min(errors)
    assert best == pytest.approx(min(errors), abs=0.02)


def test_isotonic_limits():
    assert fit_isotonic([1, 2, 3]).tolist() == [1, 2, 3]
    assert fit_isotonic([3, 2, 1]).tolist() == [2, 2, 2]
    assert fit_isotonic([0.5]).tolist() == [0.5]
    with pytest.raises(ShapeError, match=r"\(2,\) need as many weights, not \(1,\)"):
        fit_isotonic([1, 2], [1])
    with pytest.raises(DataError, match="positive weights"):
        fit_isotonic([1, 2], [1, 0])
    with pytest.raises(DataError, match="finite values"):
        fit_isotonic([1, np.nan])


def test_the_logistic_slope_makes_the_gradient_zero():
    rng = np.random.default_rng(2)
    x, y = rng.exponential(2, 40), (rng.random((7, 40)) < 0.85).astype(float)
    w = rng.integers(0, 3, (7, 40)).astype(float)
    slopes = fit_logistic(x, y, w)
    p = 1 / (1 + np.exp(-slopes[:, None] * x))
    assert (slopes > 0).all()
    assert (w * x * (y - p)).sum(axis=1) == pytest.approx(np.zeros(7), abs=1e-9)


def test_logistic_limits():
    """One difference has the log odds as its slope; agreement of all pairs has none."""
    share = 0.8
    assert fit_logistic([2], [[share]], [[10]])[0] == pytest.approx(np.log(4) / 2)
    assert fit_logistic([1, 2], [[1, 1]], [[1, 1]])[0] == np.inf
    assert fit_logistic([1, 2], [[1, 0]], [[1, 0]])[0] == np.inf
    assert fit_logistic([1, 2], [[0, 0]], [[1, 1]])[0] == pytest.approx(0, abs=1e-9)
    assert np.isnan(fit_logistic([1, 2], [[1, 1]], [[0, 0]])[0])
    for shapes in (([1, 2], [1], [1]), ([], [], [])):
        with pytest.raises(ShapeError, match="need rows of as many preferences and weights"):
            fit_logistic(*shapes)
    small = fit_logistic([1e-9, 2e-9], [[0.7, 0.8]], [[1, 1]])[0]
    assert small == pytest.approx(fit_logistic([1, 2], [[0.7, 0.8]], [[1, 1]])[0] * 1e9)


def loop(x, y):
    """All pairs of cells of one input: difference, preference, input."""
    found = []
    for column in range(x.shape[1]):
        for a, b in itertools.combinations(range(x.shape[0]), 2):
            cells = [x[a, column], x[b, column], y[a, column], y[b, column]]
            if np.isfinite(cells).all() and cells[0] != cells[1]:
                better, worse = (a, b) if cells[0] > cells[1] else (b, a)
                gap = y[better, column] - y[worse, column]
                prefer = 1.0 if gap > 0 else 0.0 if gap < 0 else 0.5
                found.append((x[better, column] - x[worse, column], prefer, column))
    return found


@pytest.fixture
def matrices():
    rng = np.random.default_rng(3)
    x, y = (rng.integers(0, 5, (5, 12)).astype(float) for _ in range(2))
    x[rng.random(x.shape) < 0.15] = np.nan
    y[rng.random(y.shape) < 0.15] = np.nan
    return x, y


def test_pairs_of_one_input_are_those_of_a_loop(matrices):
    found = score_pairs(*matrices)
    rows = zip(found.differences, found.preferences, found.units[:, 0], strict=True)
    expected = loop(*matrices)
    assert sorted(rows) == sorted(expected)
    assert (found.units[:, 0] == found.units[:, 1]).all()
    assert found.human_ties == sum(prefer == 0.5 for _, prefer, _ in expected)
    assert found.agreement == pytest.approx(np.mean([prefer for _, prefer, _ in expected]))
    assert len(found.without_ties()) == len(found) - found.human_ties


def test_pairs_of_systems_are_those_of_their_means(matrices):
    x, y = matrices
    both = np.isfinite(x) & np.isfinite(y)
    means = [np.array([row[k].mean() for row, k in zip(m, both, strict=True)]) for m in (x, y)]
    found = score_pairs(x, y, "system")
    expected = loop(means[0][:, None], means[1][:, None])
    assert sorted(found.differences) == pytest.approx(sorted(gap for gap, _, _ in expected))
    assert found.preferences.sum() == sum(prefer for _, prefer, _ in expected)
    assert {tuple(pair) for pair in found.units.tolist()} <= set(
        itertools.combinations(range(5), 2)
    )


def test_pairs_of_segments_are_those_of_all_outputs(matrices):
    x, y = matrices
    both = np.isfinite(x) & np.isfinite(y)
    found = score_pairs(x, y, "segment")
    expected = loop(x[both][:, None], y[both][:, None])
    assert sorted(found.differences) == sorted(gap for gap, _, _ in expected)
    assert found.preferences.sum() == sum(prefer for _, prefer, _ in expected)
    assert found.metric_ties + len(found) == both.sum() * (both.sum() - 1) // 2
    assert len(score_pairs(x, y, "segment", most=50)) <= 50


def test_the_transposed_order_of_systems_changes_nothing(matrices):
    x, y = matrices
    one, other = (calibrate(score_pairs(a, b), count=50) for a, b in ((x, y), (x[::-1], y[::-1])))
    assert one.probabilities == pytest.approx(other.probabilities)
    assert one.low == pytest.approx(other.low)


def test_the_curve_is_isotonic_at_the_differences_and_at_least_half(matrices):
    pairs = score_pairs(*matrices)
    found = calibrate(pairs, count=200)
    gaps = np.unique(pairs.differences)
    shares = [pairs.preferences[pairs.differences == gap].mean() for gap in gaps]
    counts = [(pairs.differences == gap).sum() for gap in gaps]
    expected = np.maximum(minimax(np.array(shares), np.array(counts)), 0.5)
    assert found.differences.tolist() == [0, *gaps]
    assert (found.low[0], found.high[0]) == (0.5, found.high[1])
    assert found.probabilities == pytest.approx([0.5, *expected])
    assert (found.low <= found.probabilities + 1e-12).all()
    assert (found.high >= found.probabilities - 1e-12).all()


@pytest.mark.parametrize("fit", ["isotonic", "logistic"])
def test_a_known_curve_is_found(fit):
    """Normal scores: P(human difference > 0 | score difference x) = Phi(r x / sqrt(2 (1-r^2)))."""
    rng = np.random.default_rng(4)
    r = 0.5
    x = rng.normal(size=(6, 1500))
    y = r * x + np.sqrt(1 - r**2) * rng.normal(size=x.shape)
    found = calibrate(score_pairs(x, y), fit, count=100)
    for gap in (0.3, 1.0, 2.0, 3.0):
        truth = NormalDist().cdf(r * gap / np.sqrt(2 * (1 - r**2)))
        value, low, high = found.at(gap)
        assert value == pytest.approx(truth, abs=0.03)
        assert low - 0.01 < truth < high + 0.01
        reverse = found.at(-gap)
        assert reverse == pytest.approx((1 - value, 1 - high, 1 - low))
    assert found.at(0) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize("fit", ["isotonic", "logistic"])
def test_agreement_of_all_pairs_is_certain_only_as_far_as_the_data_goes(fit):
    x = np.arange(1, 6.0)[:, None] * [1.0, 2.0]
    found = calibrate(score_pairs(x, x), fit, count=100)
    value, low, high = found.at(3)
    assert (value, high) == (1.0, 1.0)
    assert low == pytest.approx(0.5)  # .025^(1/2) of two inputs is .16
    assert found.at(0.5)[0] == pytest.approx(0.75, abs=0.02)  # half of the smallest difference
    many = calibrate(score_pairs(np.tile(x, 50), np.tile(x, 50)), fit, count=20)
    assert many.at(3)[1] == pytest.approx(0.025 ** (1 / 100))


@pytest.mark.parametrize("fit", ["isotonic", "logistic"])
def test_a_metric_that_contradicts_people_is_no_better_than_chance(fit):
    x = np.random.default_rng(5).normal(size=(4, 60))
    assert calibrate(score_pairs(x, -x), fit, count=20).at(1)[0] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("fit", ["isotonic", "logistic"])
def test_one_pair_has_no_narrow_interval(fit):
    found = calibrate(score_pairs([[2.0], [1.0]], [[5], [3]], "system"), fit, count=50)
    value, low, high = found.at(1)
    assert (value, low, high) == (1.0, 0.5, 1.0)
    assert found.covers(1)
    assert not found.covers(1.01)


def test_many_pairs_are_averaged_in_groups():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(2, 3, 800))
    found = calibrate(score_pairs(x, y), count=5)
    assert found.differences.size == 201
    assert (np.diff(found.differences) > 0).all()


def test_a_logistic_curve_has_equidistant_differences():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(4, 30))
    pairs = score_pairs(x, x + rng.normal(size=x.shape))
    found = calibrate(pairs, "logistic", count=20)
    assert found.differences == pytest.approx(np.linspace(0, pairs.differences.max(), 201))
    every = np.ones((1, len(pairs)))
    (slope,) = fit_logistic(pairs.differences, pairs.preferences[None], every)
    assert slope > 0
    assert found.probabilities == pytest.approx(1 / (1 + np.exp(-slope * found.differences)))


def test_differences_that_are_equal_up_to_rounding_are_one():
    rows = [(0.3, 1), (0.1 + 0.2, 0), (0.3, 1), (0.1 + 0.2, 1), (0.6 - 0.3, 1), (1.0, 1)]
    scores = np.array([[gap for gap, _ in rows], [0.0] * len(rows)])
    human = np.array([[win for _, win in rows], [0.5] * len(rows)])
    found = calibrate(score_pairs(scores, human), count=20)
    assert found.differences == pytest.approx([0, 0.3, 1])
    assert found.at(0.3)[0] == pytest.approx(0.8)


def test_two_judged_outputs_make_one_pair():
    found = score_pairs([3, np.nan, 1], [80, 10, 20], "segment")
    assert (found.differences.tolist(), found.preferences.tolist()) == ([2.0], [1.0])
    assert found.units.tolist() in ([[0, 2]], [[2, 0]])


def test_invalid_input_is_refused():
    with pytest.raises(DataError, match="all 6 pairs at the text level have equal scores"):
        score_pairs(np.ones((3, 2)), np.arange(6).reshape(3, 2))
    with pytest.raises(DataError, match=r"no pair at the text level.*--level segment"):
        score_pairs([1, 2, 3], [1, 2, 3])
    with pytest.raises(DataError, match="needs two judged systems"):
        score_pairs([1, 2, 3], [1, 2, 3], "system")
    for level in ("by_system", "document"):
        with pytest.raises(OptionError, match=f"not at the {level} level"):
            score_pairs(np.eye(2), np.eye(2), level)
    with pytest.raises(DataError, match="1 judged output makes no pair"):
        score_pairs([1, np.nan], [1, 2], "segment")
    with pytest.raises(DataError, match="none of the 2 cells is filled"):
        score_pairs([1, np.nan], [np.nan, 2])
    pairs = score_pairs([[1, 5], [2, 3]], [[1, 1], [1, 1]])
    assert pairs.human_ties == 2
    assert calibrate(pairs, count=10).at(2)[0] == 0.5
    with pytest.raises(DataError, match="use ties='half'"):
        calibrate(pairs.without_ties())
    with pytest.raises(OptionError, match="'isotonic' or 'logistic'"):
        calibrate(pairs, "linear")
    with pytest.raises(OptionError, match="confidence is 95"):
        calibrate(pairs, confidence=95)
    with pytest.raises(OptionError, match="give a finite number"):
        calibrate(pairs, count=10).at(float("nan"))
    assert len(ScorePairs(np.empty(0), np.empty(0), np.empty((0, 2), int), 0, 0)) == 0
