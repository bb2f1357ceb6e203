"""Files of every kind are read, and errors in them name the line."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from nlgauge.core.errors import DataError, FileError, UsageError
from nlgauge.data import read_judged
from nlgauge.data.files import format_of, read_lines, read_table
from nlgauge.data.systems import InputFiles, read_systems
from nlgauge.data.text_rows import Rejected, Row

ROWS = [
    {"id": "s1", "system": "A", "candidate": "a b", "references": ["a", "b"]},
    {"id": "s2", "system": "A", "candidate": 'he said "x"', "references": ["c"]},
]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", "text"),
        ("a.jsonl", "jsonl"),
        ("b.x.JSONL.gz", "jsonl"),
        ("a.tsv.gz", "tsv"),
        ("a.csv", "csv"),
        ("noending", "text"),
        ("-", "text"),
        ("out.gz", "text"),
    ],
)
def test_the_file_name_decides_the_format(name: str, kind: str) -> None:
    assert format_of(name) == kind
    assert format_of(name, wanted="csv") == "csv"


def test_lines_split_at_line_feeds_only(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffone\r\ntwo\u2028still two\x0bthere\n\nlast".encode())
    assert read_lines(str(path)) == ["one", "two\u2028still two\x0bthere", "", "last"]


def test_gzip_is_detected_by_content(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(gzip.compress("héllo\n".encode()))
    assert read_lines(str(path)) == ["héllo"]
    path.write_bytes(gzip.compress(b"hello\n" * 100)[:30])
    with pytest.raises(FileError, match="cannot be read"):
        read_lines(str(path))


def test_a_text_in_place_of_a_file_name_is_named() -> None:
    text = "a long text " * 30
    for read in (lambda: read_systems([text], ["r.txt"]), lambda: read_judged(text)):
        with pytest.raises(FileError, match=r"a long text .*: File name too long"):
            read()


def test_a_closed_stdin_is_named(monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(FileError, match="nothing to read from stdin"):
        read_lines("-")


def test_a_quotation_mark_that_is_not_closed_loses_no_rows_silently(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for end in ("", "e,f\ng,h\n"):
        path.write_text('candidate,reference\na,b\nc,"d\n' + end)
        with pytest.raises(FileError, match=r"not closed in the row that begins in line 3"):
            read_systems([str(path)])
        first, second = InputFiles([str(path)]).rows()
        assert (isinstance(first, Row), isinstance(second, Rejected)) == (True, True)
    path.write_text('candidate,reference\na,b\nc,"d\ne"')
    assert read_systems([str(path)]).references == (("b",), ("d\ne",))


def test_stdin_is_a_dash(monkeypatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO("ünï\n".encode()))
    monkeypatch.setattr("sys.stdin", stream)
    assert read_lines("-") == ["ünï"]


def test_wrong_bytes_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "latin1.txt"
    path.write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(FileError, match=r"line 2: not UTF-8: byte 0xe9; convert"):
        read_lines(str(path))
    with pytest.raises(FileError, match="there is no file"):
        read_lines(str(tmp_path / "absent"))


def test_tables_agree(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(row) for row in ROWS) + "\n\n")
    (tmp_path / "a.tsv").write_text('id\tsystem\thyp\tref\ns1\tA\ta b\ta\ns2\tA\the said "x"\tc\n')
    (tmp_path / "a.csv").write_text('ID,Prediction,Reference\ns1,"a b",a\ns2,"he said ""x""",c\n')
    jsonl = read_systems([str(tmp_path / "a.jsonl")], [])
    tsv = read_systems([str(tmp_path / "a.tsv")], [])
    csv = read_systems([str(tmp_path / "a.csv")], [])
    assert jsonl.candidates == tsv.candidates == csv.candidates == ("a b", 'he said "x"')
    assert jsonl.references == (("a", "b"), ("c",))
    assert jsonl.systems == ("A", "A")
    assert csv.systems == ("a", "a"), "the file names the system where no column does"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"candidate": "a", "reference": "b"}\n{oops', "a.jsonl, line 2: not JSON"),
        ("a.jsonl", "[1]\n", "line 1: not a JSON object"),
        ("a.jsonl", '{"candidate": "a"}\n', "has no column 'references'.*it has 'candidate'"),
        ("a.jsonl", '{"candidate": "a", "ref": "b"}\n{"ref": "b"}\n', "line 2: .* no column 'cand"),
        ("a.tsv", "candidate\treference\na\tb\tc\n", "line 2: 3 fields, but the heading names 2"),
        ("a.csv", "candidate,reference\na\n", "line 2: 1 field, but the heading names 2"),
        ("a.jsonl", "", "has no rows"),
        ("a.jsonl", '{"candidate": null, "references": ["b"]}', "line 1: candidates is None"),
        ("a.jsonl", '{"candidate": "a", "references": []}', "references has no reference"),
        ("a.jsonl", "[" * 100_000, "line 1: not JSON"),
    ],
)
def test_broken_tables_are_named_with_their_line(tmp_path, name, content, message) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        read_systems([str(tmp_path / name)], [])


