"""Lists in JSON files are read in pieces, with the line of every row."""

from __future__ import annotations

import io
import json

import pytest

from nlgauge.core.errors import FileError
from nlgauge.data import json_rows
from nlgauge.data.json_rows import array_rows


def _read(content: bytes) -> list:
    return list(array_rows("a.json", io.BytesIO(content)))


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1 << 16])
def test_rows_are_the_same_for_pieces_of_any_size(
    monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr(json_rows, "_PIECE", piece)
    rows = [{"a": 'ü\u2028\\ "x"', "b": [1, 2.5, None, True]}, {}, {"c": {"d": "😀" * 9}}]
    content = json.dumps(rows, indent=1, ensure_ascii=False).encode()
    assert [cells for _, cells in _read(content)] == rows
    assert [cells for _, cells in _read(json.dumps(rows).encode())] == rows
    assert _read(b" [ ] \n") == []


def test_rows_have_the_number_of_their_last_line() -> None:
    content = b'[\n{"a": 1},\n{"a":\n2}, {"a": 3}]'
    assert [line for line, _ in _read(content)] == [2, 4, 4]


@pytest.mark.parametrize("piece", [1, 5, 1 << 16])
def test_a_value_that_is_no_row_is_reported_and_the_next_row_is_read(
    monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr(json_rows, "_PIECE", piece)
    rows = [cells for _, cells in _read(b'[{"a": 1}, 1234567, [2], {"b": 1, "b": 2}, {"a": 3}]')]
    assert rows[0] == {"a": 1}
    assert rows[4] == {"a": 3}
    assert rows[1].startswith("not a JSON object but '1234567")
    assert rows[2].startswith("not a JSON object but '[2]")
    assert rows[3].startswith("not JSON: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.json is not a list of rows"),
        (b'{"a": 1}\n{"a": 2}\n', r"not a list of rows.*name it \.jsonl"),
        (b'[{"a": 1} {"a": 2}]', "line 1: not JSON: expecting ',' or ']' after a row"),
        (b'[{"a": 1},\n]', "line 2: not JSON: expecting value"),
        (b'[{"a": 1},\n{"a": ', "line 2: not JSON"),
        (b'[{"a": 1}', "line 1: not JSON: expecting ',' or ']'"),
        (b'[{"a": 1}] x', "there is more after the list"),
        (b'[{"a": "\xff"}]', "is not UTF-8 after line 1: byte 0xff"),
        (b"[" * 100_000, "not JSON: it is nested too deeply"),
        (b'[{"a": ' + b"9" * 5000 + b"}]", "not JSON: Exceeds the limit"),
    ],
)
def test_a_file_that_is_not_a_list_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        _read(content)


def test_a_large_list_is_not_held_at_once() -> None:
    class Endless(io.RawIOBase):
        """An endless JSON list that counts the bytes read from it."""

        def __init__(self) -> None:
            self.given = 0

        def read(self, size: int = -1) -> bytes:
            piece = (b"[" if self.given == 0 else b"") + b'{"a": "text"},' * (size // 14)
            self.given += len(piece)
            return piece

    content = Endless()
    rows = array_rows("a.json", content)
    assert [next(rows)[1] for _ in range(20_000)] == [{"a": "text"}] * 20_000
    assert content.given < 20_000 * 14 + 4 * (1 << 16)
