"""Lines, texts and tables from files, compressed or not, or from stdin (``-``).

Tables are JSON Lines, TSV, CSV and Parquet. Gzip and Zstandard are recognised by content.
"""

import codecs
import csv
import gzip
import io
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import chain
from pathlib import Path
from threading import Thread
from typing import IO, Any, cast

from nlgauge.core.errors import FileError, MissingExtra
from nlgauge.core.jsonable import unique_keys
from nlgauge.data.encodings import HEAD, unmarked_utf16

# The first name is ours; the others are names that other tools use for the same column.
COLUMNS: dict[str, tuple[str, ...]] = {
    "candidate": ("candidate", "prediction", "hypothesis", "hyp", "mt", "output", "candidates"),
    "references": ("references", "reference", "ref", "refs", "target", "targets"),
    "source": ("source", "src", "input"),
    "system": ("system", "model", "sys"),
    "id": ("id", "segment", "seg_id", "segment_id"),
}
Cells = Mapping[str, Any] | str  # by column, or the reason why the row cannot be read
NumberedRows = Iterator[tuple[int, Cells]]
Rows = list[tuple[str, dict[str, Any]]]
_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_UNICODE = {  # UTF-32 first, as its mark starts with that of UTF-16
    **dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "UTF-32"),
    **dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "UTF-16"),
}
_MAX_FIELD = 2**31 - 1  # the csv module's default of 131,072 is short for a document
_PIPE_SECONDS = 5.0  # to wait for the program that writes to a named pipe


