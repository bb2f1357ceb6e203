"""Frames in, a tidy frame of the same kind out."""

from __future__ import annotations

import sys

import pytest

from conftest import WORD_OVERLAP
from nlgauge import score, score_frame
from nlgauge.core.errors import DataError, UsageError

TEXTS = {"hyp": ["a b", "c"], "ref": ["a b c", "c"], "more": ["a", "d"], "sys": ["S", "T"]}
EXPECTED = score(TEXTS["hyp"], TEXTS["ref"], metrics="chrf")["chrf"].segments.tolist()


def test_pandas_by_pipe() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(TEXTS)
    found = frame.pipe(score_frame, candidate="hyp", reference="ref", metrics=["chrf", "rouge"])
    assert list(found.columns) == ["system", "segment", "metric", "component", "value"]
    assert found.query("metric == 'chrf'")["value"].tolist() == EXPECTED
    wide = found.query("component in ('score', 'f')").pivot(
        index="segment", columns="metric", values="value"
    )
    assert wide.shape == (2, 2)


def test_polars_with_lists_of_references() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"hyp": TEXTS["hyp"], "refs": [["a b c", "x"], ["c"]], "n": [7, 8]})
    found = frame.pipe(score_frame, candidate="hyp", reference="refs", metrics="chrf", id="n")
    assert isinstance(found, pl.DataFrame)
    assert found["segment"].to_list() == ["7", "8"]
    assert found["value"].to_list() == pytest.approx(EXPECTED)


def test_datasets_columns_and_several_reference_columns() -> None:
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict(TEXTS)
    found = score_frame(
        data, candidate="hyp", reference=["ref", "more"], system="sys", metrics="chrf"
    )
    pairs = [list(pair) for pair in zip(TEXTS["ref"], TEXTS["more"], strict=True)]
    expected = [
        score([c], [r], metrics="chrf")["chrf"].value
        for c, r in zip(TEXTS["hyp"], pairs, strict=True)
    ]
    assert list(found["value"]) == pytest.approx(expected)
    assert list(found["system"]) == ["S", "T"]


def test_gaps_in_columns_of_references_are_skipped() -> None:
    pd = pytest.importorskip("pandas")
    for gap in (None, float("nan"), pd.NA):
        frame = pd.DataFrame({**TEXTS, "more": ["a", gap]})
        found = score_frame(frame, candidate="hyp", reference=["ref", "more"], metrics="chrf")
        expected = score(TEXTS["hyp"], [["a b c", "a"], ["c"]], metrics="chrf")["chrf"].segments
        assert found["value"].tolist() == expected.tolist()


def test_a_column_that_occurs_twice_is_refused() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([["a", "b", "c"]] * 2, columns=["candidate", "ref", "ref"])
    with pytest.raises(UsageError, match="has 2 columns 'ref'"):
        score_frame(frame, reference="ref", metrics="chrf")


def test_a_missing_column_and_an_unknown_type_of_frame_are_named() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(UsageError, match="no column 'reference'; it has 'hyp', 'ref'"):
        score_frame(pd.DataFrame(TEXTS))

    class UnknownFrame(dict):
        columns = ("candidate", "reference")

    with pytest.raises(DataError, match="is not supported"):
        score_frame(UnknownFrame(candidate=["a"], reference=["a"]))


def test_a_column_of_sources_reaches_the_metric() -> None:
    pd = pytest.importorskip("pandas")
    spec = f"external:command={sys.executable} {WORD_OVERLAP} source"
    frame = pd.DataFrame({**TEXTS, "src": ["a q", "c"]})
    named = {"candidate": "hyp", "reference": "ref", "source": "src"}
    assert score_frame(frame, **named, metrics=spec)["value"].tolist() == [0.5, 1.0]
