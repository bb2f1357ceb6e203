"""Tables are read row by row in every format, and a bad row does not end the file."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from nlgauge.core.errors import FileError
from nlgauge.data.files import TABULAR, lines_of, open_bytes, read_cells

ROWS = [
    (2, {"candidate": "a, b", "reference": "ä\u2028x"}),
    (3, {"candidate": "", "reference": "c"}),
]
CONTENT = {
    "jsonl": '{"candidate": "a, b", "reference": "ä\u2028x"}\n'
    '{"candidate": "", "reference": "c"}\n',
    "tsv": "candidate\treference\na, b\tä\u2028x\n\tc\n",
    "csv": 'candidate,reference\r\n"a, b",ä\u2028x\r\n,c\r\n',
}


def _compressed(content: bytes, ending: str) -> bytes:
    if ending == ".gz":
        return gzip.compress(content)
    if ending == ".zst":
        return pytest.importorskip("zstandard").ZstdCompressor().compress(content)
    return content


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("kind", CONTENT)
def test_rows_of_text_formats_compressed_or_not(tmp_path: Path, kind: str, ending: str) -> None:
    path = tmp_path / f"a.{kind}{ending}"
    path.write_bytes(_compressed(CONTENT[kind].encode("utf-8"), ending))
    lines = [(line - (kind == "jsonl"), cells) for line, cells in ROWS]
    assert list(read_cells(str(path), kind)) == lines


@pytest.mark.parametrize("kind", CONTENT)
def test_a_byte_order_mark_is_no_part_of_the_table(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    path.write_bytes(b"\xef\xbb\xbf" + CONTENT[kind].encode("utf-8"))
    assert [cells for _, cells in read_cells(str(path), kind)] == [cells for _, cells in ROWS]


def test_parquet_rows_are_numbered(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    table = {"candidate": [f"c{i}" for i in range(2500)], "references": [["r", "s"]] * 2500}
    parquet.write_table(pa.table(table), path, row_group_size=700)
    rows = list(read_cells(str(path), "parquet"))
    assert [number for number, _ in rows] == list(range(1, 2501))
    assert rows[2499][1] == {"candidate": "c2499", "references": ["r", "s"]}


def test_a_parquet_text_that_is_not_utf8_rejects_its_row_only(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    bytes_ = pa.array([b"ok", b"x\xff", b"fine"])
    texts = pa.Array.from_buffers(pa.string(), 3, bytes_.buffers())
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"candidate": texts}), path)
    rows = [cells for _, cells in read_cells(str(path), "parquet")]
    assert rows[0] == {"candidate": "ok"}
    assert rows[2] == {"candidate": "fine"}
    assert isinstance(rows[1], str)
    assert "not UTF-8: byte 0xff" in rows[1]


@pytest.mark.parametrize(
    ("kind", "content", "line", "reason"),
    [
        ("jsonl", b'{"a": 1}\n{"a": \n{"a": 2}\n', 2, "not JSON: Expecting value"),
        ("jsonl", b'{"a": 1}\n[1]\n{"a": 2}\n', 2, "not a JSON object but '[1]'"),
        ("jsonl", b'{"a": 1}\n{"a": "\xff"}\n{"a": 2}\n', 2, "not UTF-8: byte 0xff"),
        ("jsonl", b'{"a": 1}\n' + b"[" * 100_000 + b'\n{"a": 2}\n', 2, "not JSON"),
        ("jsonl", b'{"a": 1}\n{"a": ' + b"9" * 5000 + b'}\n{"a": 2}\n', 2, "not JSON"),
        ("tsv", b"a\tb\n1\t2\n1\n3\t4\n", 3, "1 field, but the heading names 2"),
        ("tsv", b"a\tb\n1\t2\n\xe9\t2\n3\t4\n", 3, "not UTF-8: byte 0xe9"),
        ("csv", b"a,b\n1,2\n1,2,3\n3,4\n", 3, "3 fields, but the heading names 2"),
        ("csv", b"a,b\n1,2\n1,\x80\n3,4\n", 3, "not UTF-8: byte 0x80"),
        ("csv", b"a,b\n1,2\n1\r,2\n3,4\n", 3, "not CSV: new-line character"),
    ],
)
def test_a_bad_row_is_reported_and_the_next_row_is_read(
    tmp_path: Path, kind: str, content: bytes, line: int, reason: str
) -> None:
    path = tmp_path / f"a.{kind}"
    path.write_bytes(content)
    first, bad, last = read_cells(str(path), kind)
    assert isinstance(first[1], dict)
    assert isinstance(last[1], dict)
    assert bad[0] == line
    assert isinstance(bad[1], str)
    assert reason in bad[1]
    assert len(bad[1]) < 300


def test_a_carriage_return_inside_a_tsv_cell_is_text(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b'a\tb\r\nx\ry\t"z\r\n')
    assert list(read_cells(str(path), "tsv")) == [(2, {"a": "x\ry", "b": '"z'})]


@pytest.mark.parametrize(("kind", "mark"), [("tsv", "\t"), ("csv", ",")])
def test_a_header_that_names_a_column_twice_is_refused(
    tmp_path: Path, kind: str, mark: str
) -> None:
    path = tmp_path / f"a.{kind}"
    path.write_text(mark.join(["ref", "x", "ref"]) + "\n", "utf-8")
    with pytest.raises(FileError, match="names 'ref' twice"):
        list(read_cells(str(path), kind))


def test_a_parquet_table_that_names_a_column_twice_is_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table([["a"], ["b"]], names=["ref", "ref"]), path)
    with pytest.raises(FileError, match="names 'ref' twice"):
        list(read_cells(str(path), "parquet"))


def test_a_cell_may_be_long_and_hold_nul(tmp_path: Path) -> None:
    text = "w\0" * 500_000
    path = tmp_path / "a.csv"
    path.write_text(f'a\n"{text}"\n', "utf-8")
    assert list(read_cells(str(path), "csv")) == [(2, {"a": text})]


@pytest.mark.parametrize("ending", [".gz", ".zst", ".parquet"])
def test_a_truncated_file_is_an_error_wherever_it_was_cut(tmp_path: Path, ending: str) -> None:
    lines = [f'{{"candidate": "{i * 7919}", "reference": "{i}"}}\n' for i in range(3000)]
    path = tmp_path / f"a.jsonl{ending}"
    if ending == ".parquet":
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        sink = io.BytesIO()
        parquet.write_table(pa.table({"candidate": lines}), sink)
        whole = sink.getvalue()
    else:
        whole = _compressed("".join(lines).encode(), ending)
    kind = "parquet" if ending == ".parquet" else "jsonl"
    for length in (len(whole) - 1, len(whole) * 2 // 3, 20):
        path.write_bytes(whole[:length])
        with pytest.raises(FileError, match="cannot be read"):
            list(read_cells(str(path), kind))


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_compressed_files_may_be_concatenated_and_large(tmp_path: Path, ending: str) -> None:
    pieces = [b"one\n", b"", b"x" * 3_000_000 + b"\n", b"last\n"]
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"".join(_compressed(piece, ending) for piece in pieces))
    with open_bytes(str(path)) as content:
        assert content.read() == b"".join(pieces)
    assert [len(line) for line in lines_of(str(path))] == [3, 3_000_000, 4]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_other_bytes_after_a_compressed_file_are_an_error(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(_compressed(b"a\n" * 1000, ending) + b"other bytes")
    with pytest.raises(FileError, match="cannot be read"):
        list(lines_of(str(path)))


@pytest.mark.parametrize("kind", TABULAR)
def test_a_missing_file_is_an_error(tmp_path: Path, kind: str) -> None:
    with pytest.raises(FileError, match="there is no file"):
        list(read_cells(str(tmp_path / "none"), kind))