@contextmanager
def open_bytes(path: str) -> Iterator[IO[bytes]]:
    """Open a file, or stdin for ``-``, for reading its decompressed content."""
    try:
        with _open_raw(path) as raw:
            start = raw.peek(4)[:4]
            content: Any = raw
            if start[:2] == _GZIP:
                content = gzip.GzipFile(fileobj=raw)
            elif start == _ZSTANDARD:
                # Unlike the reader of the package zstandard, this one refuses truncated files.
                stream = _pyarrow("a Zstandard file").CompressedInputStream(raw, "zstd")
                content = io.BufferedReader(stream)
            marks = (name for mark, name in _UNICODE.items() if content.peek(4).startswith(mark))
            if coding := next(marks, None) or unmarked_utf16(content.peek(HEAD)[:HEAD]):
                way = f"convert it with iconv -f {coding.lower()} -t utf-8"
                raise FileError(f"file {path!r} is {coding}, not UTF-8; {way}")
            yield content
    except FileNotFoundError:
        raise FileError(f"there is no file {path!r}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"file {path!r} cannot be read: {error}") from error


def _open_raw(path: str) -> AbstractContextManager[io.BufferedReader]:
    if path != "-":
        return _open_file(Path(path))
    stdin = sys.stdin.buffer
    if not isinstance(stdin, io.BufferedReader):  # a replacement of stdin without peek()
        stdin = io.BufferedReader(cast(io.RawIOBase, io.BytesIO(stdin.read())))
    return nullcontext(stdin)


def _open_file(path: Path) -> io.BufferedReader:
    if path.is_char_device() or path.is_block_device():
        raise FileError(f"{str(path)!r} is a device, which may have no end; name a file")
    if not (path.is_fifo() and os.access(path, os.R_OK)):
        return path.open("rb")
    opened: list[io.BufferedReader] = []  # by a thread, as it waits for a writer, perhaps for ever
    thread = Thread(target=lambda: opened.append(path.open("rb")), daemon=True)
    thread.start()
    thread.join(_PIPE_SECONDS)
    if not opened:
        raise FileError(f"{str(path)!r} is a pipe that no program writes to; name a file")
    return opened[0]


def _pyarrow(wanted: str) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra(wanted, "pyarrow", "streams") from None
    return pa


def lines_of(path: str) -> Iterator[bytes]:
    """Yield the lines of a file, split at line feeds only; segments may hold other separators."""
    with open_bytes(path) as content:
        for number, line in enumerate(content):
            text = line.removesuffix(b"\n").removesuffix(b"\r")
            yield text.removeprefix(b"\xef\xbb\xbf") if number == 0 else text


def decode(line: bytes, where: str = "") -> str:
    """Return the text of a line, or raise a FileError that names the byte that is not UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(where + _not_utf8(line[error.start])) from None


def _not_utf8(byte: int) -> str:
    return f"not UTF-8: byte 0x{byte:02x}; convert it, for example with iconv -f latin1 -t utf-8"


def read_lines(path: str) -> list[str]:
    """Return the lines of a file."""
    lines = enumerate(lines_of(path), start=1)
    return [decode(line, f"{path}, line {number}: ") for number, line in lines]


def check_parallel(path: object, lines: list[str], other: str, expected: int) -> list[str]:
    """Return the lines if there are as many as ``other`` says that it has: "the sources have"."""
    if len(lines) != expected:
        counts = f"{len(lines)} lines, but {other} {expected}"
        raise FileError(f"{path} has {counts}; line i of one belongs to line i of the other")
    return lines


def format_of(path: str, *, wanted: str | None = None) -> str:
    """Return the format of a file: ``wanted``, else by its name, else text."""
    if wanted is not None:
        return wanted
    kind = Path(path.lower().removesuffix(".gz").removesuffix(".zst")).suffix[1:]
    return "jsonl" if kind == "ndjson" else kind if kind in TABULAR else "text"


def read_table(path: str, kind: str | None = None, *, what: str = "table") -> Rows:
    """Return the rows of a table file, each with its place in words, such as ``a.csv, line 2``."""
    form = kind or format_of(path)
    if form not in TABULAR:
        raise FileError(f"{path} is not a {what}; its name should end in {ENDINGS} (or with .gz)")
    rows = []
    for line, cells in read_cells(path, form):
        where = f"{path}, line {line}"
        if isinstance(cells, str):
            raise FileError(f"{where}: {cells}")
        rows.append((where, dict(cells)))
    return rows


def read_cells(path: str, kind: str) -> NumberedRows:
    """Yield the rows of a table, each with the number of its last line."""
    return _READERS[kind](path)


def _json_rows(path: str) -> NumberedRows:
    lines = enumerate(lines_of(path), start=1)
    return ((number, parse_json_row(line)) for number, line in lines if line.strip())


def load_json(text: str) -> Any:
    """Return the value of a JSON text; ValueError if it is not JSON or has a key twice."""
    return json.loads(text, object_pairs_hook=unique_keys)


def read_json(path: str) -> Any:
    """Return the value of a JSON file."""
    text = "\n".join(read_lines(path))
    try:
        return load_json(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path} is not JSON: {error}") from None


def parse_json_row(line: bytes) -> Cells:
    """Return the cells of a line of JSON Lines, or the reason why it has none."""
    try:
        text = decode(line)
        cells = load_json(text)
    except FileError as error:
        return str(error)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    return cells if isinstance(cells, dict) else f"not a JSON object but {text[:40]!r}"


# Bytes that are not UTF-8 pass as surrogates, so that they cost their row and not the whole file.
def _tsv_rows(path: str) -> NumberedRows:
    """Rows split at tabs; a quotation mark in a TSV is a character of the text."""
    lines = (line.decode("utf-8", "surrogateescape") for line in lines_of(path))
    rows = ((i, line.split("\t") if line or i == 1 else []) for i, line in enumerate(lines, 1))
    return _separated_rows(path, rows)


def _csv_rows(path: str) -> NumberedRows:
    csv.field_size_limit(_MAX_FIELD)

    def rows(content: IO[bytes]) -> Iterator[tuple[int, list[str] | str]]:
        reader = csv.reader(line.decode("utf-8", "surrogateescape") for line in content)
        while True:
            try:
                cells: list[str] | str = next(reader)
            except StopIteration:
                return
            except csv.Error as error:  # the reader continues with the next line
                cells = f"not CSV: {error}"
            yield reader.line_num, cells

    with open_bytes(path) as content:
        yield from _separated_rows(path, rows(content))


def _separated_rows(path: str, rows: Iterator[tuple[int, list[str] | str]]) -> NumberedRows:
    _, first = next(rows, (0, []))
    if isinstance(first, str):
        raise FileError(f"{path}: the heading is {first}")
    heading = [name.removeprefix("\ufeff") for name in first]
    for name, count in Counter(filter(None, heading)).items():
        if count > 1:
            raise FileError(f"{path}: the heading names {name!r} twice; rename one of the columns")
    column = find_column(heading, COLUMNS["references"])
    at = None if column is None else heading.index(column)
    for number, cells in rows:
        if cells:
            yield number, cells if isinstance(cells, str) else _separated_cells(heading, cells, at)


def _separated_cells(heading: list[str], cells: list[Any], references: int | None) -> Cells:
    if len(cells) != len(heading):
        return f"{len(cells)} fields, but the heading names {len(heading)}"
    marks = chain.from_iterable(cell for cell in cells if not cell.isascii())
    escaped = next((mark for mark in marks if "\udc80" <= mark <= "\udcff"), None)
    if escaped:
        return _not_utf8(ord(escaped) - 0xDC00)
    if references is not None:
        cells[references] = _parse_listed(cells[references])
    return dict(zip(heading, cells, strict=True))


def _parse_listed(cell: str) -> str | list[Any]:
    """Return the texts of a cell that is a JSON list of texts, such as ``["a", "b"]``."""
    if cell[:1] == "[" and cell[-1:] == "]":
        with suppress(ValueError, RecursionError):
            texts = load_json(cell)
            if all(isinstance(text, str | None) for text in texts):
                return list(texts)
    return cell


def _parquet_rows(path: str) -> NumberedRows:
    pa = _pyarrow("a Parquet file")
    from pyarrow import parquet

    number = 0
    if Path(path).exists() and not Path(path).is_file():
        raise FileError(f"{path!r} is not a file, which Parquet needs")
    try:
        with parquet.ParquetFile(path) as table:
            batches = map(_parquet_cells, table.iter_batches(batch_size=1024))
            for number, cells in enumerate(chain.from_iterable(batches), start=1):
                yield number, cells
    except FileNotFoundError:
        raise FileError(f"there is no file {path!r}") from None
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"file {path!r} cannot be read after row {number}: {error}") from error


def _parquet_cells(batch: Any) -> list[Cells]:
    """Return the rows of a batch, converted one by one if a cell among them cannot be."""
    try:
        return list(batch.to_pylist())
    except (ValueError, OverflowError) as error:
        if batch.num_rows > 1:
            rows = (batch.slice(i, 1) for i in range(batch.num_rows))
            return [cells for row in rows for cells in _parquet_cells(row)]
        if isinstance(error, UnicodeDecodeError):
            return [_not_utf8(error.object[error.start])]
        return [f"a cell cannot be read: {error}"]


_READERS: dict[str, Callable[[str], NumberedRows]] = {
    "jsonl": _json_rows,
    "tsv": _tsv_rows,
    "csv": _csv_rows,
    "parquet": _parquet_rows,
}
TABULAR = tuple(_READERS)
ENDINGS = ", ".join(f".{name}" for name in TABULAR)


def find_column(columns: Iterable[Any], names: Sequence[str]) -> Any | None:
    """Return the column that carries one of the names, in any case; earlier names win."""
    lowered = {str(key).lower(): key for key in columns}
    return next((lowered[name] for name in names if name in lowered), None)


def require_column(where: str, columns: Iterable[Any], names: Sequence[str]) -> Any:
    """Return the column that carries one of the names, or raise a FileError that lists them."""
    found = find_column(columns, names)
    if found is None:
        accepted, has = ", ".join(names), ", ".join(map(repr, columns))[:200] or "nothing"
        raise FileError(f"{where} has no column {names[0]!r} (accepted: {accepted}); it has {has}")
    return found


def find_cell(where: str, row: Mapping[Any, Any], key: Any) -> Any:
    """Return the cell of a column that the first row has, or raise a FileError."""
    if key not in row:
        raise FileError(f"{where} has no column {key!r}, which the first row has")
    return row[key]


def parse_text(value: Any, where: str) -> str:
    """Return a text, or raise FileError."""
    if not isinstance(value, str):
        raise FileError(f"{where} is {value!r:.40}, not a text")
    return value


def parse_texts(value: Any, where: str) -> tuple[str, ...]:
    """Return a text or a non-empty list of texts as a tuple."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        raise FileError(f"{where} is {value!r:.60}, not a text or a list of texts")
    return tuple(texts)


def read_texts(path: str) -> list[str]:
    """Return the lines of a text file, or the texts of a table's rows.

    A row's text is its column ``text`` or its first reference, as its references are paraphrases.
    """
    if format_of(path) not in TABULAR:
        return read_lines(path)
    table = read_table(path)
    keys = [
        require_column(where, row, ("text", *COLUMNS["references"])) for where, row in table[:1]
    ]
    cells = (
        (f"{where}: {key}", find_cell(where, row, key)) for where, row in table for key in keys
    )
    return [parse_texts("" if cell is None else cell, where)[0] for where, cell in cells]
