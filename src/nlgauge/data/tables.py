"""Tables read row by row: JSON Lines, TSV, CSV and Parquet, packed or not.

A row that cannot be read is told as such, with its line and the reason; the next one is read.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nlgauge.core.errors import FileError, MissingExtra
from nlgauge.data.compression import open_bytes

Cells = Mapping[str, Any] | str
"""The cells of a row by column, or the reason why there are none."""

Numbered = Iterator[tuple[int, Cells]]
_BATCH = 1024
_LONGEST_FIELD = 2**31 - 1  # the csv module's own limit of 131,072 is short for a document


def read_cells(path: str, kind: str) -> Numbered:
    """The rows of a table, each with the number of the line it ends in."""
    return _READERS[kind](path)


def lines_of(path: str) -> Iterator[bytes]:
    """The lines of a file, split at line feeds only, as one segment may hold any other mark."""
    with open_bytes(path) as content:
        for number, line in enumerate(content):
            text = line.removesuffix(b"\n").removesuffix(b"\r")
            yield text.removeprefix(b"\xef\xbb\xbf") if number == 0 else text


def decoded(line: bytes) -> str:
    """The text of a line; a ValueError names the byte that is not UTF-8, and a way out."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(not_utf8(line[error.start])) from None


def not_utf8(byte: int) -> str:
    """The reason why a text with this byte is refused."""
    return f"not UTF-8: byte 0x{byte:02x}; convert it, for example with iconv -f latin1 -t utf-8"


def _json_rows(path: str) -> Numbered:
    for number, line in enumerate(lines_of(path), start=1):
        if line.strip():
            yield number, _json_cells(line)


def _json_cells(line: bytes) -> Cells:
    try:
        text = decoded(line)
    except ValueError as error:
        return str(error)
    try:
        cells = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    return cells if isinstance(cells, dict) else f"not a JSON object but {text[:40]!r}"


def _tab_rows(path: str) -> Numbered:
    """Rows split at tabs; a quotation mark in a TSV is a character of the text."""
    heading: list[str] | None = None
    for number, line in enumerate(lines_of(path), start=1):
        cells = line.decode("utf-8", "surrogateescape").split("\t")
        if heading is None:
            heading = _heading(path, cells)
        elif line:
            yield number, _separated_cells(heading, cells)


def _comma_rows(path: str) -> Numbered:
    csv.field_size_limit(_LONGEST_FIELD)
    with open_bytes(path) as content:
        # Bytes that are not UTF-8 must not end the whole file: they pass and are found in the row.
        reader = csv.reader(line.decode("utf-8", "surrogateescape") for line in content)
        heading: list[str] | None = None
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:  # the reader goes on with the next line
                if heading is None:
                    raise FileError(f"{path}: the heading is not CSV: {error}") from error
                yield reader.line_num, f"not CSV: {error}"
                continue
            if heading is None:
                heading = _heading(path, cells)
            elif cells:
                yield reader.line_num, _separated_cells(heading, cells)


def _heading(path: str, cells: list[str]) -> list[str]:
    names = [name.removeprefix("\ufeff") for name in cells]
    counts = Counter(name for name in names if name)
    doubled = next((name for name, count in counts.items() if count > 1), None)
    if doubled is not None:
        raise FileError(f"{path}: the heading names {doubled!r} twice; rename one of the columns")
    return names


def _separated_cells(heading: list[str], cells: list[str]) -> Cells:
    if len(cells) != len(heading):
        return f"{len(cells)} fields, but the heading names {len(heading)}"
    for cell in cells:
        if not cell.isascii():
            escaped = next((mark for mark in cell if "\udc80" <= mark <= "\udcff"), None)
            if escaped is not None:
                return not_utf8(ord(escaped) - 0xDC00)
    return dict(zip(heading, cells, strict=True))


def _parquet_rows(path: str) -> Numbered:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("a Parquet file", "pyarrow", "streams") from None
    number = 0
    try:
        with parquet.ParquetFile(path) as table:
            for batch in table.iter_batches(batch_size=_BATCH):
                for cells in _parquet_cells(batch):
                    number += 1
                    yield number, cells
    except FileNotFoundError:
        raise FileError(f"there is no file {path!r}") from None
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"file {path!r} cannot be read after row {number}: {error}") from error


def _parquet_cells(batch: Any) -> list[Cells]:
    """The rows of a batch; one by one where a cell among them is no value of Python's."""
    try:
        return list(batch.to_pylist())
    except (ValueError, OverflowError) as error:
        if batch.num_rows > 1:
            ones = (batch.slice(i, 1) for i in range(batch.num_rows))
            return [cells for one in ones for cells in _parquet_cells(one)]
        if isinstance(error, UnicodeDecodeError):
            return [not_utf8(error.object[error.start])]
        return [f"a cell cannot be read: {error}"]


_READERS: dict[str, Callable[[str], Numbered]] = {
    "jsonl": _json_rows,
    "tsv": _tab_rows,
    "csv": _comma_rows,
    "parquet": _parquet_rows,
}
TABULAR = tuple(_READERS)
