"""Streams yield every row once, in order, or reject it with a reason."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from generated_rows import generate_rows, write_jsonl
from nlgauge.core.errors import FileError, UsageError
from nlgauge.data.systems import InputFiles, read_systems
from nlgauge.data.text_rows import Rejected, Row

ROWS = generate_rows(7)


def _expected(rows: list[dict]) -> list[tuple]:
    return [(r["system"], r["id"], r["candidate"], tuple(r["references"])) for r in rows]


def _read(sources: InputFiles) -> list[tuple]:
    rows = list(sources.rows())
    assert all(isinstance(row, Row) for row in rows), rows
    return [(row.system, row.id, row.candidate, row.references) for row in rows]


def _write(path: Path, rows: list[dict]) -> Path:
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines.encode()))
    elif path.suffix == ".zst":
        zstandard = pytest.importorskip("zstandard")
        path.write_bytes(zstandard.ZstdCompressor().compress(lines.encode()))
    elif path.suffix == ".parquet":
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix in (".tsv", ".csv"):
        mark = "\t" if path.suffix == ".tsv" else ","
        table = [["system", "id", "candidate", "ref"]]
        table += [[r["system"], r["id"], r["candidate"], r["references"][0]] for r in rows]
        quoted = [[f'"{cell}"' if mark == "," else cell for cell in line] for line in table]
        path.write_text("".join(mark.join(line) + "\n" for line in quoted), "utf-8")
    else:
        path.write_text(lines, "utf-8")
    return path


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst", "parquet", "tsv", "csv"])
def test_every_format_gives_the_same_rows(tmp_path: Path, ending: str) -> None:
    rows = [{**row, "references": row["references"][:1]} for row in ROWS]
    path = _write(tmp_path / f"a.{ending}", rows)
    assert _read(InputFiles([str(path)], [])) == _expected(rows)


def test_a_folder_is_its_tables_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name, part in {"2.jsonl.gz": ROWS[4:9], "1.jsonl": ROWS[:4], "3.parquet": ROWS[9:]}.items():
        _write(tmp_path / name, part)
    for name in ("README.md", ".hidden.jsonl", "_SUCCESS.jsonl"):
        (tmp_path / name).write_text("not a table")
    sources = InputFiles([str(tmp_path)], [])
    assert _read(sources) == _expected(ROWS)
    assert [Path(file).name for file in sources.paths()] == ["1.jsonl", "2.jsonl.gz", "3.parquet"]


def test_a_format_that_is_named_holds_for_the_files_of_a_folder(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "part-0", ROWS[:5])
    write_jsonl(tmp_path / "part-1", ROWS[5:])
    assert _read(InputFiles([str(tmp_path)], [], wanted="jsonl")) == _expected(ROWS)
    assert len(read_systems([str(tmp_path)], [], wanted="jsonl")) == len(ROWS)
    with pytest.raises(FileError, match="has no table"):
        InputFiles([str(tmp_path)], [])


def test_a_stream_reads_what_a_list_reads(tmp_path: Path) -> None:
    plain = [{"candidate": r["candidate"], "references": r["references"]} for r in ROWS]
    paths = [str(write_jsonl(tmp_path / f"{name}.jsonl", plain)) for name in ("one", "two")]
    corpus = read_systems(paths, [])
    listed = zip(corpus.systems, corpus.ids, corpus.candidates, corpus.references, strict=True)
    assert _read(InputFiles(paths, [])) == list(listed)


def test_text_files_go_line_by_line_through_all_systems(tmp_path: Path) -> None:
    for name in ("x", "y", "r1", "r2"):
        (tmp_path / f"{name}.txt").write_text(f"{name} one\n{name} two\n", "utf-8")
    x, y, r1, r2 = (str(tmp_path / f"{name}.txt") for name in ("x", "y", "r1", "r2"))
    assert _read(InputFiles([x, y], [r1, r2])) == [
        (system, str(i), f"{system} {word}", (f"r1 {word}", f"r2 {word}"))
        for i, word in enumerate(["one", "two"])
        for system in "xy"
    ]


def test_bad_rows_are_rejected_with_place_and_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [
        '{"candidate": "fine", "reference": "fine"}',
        "{",
        '{"reference": "no candidate"}',
        '{"candidate": 3, "reference": "x"}',
        '{"candidate": "x", "reference": []}',
        '{"candidate": "\\ud800", "reference": "x"}',
        '{"candidate": "nul \\u0000", "reference": "x"}',
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    found = list(InputFiles([str(path)], []).rows())
    assert [isinstance(row, Row) for row in found] == [True, *[False] * 5, True]
    reasons = [row.reason for row in found if isinstance(row, Rejected)]
    assert [row.place for row in found] == [f"{path}, line {i}" for i in range(1, 8)]
    for reason, messages in zip(
        reasons,
        [
            "not JSON",
            "no column 'candidate', which the first row has",
            "is 3 of type int",
            "has no reference",
            "half a character",
        ],
        strict=True,
    ):
        assert messages in reason
    assert [row.id for row in found if isinstance(row, Row)] == [
        "0",
        "6",
    ]  # rows keep their numbers


def test_the_reference_file_with_the_error_is_named(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_bytes(b"a\nb\n\xff\n")
    (tmp_path / "r.txt").write_bytes(b"a\n\xfe\nc\n")
    rows = list(InputFiles([str(tmp_path / "c.txt")], [str(tmp_path / "r.txt")]).rows())
    assert isinstance(rows[0], Row)
    assert isinstance(rows[1], Rejected)
    assert rows[1].reason.startswith("its reference in r.txt is not UTF-8: byte 0xfe")
    assert isinstance(rows[2], Rejected)
    assert rows[2].reason.startswith("not UTF-8: byte 0xff")


def test_files_of_different_length_are_refused_with_the_number(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("a\nb\n")
    (tmp_path / "r.txt").write_text("a\nb\nc\n")
    sources = InputFiles([str(tmp_path / "c.txt")], [str(tmp_path / "r.txt")])
    with pytest.raises(FileError, match=r"c\.txt has 2 lines, but .*r\.txt has 3; line i"):
        list(sources.rows())


def test_input_that_cannot_be_read_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="stdin"):
        InputFiles(["-"], ["r.txt"]).check_rereadable()
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(UsageError, match="is a pipe or a device"):
        InputFiles([str(tmp_path / "pipe.jsonl")], []).check_rereadable()


def test_mixed_kinds_of_files_are_refused() -> None:
    with pytest.raises(UsageError, match="mix text files with tables"):
        InputFiles(["a.txt", "b.jsonl"], ["r.txt"])
    with pytest.raises(UsageError, match="leave out -r"):
        InputFiles(["b.jsonl"], ["r.txt"])
    with pytest.raises(UsageError, match="add -r FILE"):
        InputFiles(["a.txt"], [])
