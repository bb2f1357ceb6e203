"""A judged corpus holds texts and human scores by row, and a description of the input."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nlgauge.core.errors import DataError, FileError, OptionError, ShapeError
from nlgauge.data import JudgedCorpus
from nlgauge.data.judged import JudgedRow, parse_score
from nlgauge.stats import Judgements, MetricScores

ROWS = [
    JudgedRow("A", "1", "a one", ("r one",), {"fluency": 4.0, "adequacy": 2.0}, "s", {"bleu": 0.5}),
    JudgedRow("A", "2", "a two", ("r two",), {"fluency": 3.0}, "s", {"bleu": 0.25}),
    JudgedRow("B", "1", "b one", ("r one",), {"fluency": 1.0, "adequacy": 5.0}, "s"),
]


def test_the_description_counts_rows_systems_and_criteria() -> None:
    judged = JudgedCorpus.from_rows(ROWS, dropped={"without output": 2, "never": 0}, notes=["So."])
    assert judged.notes == (
        "3 rows, 2 systems, 2 segments, 2 criteria (fluency, adequacy); "
        "dropped 2: 2 without output.",
        "1 of 3 rows have no judgement of 'adequacy'.",
        "So.",
    )
    assert judged.criteria == ("fluency", "adequacy")
    assert judged.corpus.sources == ("s", "s", "s")
    assert len(judged) == 3


def test_rows_make_judgements_and_stored_scores_make_a_metric() -> None:
    judged = JudgedCorpus.from_rows(ROWS)
    grid = Judgements.from_rows(judged.rows())
    assert grid.systems == ("A", "B")
    assert grid.segments == ("1", "2")
    np.testing.assert_array_equal(grid.matrix("fluency"), [[4, 3], [1, math.nan]])
    np.testing.assert_array_equal(grid.matrix("adequacy"), [[2, math.nan], [5, math.nan]])
    measured = MetricScores.from_rows("bleu", judged.stored_rows("bleu"))
    np.testing.assert_array_equal(measured.values, [[0.5, 0.25]])
    with pytest.raises(OptionError, match="no scores of 'chrf' came with the data; there are: bl"):
        next(judged.stored_rows("chrf"))


def test_systems_can_be_left_out() -> None:
    rest = JudgedCorpus.from_rows(ROWS).without("A")
    assert rest.corpus.candidates == ("b one",)
    assert rest.human["fluency"].tolist() == [1.0]
    assert np.isnan(rest.stored["bleu"]).all()
    assert rest.notes[-1] == "left out 1 system (A): 2 rows."
    with pytest.raises(OptionError, match="no system is called 'C'; the 2 are: A, B"):
        JudgedCorpus.from_rows(ROWS).without("C")
    with pytest.raises(DataError, match="leaving out all 2 systems"):
        JudgedCorpus.from_rows(ROWS).without("A", "B")


def test_values_are_frozen_and_checked() -> None:
    judged = JudgedCorpus.from_rows(ROWS)
    with pytest.raises(ValueError, match="read-only"):
        judged.human["fluency"][0] = 1
    with pytest.raises(TypeError):
        judged.human["new"] = judged.human["fluency"]
    with pytest.raises(ShapeError, match=r"criterion 'x' has shape \(2,\), but there are 3 rows"):
        JudgedCorpus(judged.corpus, {"x": np.zeros(2)}, ())
    with pytest.raises(DataError, match="3 rows have no human scores"):
        JudgedCorpus(judged.corpus, {}, ())
    with pytest.raises(DataError, match="no judged rows; dropped 2: 2 unread"):
        JudgedCorpus.from_rows([], dropped={"unread": 2})


@pytest.mark.parametrize("value", [None, "", " ", "NaN", "nan", "NA", "None", "null", math.nan])
def test_missing_judgements_are_nan(value) -> None:
    assert math.isnan(parse_score(value, "here"))


@pytest.mark.parametrize("value", ["good", True, [], {}, "1,5", "1_5", "inf", math.inf, 10**400])
def test_judgements_that_are_no_numbers_are_refused(value) -> None:
    with pytest.raises(FileError, match=r"^here is .*leave it empty"):
        parse_score(value, "here")
    assert parse_score("-1e-3", "here") == -0.001
