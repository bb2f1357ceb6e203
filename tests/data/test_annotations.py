"""MQM and ESA annotations: scores, spans, references, and what is wrong with a file."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from nlgauge.core.errors import DataError, FileError, OptionError
from nlgauge.core.spans import Span
from nlgauge.data import read_judged
from nlgauge.data.mqm import read_mqm, unmark

HEADING = "system doc doc_id seg_id rater source target category severity"


def _tsv(path: Path, *rows: str, heading: str = HEADING) -> Path:
    """Write a TSV file from rows with | in place of the tab."""
    lines = [heading.replace(" ", "\t"), *(row.replace("|", "\t") for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def _mqm(path: Path, *rows: str) -> Path:
    first = ("refA|d|1|1|r1|s|a good one|No-error|No-error",)
    return _tsv(path, *first, *rows)


def test_mqm_scores_and_spans(tmp_path: Path) -> None:
    path = _mqm(
        tmp_path / "a.tsv",
        "A|d|1|1|r1|s|a <v>bad</v> one|Accuracy/Mistranslation|Major",
        "A|d|1|1|r1|s|a bad <v>one</v>|Fluency/Punctuation|Minor",
        "A|d|1|1|r2|s|<v>a</v> bad one|Style/Awkward|minor",
        "B|d|1|1|r1|<v>s</v>|a|Accuracy/Omission|Major",
        "B|d|1|1|r1|s|<v>a</v>|Style|Neutral",
        "C|d|1|1|r1|s|<v>zzz</v>|Non-translation!|Major",
        "D|d|1|1|r1|s|fine|No-error|No-error",
    )
    judged = read_judged(path)
    assert judged.corpus.systems == ("A", "B", "C", "D")
    assert judged.corpus.candidates == ("a bad one", "a", "zzz", "fine")
    assert judged.corpus.references == (("a good one",),) * 4
    # A: rater 1 gives 5 + .1, rater 2 gives 1; the mean is 3.05.
    assert judged.human["mqm"].tolist() == pytest.approx([-3.05, -5, -25, 0])
    assert judged.spans is not None
    assert judged.spans[0] == (
        Span(2, 5, "major", "Accuracy/Mistranslation"),
        Span(6, 9, "minor", "Fluency/Punctuation"),
        Span(0, 1, "minor", "Style/Awkward"),
    )
    assert judged.spans[1] == (Span(0, 1, "neutral", "Style"),)
    assert judged.spans[3] == ()
    assert judged.documents == ("d",) * 4
    assert judged.corpus.ids == ("1",) * 4
    assert "1 errors have no span: marked in the source only." in judged.notes
    assert judged.without("A").spans == judged.spans[1:]


def test_mqm_weights_are_options(tmp_path: Path) -> None:
    path = _mqm(
        tmp_path / "a.tsv",
        "A|d|1|1|r|s|<v>a</v>|Style/Awkward|Major",
        "A|d|1|1|r|s|<v>a</v>|Accuracy|Major",
    )
    assert read_judged(path).human["mqm"].tolist() == [-10]
    assert read_judged(path, weights="major=10, major/style = 2").human["mqm"].tolist() == [-12]
    assert read_mqm(str(path), weights={"Major": 1}).human["mqm"].tolist() == [-2]
    with pytest.raises(OptionError, match="'major' has the weight 'ten'; write numbers"):
        read_judged(path, weights="major=ten")
    with pytest.raises(OptionError, match="'major' has the weight ''"):
        read_judged(path, weights="major")
    rows = tmp_path / "b.jsonl"
    rows.write_text('{"candidate": "c", "reference": "r", "human": 1}')
    with pytest.raises(OptionError, match="'rows' takes no 'weights'; these do: mqm"):
        read_judged(rows, weights="major=1")


def test_mqm_with_an_unknown_severity(tmp_path: Path) -> None:
    path = _mqm(tmp_path / "a.tsv", "A|d|1|1|r|s|<v>a</v>|Style|Critical")
    with pytest.raises(FileError, match=r"line 3: the severity 'critical' has no weight.*major"):
        read_judged(path)
    assert read_judged(path, weights="critical=30").human["mqm"].tolist() == [-30]
    path = _mqm(tmp_path / "a.tsv", "A|d|1|1|r|s|a|x|HOTW-test", "A|d|1|1|r|s|a|No-error|No-error")
    assert "1 errors that test the rater" in read_judged(path).notes[0]


@pytest.mark.parametrize(
    ("text", "clean", "places"),
    [
        ("a <v>b</v> <v>c</v>", "a b c", [(2, 3), (4, 5)]),
        ("<v></v>a", "a", []),
        ("plain", "plain", []),
        ("<v>a", "a", None),
        ("a</v>", "a", None),
        ("<v>a<v>b</v>", "ab", None),
        ("</v>a<v>", "a", None),
    ],
)
def test_marked_errors_become_spans(text: str, clean: str, places: list | None) -> None:
    assert unmark(text) == (clean, places)


def test_mqm_keeps_the_score_of_unbalanced_marks(tmp_path: Path) -> None:
    path = _mqm(
        tmp_path / "a.tsv",
        "A|d|1|1|r|s|<v>a b|Style|Minor",
        "A|d|1|1|r|s|a <v>b </v>|Style|Minor",
    )
    judged = read_judged(path)
    assert judged.human["mqm"].tolist() == [-2]
    assert judged.spans == ((),)
    assert "1 errors have no span: <v> and </v> do not match in their line." in judged.notes
    assert any("differs from that of an earlier line" in note for note in judged.notes)


def test_mqm_segments_and_references(tmp_path: Path) -> None:
    """The ids of 2023; numbers that start again in every document are told apart."""
    heading = "system doc docSegId globalSegId rater source target category severity metadata"
    rows = [
        f"{system}|{doc}|1|1|r|s{doc}|t{system}{doc}|No-error|no-error|" + "{}"
        for system in ("refA", "refB", "A")
        for doc in "de"
    ]
    path = _tsv(tmp_path / "a.tsv", *rows, heading=heading)
    judged = read_judged(path)
    assert judged.corpus.ids == ("d-1", "e-1")
    assert judged.corpus.references == (("trefAd", "trefBd"), ("trefAe", "trefBe"))
    one = read_judged(path, references="refB")
    assert one.corpus.systems == ("refA", "refA", "A", "A")
    assert one.corpus.references[0] == ("trefBd",)
    assert read_judged(path, references="none").corpus.references[0] == ()
    with pytest.raises(OptionError, match="there is no reference 'refC' among the systems"):
        read_judged(path, references="refC")


def test_mqm_without_systems_or_columns(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="has no annotated outputs of systems"):
        read_judged(_mqm(tmp_path / "a.tsv"))
    with pytest.raises(FileError, match="has no annotations"):
        read_judged(_tsv(tmp_path / "a.tsv"))
    path = _tsv(tmp_path / "b.tsv", "A|t|Minor", heading="system target severity")
    with pytest.raises(FileError, match="has no column 'doc'"):
        read_judged(path, kind="mqm")


def _flat(system: str, line: int, score: object, *spans: object, **more: object) -> dict:
    texts = {"src": f"s{line}", "tgt": f"{system} {line}", "doc_id": "doc"}
    return {"system": system, "line_id": line, "langs": "en-cs", **texts, "esa_score": score} | {
        "esa_spans": list(spans),
        "annotator": "x",
        **more,
    }


def _span(start: object, end: object, severity: str = "minor") -> dict:
    return {"start_i": start, "end_i": end, "severity": severity, "error_type": None}


def _jsonl(path: Path, *rows: dict) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_esa_of_wmt24(tmp_path: Path) -> None:
    rows = [
        _flat("refA", 1, "100"),
        _flat("A", 1, "66", _span(0, 0), _span("missing", "missing", "major")),
        _flat("A", 1, "70", _span(0, 2, "major"), annotator="y"),
        _flat("A", 2, "80", _span(0, 99)),
        _flat("A", 3, None),
        _flat("B", 1, 5, langs="en-uk"),
    ]
    path = _jsonl(tmp_path / "a.jsonl", *rows)
    judged = read_judged(path, part="en-cs")
    assert judged.criteria == ("esa",)
    assert judged.human["esa"].tolist() == [68, 80]
    assert judged.corpus.ids == ("1", "2")
    assert judged.corpus.references == (("refA 1",), ())
    assert judged.spans == ((Span(0, 1, "minor"), Span(0, 3, "major")), ())
    assert judged.documents == ("doc", "doc")
    assert "1 errors have no span: omissions." in judged.notes
    assert "1 without a score" in judged.notes[0]
    with pytest.raises(OptionError, match=r"2 language pairs \(en-cs, en-uk\)"):
        read_judged(path)


def test_esa_of_wmt25(tmp_path: Path) -> None:
    row = {
        "doc_id": "en-cs_CZ_#_news_#_a_#_7",
        "src_text": "s",
        "tgt_text": {"A": "text", "refA": "ref"},
        "scores": {
            "A": [
                {"score": 60, "annotator": "x", "errors": [_span(1, 2)]},
                {"score": 80, "annotator": "x", "errors": []},
            ],
            "refA": [{"score": 90}],
        },
    }
    judged = read_judged(_jsonl(tmp_path / "a.jsonl", row))
    assert judged.human["esa"].tolist() == [70]
    assert judged.spans == ((Span(1, 3, "minor"),),)
    assert judged.corpus.references == (("ref",),)
    assert judged.documents == ("en-cs_CZ_#_news_#_a",)
    assert read_judged(tmp_path / "a.jsonl", part="en-cs_CZ").corpus.systems == ("A",)
    older = {**row, "doc_id": "news-1_#_7"}
    assert read_judged(_jsonl(tmp_path / "b.jsonl", older)).documents == ("news-1",)
    with pytest.raises(OptionError, match="does not name language pairs"):
        read_judged(tmp_path / "b.jsonl", part="en-cs")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (_flat("A", 1, "good"), "line 1: the score is 'good', which is not a number"),
        (_flat("A", 1, 1, _span(3, 1)), "a span has start_i 3 and end_i 1, not two places in"),
        (_flat("A", 1, 1, _span("x", 1)), "a span has start_i 'x'"),
        (_flat("A", 1, 1, 7), r"the spans are \[7\], not a list of objects"),
        (_flat("A", 1, math.nan), "no annotated outputs of systems"),
        ({"doc_id": "a", "src_text": "s"}, "line 1 lacks tgt_text, scores"),
        (
            {"doc_id": "a", "src_text": "s", "tgt_text": {"A": "t"}, "scores": {"A": [3]}},
            "an annotation of 'A' has no 'score'",
        ),
        (
            {"doc_id": "a", "src_text": "s", "tgt_text": {}, "scores": {"A": [{"score": 1}]}},
            "tgt_text of 'A' is None, not a text",
        ),
    ],
)
def test_esa_broken(tmp_path: Path, row: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_judged(_jsonl(tmp_path / "a.jsonl", row), kind="esa")