def test_text_systems_need_references_of_their_length(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n2\n")
    (tmp_path / "b.txt").write_text("3\n4\n")
    (tmp_path / "r.txt").write_text("5\n")
    a, b, r = (str(tmp_path / name) for name in ("a.txt", "b.txt", "r.txt"))
    with pytest.raises(UsageError, match="references are needed: add -r FILE"):
        read_systems([a], [])
    with pytest.raises(FileError, match=r"a.txt has 2 lines, but .*r.txt has 1"):
        read_systems([a], [r])
    corpus = read_systems([a, b], [b, a])
    assert corpus.systems == ("a", "a", "b", "b")
    assert corpus.ids == ("0", "1", "0", "1")
    assert corpus.references[0] == ("3", "1")


def test_kinds_of_files_do_not_mix(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n")
    (tmp_path / "a.jsonl").write_text(json.dumps(ROWS[0]))
    text, table = str(tmp_path / "a.txt"), str(tmp_path / "a.jsonl")
    with pytest.raises(UsageError, match="mix text files with tables"):
        read_systems([text, table], [text])
    with pytest.raises(UsageError, match="has its references in a column; leave out -r"):
        read_systems([table], [text])
    with pytest.raises(UsageError, match="only one file can be read from stdin"):
        read_systems(["-"], ["-"])


def test_systems_of_equal_names_are_named_by_their_paths(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "out.txt").write_text("1\n")
    paths = [str(tmp_path / folder / "out.txt") for folder in ("x", "y")]
    assert read_systems(paths, [paths[0]]).system_names == tuple(paths)


def test_quotation_marks_in_tsv_are_text(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text('candidate\treference\n"a\tb"\n')
    ((_, row),) = read_table(str(tmp_path / "a.tsv"))
    assert row == {"candidate": '"a', "reference": 'b"'}


def test_a_folder_as_a_system_with_references_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "rows.tsv").write_text("candidate\treference\na\tb\n")
    with pytest.raises(UsageError, match="is a folder, which is read as a table"):
        InputFiles([str(tmp_path)], ["reference.txt"])


@pytest.mark.parametrize(
    ("name", "pack"),
    [("xz", lzma.compress), ("bzip2", bz2.compress), ("zip", lambda text: b"PK\x03\x04" + text)],
)
def test_other_compressed_files_are_named(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "a.txt.packed"
    path.write_bytes(pack(b"a\nb\n"))
    with pytest.raises(FileError, match=f"compressed with {name}; decompress it"):
        read_lines(str(path))


def test_an_empty_last_line_that_is_one_too_many_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\nb\n\n")
    (tmp_path / "r.txt").write_text("a\nb\n")
    paths = [str(tmp_path / name) for name in ("a.txt", "r.txt")]
    with pytest.raises(FileError, match=r"has 3 lines, but .* has 2; .*; the last line of .*a.txt"):
        read_systems(paths[:1], paths[1:])
    with pytest.raises(FileError, match=r"has 2 lines, but .* has 3; line i of one .* other$"):
        read_systems(paths[1:], paths[:1])


def test_a_candidate_file_named_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a\n")
    with pytest.raises(UsageError, match=r"name '.*a.txt' 2 times; name it once"):
        read_systems([str(path), str(path)], [str(path)])
