"""Rows of wrong shape or type are refused with the numbers and a solution."""

import numpy as np
import pandas as pd
import pytest

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, ShapeError


def test_references_are_per_segment_and_may_be_ragged() -> None:
    corpus = Corpus.of(["a", "b", "c"], ["x", ["y", "z"], ["w", None]])
    assert corpus.references == (("x",), ("y", "z"), ("w",))
    assert corpus.reference_count() == "var"
    assert Corpus.of(["a"], [["x", "y"]]).reference_count() == "2"


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        (["a", "b"], ["x"], "2 candidates but 1 references"),
        (["a", "b"], [["x", "y"], ["z", "w"], ["u", "v"]], r"transposed \(3 lists of 2 texts\)"),
        ("a text", ["x"], r"candidates is one str of 6 characters; pass a list.*\['a text'\]"),
        (["a"], "x", "references is one str of 1 characters"),
        ([], [], "the list of candidates is empty"),
        (None, ["x"], "candidates is None of type NoneType, not a list"),
        (["a", "b"], 5, "references is 5 of type int, not a list"),
        (
            ["a", "b"],
            [1, float("nan"), 3],
            "2 candidates but 3 references; there must be one entry",
        ),
        (["a", "b"], ["xx", "yy", "zz"], "2 candidates but 3 references; there must be one entry"),
        (["a", "b"], {"x", "y"}, "references is a set, which has no order"),
        ({"a", "b"}, ["x", "y"], "candidates is a set, which has no order"),
        (["a", "b"], {"x": ["y"], "z": ["y"]}, "references is a mapping"),
        (
            ["a", "b"],
            pd.DataFrame({"x": ["y", "z"], "u": ["v", "w"]}),
            "is a DataFrame; pass a col",
        ),
    ],
)
def test_wrong_shapes_are_refused(candidates, references, message) -> None:
    with pytest.raises(ShapeError, match=message):
        Corpus.of(candidates, references)


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        (["a", None], ["x", "y"], r"candidates\[1\] is None of type NoneType.*use ''"),
        ([1], ["x"], r"candidates\[0\] is 1 of type int"),
        (["a"], [None], r"references\[0\] is None, not a text or a list"),
        (["a"], [["x", 3]], r"references\[0\]\[1\] is 3 of type int"),
        (["a"], [[]], r"references\[0\] has no reference"),
        (["a"], [[None]], r"references\[0\] has no reference"),
        (["a"], [pd.NA], r"references\[0\] is <NA>, not a text or a list"),
        (["a"], [np.int64(3)], r"references\[0\] is (np.int64\()?3\)?, not a text or a list"),
    ],
)
def test_values_that_are_not_texts_are_refused(candidates, references, message) -> None:
    with pytest.raises(DataError, match=message):
        Corpus.of(candidates, references)


def test_iterators_are_read_once_for_all_systems() -> None:
    systems = {"s": iter(["a", "b"]), "t": ("c", "d")}
    groups = (iter([text, None]) for text in "xy")
    corpus = Corpus.of_systems(systems, groups, sources=iter("uv"))
    assert corpus.candidates == ("a", "b", "c", "d")
    assert corpus.references == (("x",), ("y",)) * 2
    assert corpus.sources == ("u", "v") * 2


def test_the_same_id_twice_in_one_system_is_refused_but_not_across_systems() -> None:
    with pytest.raises(DataError, match=r"segment id 's1' occurs 2 times for system '[^']*'; ids"):
        Corpus.of(["a", "b", "c"], ["x", "y", "z"], ids=["s1", "s1", "s2"])
    corpus = Corpus.of(["a", "b"], ["x", "x"], ids=["s1", "s1"], systems=["A", "B"])
    assert corpus.system_names == ("A", "B")
    assert list(corpus.segment_references()) == [("x",)]


def test_rows_of_a_segment_stay_together_and_ids_count_within_a_system() -> None:
    corpus = Corpus.of(list("abcd"), list("wxwx"), systems=["A", "A", "B", "B"])
    assert corpus.ids == ("0", "1", "0", "1")
    assert corpus.by_segment() == (0, 2, 1, 3)
    assert corpus.rows_of("B") == (2, 3)


def test_segments_of_equal_references_are_adjacent() -> None:
    corpus = Corpus.of(list("abcdef"), list("xyxzyx"))
    assert corpus.by_segment() == (0, 2, 5, 1, 4, 3)
    systems = ["A", "A", "A", "B", "B", "B"]
    corpus = Corpus.of(list("abcdef"), list("xyxxyx"), systems=systems)
    assert corpus.by_segment() == (0, 3, 2, 5, 1, 4), "rows of a segment stay together"


def test_columns_of_another_length_are_refused() -> None:
    with pytest.raises(ShapeError, match="2 candidates but 1 systems"):
        Corpus.of(["a", "b"], ["x", "y"], systems=["A"])
