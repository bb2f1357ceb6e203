"""Judgements and the grid: missing, duplicate and unknown entries are reported."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats import correlate
from nlgauge.stats.judgements import Grid, Judgements, MetricScores

ROWS = [
    ("a", "1", {"fluency": 3.0, "adequacy": 1.0}),
    ("a", "2", {"fluency": 4.0}),
    ("b", "1", {"fluency": 2.0, "adequacy": None}),
    ("b", "2", {"fluency": float("nan"), "adequacy": 5.0}),
]


@pytest.fixture
def judged():
    return Judgements.from_rows(ROWS)


def scores(*rows, direction="higher"):
    return MetricScores.from_rows("m", rows, direction)


ALL = (("a", "1", 0.3), ("a", "2", 0.4), ("b", "1", 0.2), ("b", "2", 0.9))


def test_rows_become_a_cube_with_nan_for_not_judged(judged):
    assert judged.systems == ("a", "b")
    assert judged.segments == ("1", "2")
    assert judged.criteria == ("fluency", "adequacy")
    np.testing.assert_array_equal(judged.matrix("fluency"), [[3, 4], [2, np.nan]])
    np.testing.assert_array_equal(judged.matrix("adequacy"), [[1, np.nan], [np.nan, 5]])


def test_judgements_cannot_be_written_to(judged):
    with pytest.raises(ValueError, match="read-only"):
        judged.values[0, 0, 0] = 9


def test_duplicates_are_named():
    with pytest.raises(DataError, match=r"1 \(system, segment\) pairs .*\('a', '1'\)"):
        Judgements.from_rows([*ROWS, ("a", "1", {"fluency": 3.0})])


def test_integer_and_string_ids_are_one_id():
    with pytest.raises(DataError, match="more than once"):
        Judgements.from_rows([("a", 1, {"x": 1.0}), ("a", "1", {"x": 2.0})])


def test_unknown_criterion_lists_the_known(judged):
    with pytest.raises(OptionError, match=r"no criterion 'style'; these 2 .*fluency, adequacy"):
        judged.matrix("style")


def test_text_for_a_number_is_refused():
    with pytest.raises(DataError, match=r"'x' of \('a', '1'\) is 'good'"):
        Judgements.from_rows([("a", "1", {"x": "good"})])


def test_no_rows_are_refused():
    with pytest.raises(DataError, match="0 rows"):
        Judgements.from_rows([])


def test_leaving_systems_out(judged):
    assert judged.without("a").systems == ("b",)
    with pytest.raises(OptionError, match=r"'c'; there are 'a', 'b'"):
        judged.without("c")
    with pytest.raises(DataError, match="all 2 systems"):
        judged.without("a", "b")


def test_scores_are_matched_by_name_not_by_position(judged):
    grid = Grid.align(judged, "fluency", [scores(*reversed(ALL))])
    np.testing.assert_array_equal(grid.metric("m"), [[0.3, 0.4], [0.2, 0.9]])
    assert grid.negated == ()
    assert grid.report() == ("1 of 4 cells have no judgement of 'fluency'.",)


def test_distances_are_negated_and_recorded(judged):
    grid = Grid.align(judged, "fluency", [scores(*ALL, direction="lower")])
    np.testing.assert_array_equal(grid.metric("m"), [[-0.3, -0.4], [-0.2, -0.9]])
    assert grid.negated == ("m",)
    assert "negated, because lower is better: m." in grid.report()


def test_a_metric_that_points_the_wrong_way_stays_negative(judged):
    grid = Grid.align(judged, "fluency", [scores(*ALL, direction="lower")])
    assert correlate(grid.metric("m"), grid.human).value < -0.9


def test_a_missing_system_is_an_error_with_a_solution(judged):
    with pytest.raises(DataError, match=r"lacks 1 of 3 .*1 systems \('b'\).*missing='keep'"):
        Grid.align(judged, "fluency", [scores(*ALL[:2])])


def test_missing_system_kept_is_counted_and_not_zero(judged):
    grid = Grid.align(judged, "fluency", [scores(*ALL[:2])], missing="keep")
    assert np.isnan(grid.metric("m")[1]).all()
    gap = grid.gaps[0]
    assert (gap.systems_missing, gap.segments_missing, gap.cells_missing) == (("b",), (), 1)
    assert "1 systems ('b')" in grid.report()[0]
    got = correlate(grid.metric("m"), grid.human)
    assert (got.cells, got.cells_without_metric) == (2, 1)


def test_missing_segment_is_named(judged):
    with pytest.raises(DataError, match=r"1 segments \('2'\)"):
        Grid.align(judged, "fluency", [scores(ALL[0], ALL[2])])


def test_missing_cells_nobody_judged_are_no_gap(judged):
    grid = Grid.align(judged, "fluency", [scores(*ALL[:3])])
    assert grid.gaps[0].cells_missing == 0


def test_scores_beside_the_judgements_are_counted(judged):
    extra = (("human", "1", 1.0), ("a", "7", 1.0))
    grid = Grid.align(judged, "fluency", [scores(*ALL, *extra)])
    assert (grid.gaps[0].systems_unjudged, grid.gaps[0].segments_unjudged) == (("human",), 1)
    assert any("also scored 1 systems and 1 segments" in line for line in grid.report())


def test_nothing_in_common_is_an_error_even_when_keeping(judged):
    with pytest.raises(DataError, match="shares no cell"):
        Grid.align(judged, "fluency", [scores(("x", "1", 1.0))], missing="keep")


def test_criterion_without_judgements():
    empty = Judgements.from_rows([("a", "1", {"x": None, "y": 1.0})])
    with pytest.raises(DataError, match=r"'x' has 0 judged cells of 1.*x, y"):
        Grid.align(empty, "x", [])


def test_pseudo_system_data_works():
    judged = Judgements.from_rows([("unknown", i, {"da": float(i * i)}) for i in range(5)])
    grid = Grid.align(judged, "da", [MetricScores.like(judged, "m", [4, 3, 2, 1, 0], "lower")])
    assert grid.human.shape == (1, 5)
    assert correlate(grid.metric("m"), grid.human, "segment", "kendall").value == 1.0


def test_invalid_metrics_are_refused(judged):
    with pytest.raises(OptionError, match="'up'"):
        MetricScores.like(judged, "m", np.ones((2, 2)), "up")
    with pytest.raises(ShapeError, match=r"\(1, 3\), but 2 systems and 2 segments"):
        MetricScores.like(judged, "m", [1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="1 metrics appear more than once: 'm'"):
        Grid.align(judged, "fluency", [scores(*ALL), scores(*ALL)])
    with pytest.raises(OptionError, match=r"'bleu' here; there are m"):
        Grid.align(judged, "fluency", [scores(*ALL)]).metric("bleu")
    with pytest.raises(OptionError, match="'zero'"):
        Grid.align(judged, "fluency", [scores(*ALL)], missing="zero")


def test_infinite_judgements_are_refused():
    with pytest.raises(DataError, match=r"is infinite; use NaN for a missing value"):
        Judgements.from_rows([("a", "1", {"fluency": float("inf")})])


@pytest.mark.parametrize("values", [np.ones((2, 2, 2)), np.ones((0, 3)), []])
def test_scores_have_a_row_per_system(values):
    with pytest.raises(ShapeError, match="give systems x inputs, or one vector"):
        correlate(values, values)


def test_means_over_documents_by_hand():
    systems, segments = ["a"] * 3 + ["b"] * 3, ["1", "2", "3"] * 2
    judged = Judgements.from_columns(
        systems, segments, {"x": [1.0, 3.0, 5.0, 2.0, 8.0, 4.0]}, ["d", "d", "e"] * 2
    )
    rows = zip(systems, segments, [0.1, 0.2, 0.4, 0.3, 0.5, 0.6], strict=True)
    grid = Grid.align(judged, "x", [scores(*rows)])
    assert grid.require_documents() == ("d", "d", "e")
    means = grid.by_document()
    assert means.segments == ("d", "e")
    np.testing.assert_allclose(means.human, [[2, 5], [5, 4]])
    np.testing.assert_allclose(means.metric("m"), [[0.15, 0.4], [0.4, 0.6]])


def test_every_row_needs_a_document():
    with pytest.raises(ValueError, match="shorter"):
        Judgements.from_columns(["a", "a"], ["1", "2"], {"x": [1.0, 2.0]}, ["d"])


@pytest.mark.parametrize("value", ["good", float("inf")])
def test_judgements_are_numbers(value):
    with pytest.raises(DataError, match="the judgements"):
        Judgements(("a",), ("1",), ("x",), [[[value]]])
