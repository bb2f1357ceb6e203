"""Splits and sweeps: what was tuned on what, and tested on what."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.levels import correlate
from nlgauge.stats.selection import Split, split, sweep


def test_split_is_a_seeded_partition():
    parts = split(100, 0.3, seed=1)
    assert len(parts.tune) == 30
    assert sorted([*parts.tune, *parts.test]) == list(range(100))
    assert parts.tune.tolist() == split(100, 0.3, seed=1).tune.tolist()
    assert parts.tune.tolist() != split(100, 0.3, seed=2).tune.tolist()
    assert len(split(100).tune) == 50


def test_groups_stay_together():
    groups = [f"doc{i // 7}" for i in range(70)]
    parts = split(70, 0.5, seed=0, groups=groups)
    assert {groups[i] for i in parts.tune}.isdisjoint(groups[i] for i in parts.test)
    assert (len(parts.tune), parts.groups) == (35, 10)


@pytest.mark.parametrize(("fraction", "tuned"), [(0.01, 1), (0.99, 2)])
def test_neither_side_is_empty(fraction, tuned):
    parts = split(3, fraction)
    assert (len(parts.tune), len(parts.test)) == (tuned, 3 - tuned)


def test_invalid_splits_are_refused():
    with pytest.raises(OptionError, match="fraction is 1"):
        split(10, 1)
    with pytest.raises(ShapeError, match="10 items but 3 group labels"):
        split(10, groups=["a", "b", "c"])
    with pytest.raises(DataError, match="10 items in 1 groups"):
        split(10, groups=["a"] * 10)


def test_selection_looks_at_the_tuning_part_only():
    human = np.arange(8.0)
    parts = Split(np.arange(4), np.arange(4, 8), 8)
    scores = {
        "good on tune": np.array([0, 1, 2, 3, 7, 6, 5, 4.0]),
        "good on test": np.array([0, 2, 1, 3, 4, 5, 6, 7.0]),
    }
    got = sweep("layer", list(scores), scores, human, parts)
    assert got.chosen.value == "good on tune"
    assert got.chosen.tuned.value == pytest.approx(1.0)
    assert got.tested.value == pytest.approx(-1.0)
    assert [t.value for t in got.tried] == list(scores)


def test_labels_say_tuned_and_tested_on_what():
    rng = np.random.default_rng(0)
    human, metric = rng.normal(size=(2, 4, 20))
    got = sweep("t", [1], {1: metric}, human, split(20, 0.25), part_names=("cs-en", "de-en"))
    assert got.tuned_on == "5 inputs (cs-en)"
    assert got.tested_on == "15 inputs (de-en)"
    assert "tested on 15 inputs (de-en)" in str(got)
    assert "tuned on 5 inputs (cs-en)" in str(got)


def test_scores_are_computed_once_per_value_and_systems_may_be_split():
    rng = np.random.default_rng(0)
    human, noise = rng.normal(size=(2, 10, 6))
    asked = []

    def scores(value):
        asked.append(value)
        return human + value * noise

    parts = split(10, 0.5, seed=3)
    got = sweep("noise", [4.0, 0.5, 2.0], scores, human, parts, axis="systems", coefficient="tau")
    assert asked == [4.0, 0.5, 2.0]
    assert got.chosen.value == 0.5
    want = correlate((human + 0.5 * noise)[parts.test], human[parts.test], "segment", "tau")
    assert got.tested == want


def test_undefined_values_are_not_chosen_and_the_first_of_equals_is():
    human = np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0])
    parts = Split(np.arange(3), np.arange(3, 6), 6)
    scores = {"flat": np.ones(6), "one": human, "two": 2 * human}
    got = sweep("o", ["flat", "one", "two"], scores, human, parts, coefficient="kendall")
    assert got.chosen.value == "one"
    assert np.isnan(got.tried[0].tuned.value)
    with pytest.raises(DataError, match=r"none of the 1 values .*constant"):
        sweep("o", ["flat"], scores, human, parts)


def test_the_best_of_many_useless_options_is_worse_on_the_test_part():
    """With 60 useless options the tuned number is high and the tested one is not."""
    rng = np.random.default_rng(5)
    human = rng.normal(size=60)
    useless = {i: rng.normal(size=60) for i in range(60)}
    got = sweep("seed", list(useless), useless, human, split(60, 0.5, seed=0))
    assert got.chosen.tuned.value > 0.35
    assert got.tested.value < 0.25


def test_invalid_sweeps_are_refused():
    human = np.arange(6.0)
    parts = split(6)
    with pytest.raises(OptionError, match=r"no scores for t=2; the table has 1"):
        sweep("t", [2], {1: human}, human, parts)
    with pytest.raises(OptionError, match="at least 1"):
        sweep("t", [], {}, human, parts)
    with pytest.raises(OptionError, match="'columns'"):
        sweep("t", [1], {1: human}, human, parts, axis="columns")
    with pytest.raises(ShapeError, match=r"the scores at t=1 is 1 systems x 5 inputs"):
        sweep("t", [1], {1: human[:5]}, human, parts)
    with pytest.raises(DataError, match="1 inputs are in both"):
        sweep("t", [1], {1: human}, human, Split(np.array([0, 1]), np.array([1, 2]), 6))
    with pytest.raises(ShapeError, match="item 9"):
        sweep("t", [1], {1: human}, human, Split(np.array([0]), np.array([9]), 6))
    with pytest.raises(DataError, match="the tuning part has 0 inputs, the test part 1"):
        sweep("t", [1], {1: human}, human, Split(np.array([], dtype=int), np.array([0]), 6))
    with pytest.raises(DataError, match="the test part 0"):
        sweep("t", [1], {1: human}, human, Split(np.array([0]), np.array([], dtype=int), 6))
