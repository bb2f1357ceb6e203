"""The three levels against constants, and everything that can be missing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.levels import correlate, per_input


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall_b"])
def test_golden_levels(golden, coefficient):
    levels = golden["levels"]
    human = np.array(levels["human_rows_are_texts_cols_are_systems"]).T
    metric = np.array(levels["metric"]).T
    want = levels[coefficient]
    got = {
        level: correlate(metric, human, level, coefficient)
        for level in ("text", "system", "segment")
    }
    assert got["text"].value == pytest.approx(want["text_level_mean"], abs=1e-9)
    assert got["system"].value == pytest.approx(want["system_level"], abs=1e-9)
    assert got["segment"].value == pytest.approx(want["segment_level_flat"], abs=1e-9)
    assert per_input(metric, human, coefficient) == pytest.approx(want["per_text"], abs=1e-9)
    assert (got["text"].n, got["system"].n, got["segment"].n) == (12, 4, 12)
    assert got["text"].rows_used == 3


@pytest.mark.parametrize(
    ("alias", "level"),
    [("global", "segment"), ("flat", "segment"), ("input", "text"), ("summary", "text")],
)
def test_aliases_are_the_same_result(alias, level):
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 4, 6))
    assert correlate(x, y, alias) == correlate(x, y, level)


def test_system_level_averages_judged_inputs_only():
    human = np.array([[1.0, 2.0, np.nan], [3.0, np.nan, 5.0], [6.0, 1.0, 1.0]])
    metric = np.array([[0.1, 0.4, 9.0], [0.5, -9.0, 0.6], [0.3, 0.2, 0.1]])
    want = stats.pearsonr([0.25, 0.55, 0.2], [1.5, 4.0, 8 / 3]).statistic
    got = correlate(metric, human, "system")
    assert got.value == pytest.approx(want, abs=1e-12)
    assert (got.n, got.cells, got.cells_without_human, got.cells_without_metric) == (3, 7, 2, 0)


def test_undefined_rows_are_counted_and_not_zero():
    human = np.array([[1.0, 2.0, 5.0], [2.0, 2.0, 4.0], [3.0, 2.0, np.nan]])
    metric = np.array([[1.0, 0.1, 1.0], [2.0, 0.2, np.nan], [3.0, 0.3, 1.0]])
    got = correlate(metric, human, "text")
    # Input 0 is perfect, input 1 has constant people, input 2 a single common system.
    assert got.value == 1.0
    assert (got.rows_used, got.rows_undefined, got.n) == (1, 2, 3)
    assert (got.cells_without_metric, got.cells_without_human) == (1, 1)
    assert np.isnan(per_input(metric, human)[1:]).all()


def test_one_judged_system():
    human = np.full((3, 4), np.nan)
    human[1] = [1.0, 2.0, 3.0, 5.0]
    metric = np.arange(12.0).reshape(3, 4) ** 2
    system, text = correlate(metric, human, "system"), correlate(metric, human, "text")
    assert np.isnan(system.value)
    assert system.reason == "1 judged system; the system level compares at least 2"
    assert np.isnan(text.value)
    assert text.rows_undefined == 4
    segment = correlate(metric, human, "segment")
    assert segment.value > 0.9
    assert (segment.n, segment.reason) == (4, "")


@pytest.mark.parametrize(
    ("metric", "human", "level", "reason"),
    [
        ([[1.0, 2.0]], [[np.nan, np.nan]], "segment", "no cell has both"),
        ([[1.0, 2.0]], [[1.0, np.nan]], "segment", "only 1 cell is both"),
        ([[1.0, 1.0]], [[1.0, 2.0]], "segment", "all 2 cells are constant"),
        ([[1.0], [1.0]], [[1.0], [2.0]], "system", "the 2 systems are constant"),
        ([[1.0, np.nan], [np.nan, 2.0]], [[1.0, 2.0], [3.0, 4.0]], "text", "no input has 2"),
    ],
)
def test_undefined_says_why(metric, human, level, reason):
    got = correlate(metric, human, level)
    assert np.isnan(got.value)
    assert reason in got.reason


def test_a_vector_is_one_pseudo_system():
    x, y = [1.0, 2.0, 4.0], [1.0, 3.0, 2.0]
    assert correlate(x, y).value == pytest.approx(stats.pearsonr(x, y).statistic)


def test_bad_calls_say_what_is_wrong():
    with pytest.raises(OptionError, match=r"'document'.*segment, text, system"):
        correlate([[1.0, 2.0]], [[1.0, 2.0]], "document")
    with pytest.raises(ShapeError, match=r"2 systems x 3 inputs.*3 x 2; one looks transposed"):
        correlate(np.ones((2, 3)), np.ones((3, 2)))
    with pytest.raises(DataError, match="1 infinite values of 2"):
        correlate([[np.inf, 1.0]], [[1.0, 2.0]])
