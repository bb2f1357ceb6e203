"""Score files of the WMT metrics task, read and written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from nlgauge.core.errors import DataError, FileError, OptionError
from nlgauge.data import read_judged
from nlgauge.data.submissions import SubmittedScore, read_submission, write_submission


def _row(system: str, segment: str, score: float, **more: str) -> SubmittedScore:
    names = {"metric": "m", "pair": "en-de", "test_set": "t", "domain": "all", "document": "d"}
    return SubmittedScore(
        **{**names, "reference": "refA", **more}, system=system, segment=segment, score=score
    )


ROWS = [_row(system, str(i), i / 7) for system in "AB" for i in (1, 2)]


def test_written_scores_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "m.seg.score"
    write_submission(path, ROWS)
    assert path.read_text().split("\n")[0] == f"m\ten-de\tt\tall\td\trefA\tA\t1\t{1 / 7!r}"
    assert read_submission(str(path)) == tuple(ROWS)
    (tmp_path / "m.seg.scores.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert read_submission(str(tmp_path / "m.seg.scores.gz")) == tuple(ROWS)
    whole = SubmittedScore("m", "en-de", "t", "all", None, "refA", "A", None, 0.5)
    write_submission(tmp_path / "m.sys.score", [whole])
    assert (tmp_path / "m.sys.score").read_text() == "m\ten-de\tt\tall\trefA\tA\t0.5\n"
    assert read_submission(str(tmp_path / "m.sys.score")) == (whole,)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [
        {"system": s, "segment": i, "candidate": "c", "reference": "r", "human": {"q": i}}
        for s in "AB"
        for i in (1, 2)
    ]
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_scores_join_judged_rows(tmp_path: Path, data: Path) -> None:
    write_submission(tmp_path / "m.seg.score", ROWS[:3])
    judged = read_judged(data, scores=tmp_path / "m.seg.score")
    assert list(judged.stored_rows("m")) == [
        ("A", "1", 1 / 7),
        ("A", "2", 2 / 7),
        ("B", "1", 1 / 7),
    ]
    both = [*ROWS, *(_row("A", str(i), 0.0, reference="refB") for i in (1, 2))]
    write_submission(tmp_path / "m.seg.score", both)
    assert tuple(read_judged(data, scores=tmp_path / "m.seg.score").stored) == ("m-refA", "m-refB")


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("m.seg.score", [*ROWS, ROWS[0]], "m has two scores of 'A' on segment 1"),
        (
            "m.seg.score",
            [*ROWS, _row("A", "1", 1, pair="de-en")],
            r"2 language pairs \(en-de, de-en",
        ),
        ("m.seg.score", [*ROWS, _row("A", "1", 1, test_set="u")], r"2 test sets \(t, u\)"),
    ],
)
def test_scores_that_do_not_join(tmp_path: Path, data: Path, name, rows, message) -> None:
    write_submission(tmp_path / name, rows)
    with pytest.raises((FileError, OptionError), match=message):
        read_judged(data, scores=tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.seg.score", "a\tb\n", "line 1 has 2 fields separated by tabs, not 9"),
        ("m.sys.score", "m\tp\tt\tall\tr\tA\tx\n", "the score is 'x', which is not a number"),
        ("m.sys.score", "m\tp\tt\tall\tr\tA\t1\n", "has scores of systems; give the file of seg"),
        ("m.seg.score", "\n", "has no scores: it is empty"),
    ],
)
def test_broken_submissions(tmp_path: Path, data: Path, name, content, message) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(FileError, match=message):
        read_submission(str(tmp_path / name))
        read_judged(data, scores=tmp_path / name)


def test_scores_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"name it NAME\.seg\.score"):
        write_submission(tmp_path / "m.tsv", ROWS)
    with pytest.raises(DataError, match="takes lines of 7 fields, not 9"):
        write_submission(tmp_path / "m.sys.score", ROWS)
    with pytest.raises(DataError, match="'A' has the score nan on segment 1"):
        write_submission(tmp_path / "m.seg.score", [_row("A", "1", float("nan"))])
    with pytest.raises(DataError, match="contains a tab"):
        write_submission(tmp_path / "m.seg.score", [_row("A\tB", "1", 1.0)])
    with pytest.raises(FileError, match="not a submission file"):
        read_submission(str(tmp_path / "m.tsv"))
