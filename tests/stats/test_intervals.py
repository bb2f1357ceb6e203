"""Bootstrap intervals: coverage, seeds, memory chunks and definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats import validation
from nlgauge.stats.intervals import (
    bootstrap,
    bootstrap_correlation,
    bootstrap_difference,
    fisher_interval,
    resample_weights,
)
from nlgauge.stats.judge_bias import length_bias
from nlgauge.stats.levels import correlate
from nlgauge.stats.rater_agreement import bootstrap_agreement
from nlgauge.stats.span_agreement import bootstrap_f1


def mean(total):
    return total[0] / total[1]


def with_ones(values):
    return np.column_stack([values, np.ones(len(values))])


def test_weights_are_n_draws_with_replacement():
    weights = resample_weights(7, 4000, np.random.default_rng(0))
    assert weights.shape == (4000, 7)
    assert (weights.sum(axis=1) == 7).all()
    # Multinomial(7, 1/7): every mean is 1, every variance 6/7.
    np.testing.assert_allclose(weights.mean(axis=0), 1, atol=0.06)
    np.testing.assert_allclose(weights.var(axis=0), 6 / 7, atol=0.08)


def test_corpus_value_is_finish_of_the_sum():
    got = bootstrap([[1.0, 2.0], [3.0, 2.0]], lambda t: t[0] / t[1], count=50)
    assert got.value == 1.0
    assert 0.5 <= got.low <= got.high <= 1.5
    assert (got.count, got.undefined, got.over) == (50, 0, "segments")


def test_interval_of_a_mean_agrees_with_theory():
    values = np.random.default_rng(1).normal(5, 2, 400)
    got = bootstrap(with_ones(values), mean, count=4000, seed=2)
    half = 1.96 * values.std() / 20
    assert got.low == pytest.approx(values.mean() - half, abs=0.03)
    assert got.high == pytest.approx(values.mean() + half, abs=0.03)


def test_coverage_of_a_ratio_of_sums():
    """95 % intervals cover the truth in 95 % of 300 corpora, within 4 points (3 deviations)."""
    rng = np.random.default_rng(7)
    covered = 0
    for run in range(300):
        length = rng.integers(5, 30, 80).astype(float)
        matches = rng.binomial(length.astype(int), 0.4).astype(float)
        got = bootstrap(np.column_stack([matches, length]), mean, count=300, seed=run)
        covered += got.low <= 0.4 <= got.high
    assert covered / 300 == pytest.approx(0.95, abs=0.04)


def test_coverage_of_a_correlation_over_inputs():
    """95 % intervals for r = .6 from 100 segments cover it within 4 points of the time."""
    rng = np.random.default_rng(11)
    covered = 0
    for run in range(300):
        human = rng.normal(size=100)
        metric = 0.6 * human + 0.8 * rng.normal(size=100)
        got = bootstrap_correlation(metric, human, count=300, seed=run)
        covered += got.low <= 0.6 <= got.high
    assert covered / 300 == pytest.approx(0.95, abs=0.04)


@pytest.mark.parametrize("over", ["inputs", "systems", "both"])
@pytest.mark.parametrize("level", ["segment", "text", "system"])
def test_every_axis_and_level_brackets_the_value(over, level):
    rng = np.random.default_rng(2)
    human = rng.normal(size=(8, 40)) + rng.normal(size=(8, 1))
    metric = human + rng.normal(size=(8, 40)) + 2 * rng.normal(size=(8, 1))
    got = bootstrap_correlation(metric, human, level, "spearman", over=over, count=200)
    assert got.value == correlate(metric, human, level, "spearman").value
    assert got.low < got.value < got.high
    assert got.over == over


def test_resampling_systems_differs_from_resampling_inputs():
    """With few systems and many inputs, systems contribute most of the variance."""
    rng = np.random.default_rng(3)
    quality = rng.normal(size=(6, 1))
    human = quality + 0.5 * rng.normal(size=(6, 200))
    metric = quality + rng.normal(size=(6, 1)) + 0.5 * rng.normal(size=(6, 200))
    width = {}
    for over in ("inputs", "systems"):
        got = bootstrap_correlation(metric, human, "system", over=over, count=300)
        width[over] = got.high - got.low
    assert width["systems"] > 3 * width["inputs"]


def test_resampling_draws_whole_systems():
    """Two systems: one draw in two repeats a system, whose correlation over systems is none."""
    got = bootstrap_correlation(
        [[1.0, 2.0], [3.0, 5.0]], [[1.0, 1.0], [2.0, 2.0]], "system", over="systems", count=2000
    )
    assert got.undefined / 2000 == pytest.approx(0.5, abs=0.05)
    assert (got.low, got.high) == (1.0, 1.0)


@pytest.mark.parametrize(("over", "share"), [("inputs", 0.25), ("systems", 0.5), ("both", 0.625)])
def test_each_axis_is_drawn_when_it_should_be(over, share):
    """A system drawn twice (1/2) or the first input drawn twice (1/4) leaves no correlation."""
    human, metric = [[1.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [3.0, 5.0]]
    got = bootstrap_correlation(metric, human, "system", over=over, count=4000)
    assert got.undefined / 4000 == pytest.approx(share, abs=0.03)


def test_seed_gives_the_same_bits_and_leaves_global_state():
    rows = with_ones(np.random.default_rng(0).random(50))
    np.random.seed(5)
    before = np.random.get_state()[1].tolist()
    first = bootstrap(rows, mean, seed=3)
    assert first == bootstrap(rows, mean, seed=3)
    assert first == bootstrap(rows, mean, seed=np.random.default_rng(3))
    assert first.low != bootstrap(rows, mean, seed=4).low
    assert np.random.get_state()[1].tolist() == before


def test_chunks_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(0)
    rows, (metric, human) = with_ones(rng.random(41)), rng.random((2, 5, 41))
    whole = bootstrap(rows, mean, count=100)
    flat = bootstrap_correlation(metric, human, over="inputs", count=100)
    monkeypatch.setattr(validation, "CELLS_AT_ONCE", 450)
    sizes = validation.resample(lambda size, _: np.array([size]), 100, 0, cells=41)
    assert sizes.size > 5
    assert sizes.sum() == 100
    assert bootstrap(rows, mean, count=100) == whole
    assert bootstrap_correlation(metric, human, over="inputs", count=100) == flat


def test_undefined_resamples_are_counted():
    got = bootstrap([[0.0], [1.0]], lambda t: t[0] if t[0] > 0 else float("nan"), count=400)
    assert got.undefined == pytest.approx(100, abs=40)
    assert got.count + got.undefined == 400
    assert got.low > 0


def test_invalid_arguments_are_refused():
    with pytest.raises(OptionError, match=r"needs at least 2 systems, but there is 1.*inputs"):
        bootstrap_correlation([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], over="both")
    with pytest.raises(OptionError, match="'rows'"):
        bootstrap_correlation(np.eye(3), np.eye(3), over="rows")
    with pytest.raises(OptionError, match=r"confidence is 95"):
        bootstrap([1.0, 2.0], lambda t: t[0], confidence=95)
    with pytest.raises(OptionError, match="count is 0"):
        bootstrap([1.0, 2.0], lambda t: t[0], count=0)
    with pytest.raises(DataError, match="1 of 2 rows of rows have NaN"):
        bootstrap([1.0, np.nan], lambda t: t[0])
    with pytest.raises(ShapeError, match="at least one segment"):
        bootstrap([], lambda t: t[0])


@pytest.mark.parametrize("level", ["segment", "system", "text"])
@pytest.mark.parametrize("over", ["inputs", "systems", "both"])
def test_a_difference_is_drawn_alike_for_both_metrics(level, over):
    rng = np.random.default_rng(3)
    human = rng.normal(size=(4, 30))
    first, second = (human + rng.normal(size=human.shape) * noise for noise in (0.5, 1.5))
    how = {"over": over, "count": 60, "seed": 8}
    got = bootstrap_difference(first, second, human, level, "pearson", **how)
    drawn, rows, columns = [], np.arange(4), np.arange(30)
    draws = np.random.default_rng(8)
    picked = draws.integers(4, size=(60, 4)) if over != "inputs" else [rows] * 60
    places = draws.integers(30, size=(60, 30)) if over != "systems" else [columns] * 60
    for row, column in zip(picked, places, strict=True):
        cells = np.ix_(row, column)
        one, other = (correlate(m[cells], human[cells], level).value for m in (first, second))
        drawn.append(one - other)
    whole = [correlate(m, human, level).value for m in (first, second)]
    assert got.value == pytest.approx(whole[0] - whole[1])
    assert (got.low, got.high) == pytest.approx(tuple(np.nanquantile(drawn, [0.025, 0.975])))


def test_a_metric_is_no_better_than_itself():
    scores, human = np.random.default_rng(0).normal(size=(2, 3, 20))
    got = bootstrap_difference(scores, scores, human, count=50)
    assert (got.value, got.low, got.high) == (0, 0, 0)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_fisher_interval_equals_scipys(confidence):
    rng = np.random.default_rng(1)
    human = rng.normal(size=(5, 8))
    metric = human + rng.normal(size=human.shape)
    for level, x, y in (
        ("segment", metric.ravel(), human.ravel()),
        ("system", metric.mean(axis=1), human.mean(axis=1)),
    ):
        expected = stats.pearsonr(x, y)
        limits = expected.confidence_interval(confidence)
        found = fisher_interval(metric, human, level, confidence=confidence)
        assert found.value == pytest.approx(expected.statistic)
        assert (found.low, found.high) == pytest.approx((limits.low, limits.high))
        assert found.to_dict()["interval"] == "fisher"
    assert np.isnan(fisher_interval([1, 2, 4], [1, 3, 2]).low)
    perfect = fisher_interval([1, 2, 3, 4, 5], [1, 2, 3, 4, 5])
    assert (perfect.low, perfect.high) == (1, 1)
    with pytest.raises(OptionError, match="the text level has no single set of points"):
        fisher_interval(metric, human, "text")


@pytest.mark.parametrize("confidence", [0, 1, 1.5])
def test_confidence_lies_between_0_and_1(confidence):
    with pytest.raises(OptionError, match=f"confidence is {confidence}; it lies between 0 and 1"):
        fisher_interval([1, 2, 3, 5, 4], [2, 1, 4, 5, 3], confidence=confidence)


def test_fisher_interval_names_no_resamples():
    found = fisher_interval([1, 2, 3, 5, 4], [2, 1, 4, 5, 3])
    assert (found.count, found.undefined, found.over) == (0, 0, "")
    assert found.to_dict()["resampled"] is None
    drawn = bootstrap_correlation([1, 2, 3, 5, 4], [2, 1, 4, 5, 3], count=5)
    assert drawn.to_dict()["resampled"] == "inputs"


def test_a_single_unit_has_no_interval():
    """All its resamples are equal; limits without width would state certainty."""
    found = [
        bootstrap([[3, 1]], lambda total: total[0] / total[1], count=20),
        bootstrap_agreement([[1, 1], [2, 1], [2, 2]], clusters=["a"] * 3, count=20),
        length_bias([1, 2, 3], [1, 2, 4], clusters=["a"] * 3, count=20),
        bootstrap_f1([[2, 4, 4]], count=20),
    ]
    for each in found:
        assert np.isfinite(each.value)
        assert np.isnan([each.low, each.high]).all()
        assert (each.count, each.undefined) == (0, 20)
