"""Tables of judged rows are read with their human columns, and segments are shared by systems."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest

from nlgauge.core.errors import DataError, FileError, OptionError
from nlgauge.data import read_judged, read_systems
from nlgauge.data.judged_tables import read_judged_rows


def _jsonl(path: Path, *rows: dict) -> str:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return str(path)


def _row(**more) -> dict:
    return {"candidate": "c", "references": ["r"], **more}


def test_objects_flat_columns_and_numbers_agree(tmp_path: Path) -> None:
    path = _jsonl(
        tmp_path / "a.jsonl",
        _row(id="x", system="A", human={"fluency": 4, "adequacy": None}),
        _row(id="x", system="B", human={"fluency": 2.5, "adequacy": 1}),
    )
    heading = "id\tsystem\tcandidate\treference\thuman.fluency\thuman_adequacy\n"
    (tmp_path / "a.tsv").write_text(f"{heading}x\tA\tc\tr\t4\t\nx\tB\tc\tr\t2.5\t1\n")
    (tmp_path / "a.csv").write_text(
        heading.replace("\t", ",") + 'x,A,"c",r,4,NaN\nx,B,"c",r,2.5,1\n'
    )
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress((tmp_path / "a.tsv").read_bytes()))
    read = [read_judged(tmp_path / name) for name in ("a.jsonl", "a.tsv", "a.csv", "b.tsv.gz")]
    assert read[0].corpus == read_judged(path).corpus
    for judged in read:
        assert judged.corpus == read[0].corpus
        assert judged.criteria == ("fluency", "adequacy")
        assert judged.human["fluency"].tolist() == [4.0, 2.5]
        assert math.isnan(judged.human["adequacy"][0])
        assert judged.human["adequacy"][1] == 1.0
    plain = _jsonl(tmp_path / "p.jsonl", _row(human=3), _row(human="4"))
    assert read_judged(plain).human["human"].tolist() == [3.0, 4.0]
    assert read_judged(plain).corpus.system_names == ("unknown",)


@pytest.mark.parametrize("column", ["segment", "seg_id", "segment_id", "doc_id", "Segment"])
def test_a_segment_column_takes_precedence_over_the_id(tmp_path: Path, column: str) -> None:
    rows = [_row(id=f"3-{s}", system=s, human={"q": 1}, **{column: 3}) for s in "AB"]
    judged = read_judged(_jsonl(tmp_path / "a.jsonl", *rows))
    assert judged.corpus.ids == ("3", "3")
    assert judged.notes == ("2 rows, 2 systems, 1 segment, 1 criterion (q).",)


def test_a_document_of_several_segments_is_not_a_segment(tmp_path: Path) -> None:
    rows = [_row(id=f"{i}", system="A", doc_id="d", human={"q": 1}) for i in range(3)]
    judged = read_judged(_jsonl(tmp_path / "a.jsonl", *rows))
    assert judged.corpus.ids == ("0", "1", "2")
    assert judged.documents == ("d", "d", "d")
    rows = [_row(system="A", segment=i, chapter=f"c{i // 2}", human={"q": 1}) for i in range(4)]
    path = _jsonl(tmp_path / "b.jsonl", *rows)
    assert read_judged(path).documents is None
    assert read_judged(path, columns="document=chapter").documents == ("c0", "c0", "c1", "c1")
    assert read_judged(path, columns="document=chapter").take([3, 0], "").documents == ("c1", "c0")
    with pytest.raises(FileError, match="no column 'part', which is named as document"):
        read_judged(path, columns="document=part")
    with pytest.raises(OptionError, match="document does not apply"):
        read_systems([path], [], columns="document=chapter")


def test_a_segment_repeated_within_a_system_is_refused(tmp_path: Path) -> None:
    rows = [_row(id=f"{i}", system="A", segment="s", human={"q": 1}) for i in range(3)]
    with pytest.raises(DataError, match="segment id 's' occurs 3 times for system 'A'"):
        read_judged(_jsonl(tmp_path / "a.jsonl", *rows))


def test_ids_of_one_system_only_are_reported(tmp_path: Path) -> None:
    rows = [_row(id=f"{s}{i}", system=s, human={"q": 1}) for s in "AB" for i in range(2)]
    messages = read_judged(_jsonl(tmp_path / "a.jsonl", *rows)).notes
    assert messages[1].startswith("no two of the 2 systems share a segment id")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.jsonl",
            '{"candidate":"c","reference":"r","human":{"q":1}}\n\n'
            '{"candidate":"c","reference":"r","human":{"q":"good"}}',
            "a.jsonl, line 3: human score 'q' is 'good', which is not a number",
        ),
        ("a.tsv", "candidate\tref\thuman.q\nc\tr\t?\n", "a.tsv, line 2: 'human.q' is '\\?'"),
        ("a.csv", 'candidate,ref,human_q\n"c\nd",r,1\nc,r,x\n', "a.csv, line 4: 'human_q'"),
        ("a.csv", "candidate,ref\nc,r\n", "has no human scores.*It has: 'candidate', 'ref'"),
        ("a.jsonl", "", "has no rows"),
        ("a.jsonl", '{"candidate":"c","ref":"r","human":true}', "is True, which is not a number"),
    ],
)
def test_errors_name_the_line(tmp_path, name, content, message) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        read_judged(tmp_path / name)


def test_files_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(FileError, match=r"not a table of judged rows; its name should end in"):
        read_judged_rows(str(tmp_path / "a.txt"))
    (tmp_path / "a.dat").write_text('{"candidate":"c","ref":"r","human":1}')


@pytest.mark.parametrize(
    ("name", "rows", "systems", "segments", "criteria"),
    [
        ("webnlg2020/en.jsonl.gz", 3025, 17, 178, 5),
        ("realsumm/realsumm.jsonl.gz", 2500, 25, 100, 1),
        ("wmt18_darr/cs-en.jsonl.gz", 9272, 5, 2868, 2),
        ("wmt15_da/de-en.jsonl", 500, 1, 500, 1),
        ("novikova2017/bagel.jsonl", 404, 2, 404, 3),
    ],
)
def test_shared_sets_are_read_whole(shared_data, name, rows, systems, segments, criteria) -> None:
    judged = read_judged(shared_data / name)
    corpus = judged.corpus
    assert len(judged) == rows
    assert len(corpus.system_names) == systems
    assert len(set(corpus.ids)) == segments
    assert len(judged.criteria) == criteria
