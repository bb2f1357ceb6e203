"""daRR pairs and the Kendall-like tau against loops and constants."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.darr import (
    RankedPairs,
    bootstrap_kendall_like,
    kendall_like,
    pairs_from_names,
    pairs_from_scores,
)
from nlgauge.stats.intervals import resample_weights


def loop_pairs(human, threshold):
    found = set()
    for segment in range(human.shape[1]):
        for i, j in itertools.permutations(range(human.shape[0]), 2):
            if human[i, segment] - human[j, segment] >= threshold:
                found.add((segment, i, j))
    return found


def as_set(pairs):
    return set(
        zip(pairs.segment.tolist(), pairs.better.tolist(), pairs.worse.tolist(), strict=True)
    )


@pytest.mark.parametrize("seed", range(3))
def test_equals_a_brute_force_loop(seed):
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 101, (7, 30)).astype(float)
    human[rng.random(human.shape) < 0.3] = np.nan
    metric = rng.integers(0, 5, human.shape).astype(float)
    pairs = pairs_from_scores(human)
    want = loop_pairs(human, 25)
    assert as_set(pairs) == want
    assert len(pairs) == len(want)
    won = sum(metric[i, s] > metric[j, s] for s, i, j in want)
    tied = sum(metric[i, s] == metric[j, s] for s, i, j in want)
    got = kendall_like(metric, pairs)
    assert (got.concordant, got.discordant, got.ties) == (won, len(want) - won, tied)
    assert tied > 0
    assert got.value == pytest.approx((2 * won - len(want)) / len(want), abs=1e-15)


def test_ties_are_discordant():
    # Ten pairs less that of 70 and 70; the metric ties both of 70 and 40.
    pairs = pairs_from_scores(np.array([[100.0], [70.0], [70.0], [40.0], [0.0]]))
    got = kendall_like(np.array([[0.9], [0.8], [0.8], [0.8], [0.1]]), pairs)
    assert (len(pairs), got.concordant, got.discordant, got.ties) == (9, 7, 2, 2)
    assert got.value == pytest.approx((7 - 2) / 9, abs=1e-12)


def test_threshold_is_inclusive():
    assert len(pairs_from_scores([[50.0], [25.0]])) == 1
    assert len(pairs_from_scores([[50.0], [25.001]])) == 0
    # Means of three assessments: 32 2/3 - 7 2/3 is 25 for people.
    assert 98 / 3 - 23 / 3 < 25
    assert len(pairs_from_scores([[98 / 3], [23 / 3]])) == 1


def test_ulps_are_ties():
    pairs = pairs_from_scores([[90.0], [10.0]])
    got = kendall_like([[np.nextafter(0.3, 1)], [0.3]], pairs)
    assert (got.value, got.ties) == (-1.0, 1)


def test_missing_metric_scores_are_counted():
    pairs = pairs_from_scores([[90.0, 90.0], [10.0, 10.0]])
    got = kendall_like([[1.0, np.nan], [0.0, 0.0]], pairs)
    assert (got.value, got.pairs_missing) == (1.0, 1)
    nothing = kendall_like(np.full((2, 2), np.nan), pairs)
    assert np.isnan(nothing.value)
    assert nothing.pairs_missing == 2


def test_one_system_makes_no_pairs():
    pairs = pairs_from_scores([[90.0, 10.0]])
    assert len(pairs) == 0
    assert np.isnan(kendall_like([[1.0, 2.0]], pairs).value)


def test_given_pairs_are_looked_up_by_name():
    pairs = pairs_from_names([("s2", "b", "a"), ("s1", "a", "b")], ["a", "b"], ["s1", "s2"])
    assert as_set(pairs) == {(1, 1, 0), (0, 0, 1)}


def test_78_000_pairs():
    rng = np.random.default_rng(0)
    human, metric = rng.integers(0, 101, (16, 1150)).astype(float), rng.random((16, 1150))
    pairs = pairs_from_scores(human)
    better = human[:, None] - human[None] >= 25
    won = int((better & (metric[:, None] > metric[None])).sum())
    assert len(pairs) == better.sum() > 78_000
    assert kendall_like(metric, pairs).value == pytest.approx(2 * won / len(pairs) - 1, abs=1e-12)


def test_invalid_pairs_are_refused():
    with pytest.raises(DataError, match=r"1 systems and 0 segments .*'c'"):
        pairs_from_names([("s", "a", "c")], ["a", "b"], ["s"])
    with pytest.raises(DataError, match="compare a system with itself"):
        pairs_from_names([("s", "a", "a")], ["a", "b"], ["s"])
    with pytest.raises(OptionError, match="threshold is 0"):
        pairs_from_scores([[1.0], [2.0]], 0)
    one = np.array([0])
    with pytest.raises(ShapeError, match=r"system 1 and segment 0 .* 1 systems and 3 segments"):
        kendall_like([[1.0, 2.0, 3.0]], RankedPairs(one, one, one + 1))
    with pytest.raises(ShapeError, match="1 segments, 1 better and 2 worse"):
        RankedPairs(one, one, np.array([0, 1]))


def test_the_interval_draws_segments_with_all_their_pairs():
    rng = np.random.default_rng(5)
    human, metric = rng.integers(0, 101, (4, 30)).astype(float), rng.random((4, 30))
    metric[2, 3] = np.nan
    pairs = pairs_from_scores(human)
    got = bootstrap_kendall_like(metric, pairs, count=50, seed=2)
    assert got.value == pytest.approx(kendall_like(metric, pairs).value)
    assert got.over == "segments"
    # Draw the same segments by copying their pairs.
    scored = np.isfinite(metric[pairs.better, pairs.segment] + metric[pairs.worse, pairs.segment])
    kept = [part[scored] for part in (pairs.segment, pairs.better, pairs.worse)]
    segments = np.unique(kept[0])
    taus = []
    for weights in resample_weights(segments.size, 50, np.random.default_rng(2)):
        times = dict(zip(segments.tolist(), weights.astype(int).tolist(), strict=True))
        index = np.repeat(np.arange(kept[0].size), [times[s] for s in kept[0].tolist()])
        taus.append(kendall_like(metric, RankedPairs(*(part[index] for part in kept))).value)
    assert (got.low, got.high) == pytest.approx(tuple(np.quantile(taus, [0.025, 0.975])))


def test_intervals_without_pairs_are_refused():
    pairs = pairs_from_scores([[90.0], [10.0]])
    with pytest.raises(DataError, match="none of the 1 pairs has two metric scores"):
        bootstrap_kendall_like([[1.0], [np.nan]], pairs)
