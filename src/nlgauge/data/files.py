"""Readers of lines, texts and tables from plain or compressed files and from stdin (``-``).

Tables are JSON Lines, JSON, TSV, CSV and Parquet, and logs of evaluation harnesses. Gzip and
Zstandard are recognised by content.
"""

import codecs
import gzip
import io
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import chain, islice
from pathlib import Path
from threading import Thread
from typing import IO, Any, cast

from nlgauge.core.errors import FileError, MissingExtra, UsageError
from nlgauge.core.jsonable import unique_keys
from nlgauge.data.columns import COLUMNS, USUAL, Columns, check_distinct, find_cell, require_column
from nlgauge.data.csv_records import csv_records
from nlgauge.data.cursors import Cursor, lines_after, seek_line
from nlgauge.data.encodings import HEAD, OTHER_COMPRESSION, unmarked_utf16
from nlgauge.data.json_rows import array_rows
from nlgauge.data.urls import Url

Cells = Mapping[str, Any] | str  # by column, or the reason why the row cannot be read
NumberedRows = Iterator[tuple[int, Cells]]
Rows = list[tuple[str, dict[str, Any]]]
_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_UNICODE = {  # UTF-32 first, as its mark starts with that of UTF-16
    **dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "UTF-32"),
    **dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "UTF-16"),
}
_PIPE_SECONDS = 5.0  # time to wait for a program to open a named pipe for writing


@contextmanager
def open_bytes(path: str) -> Iterator[IO[bytes]]:
    """Open a file, or stdin for ``-``, for reading its decompressed content."""
    with explain_errors(path), _open_raw(path) as raw:
        start = raw.peek(HEAD)[:HEAD]
        content: Any = raw
        if other := OTHER_COMPRESSION.match(start):
            raise FileError(f"file {path!r} is compressed with {other.lastgroup}; decompress it")
        if start[:2] == _GZIP:
            content = gzip.GzipFile(fileobj=raw)
        elif start.startswith(_ZSTANDARD):
            # Unlike the reader of the package zstandard, this one rejects truncated files.
            stream = require_pyarrow("a Zstandard file").CompressedInputStream(raw, "zstd")
            content = io.BufferedReader(stream)
        marks = (name for mark, name in _UNICODE.items() if content.peek(4).startswith(mark))
        if coding := next(marks, None) or unmarked_utf16(content.peek(HEAD)[:HEAD]):
            way = f"convert it with iconv -f {coding.lower()} -t utf-8"
            raise FileError(f"file {path!r} is {coding}, not UTF-8; {way}")
        yield content


@contextmanager
def explain_errors(path: str) -> Iterator[None]:
    """Turn the errors of reading a file into FileErrors."""
    try:
        yield
    except FileNotFoundError:
        hint = "; URLs are only supported with --parts" if "://" in path else ""
        raise FileError(f"there is no file {path!r}{hint}") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"file {path!r} cannot be read: {reason}") from error


def _open_raw(path: str) -> AbstractContextManager[io.BufferedReader]:
    if path != "-":
        return open_file(path)
    if sys.stdin is None:  # the program was started with a closed stdin
        raise FileError("there is nothing to read from stdin (-): it is closed; name a file")
    stdin = sys.stdin.buffer
    if not isinstance(stdin, io.BufferedReader):  # a replacement of stdin without peek()
        stdin = io.BufferedReader(cast(io.RawIOBase, io.BytesIO(stdin.read())))
    return nullcontext(stdin)


def open_file(name: str) -> io.BufferedReader:
    """Open a local file, or a remote file if the name is a Url, without decompression."""
    if isinstance(name, Url):
        return name.open()
    path = Path(name)
    if path.is_char_device() or path.is_block_device():
        raise FileError(f"{str(path)!r} is a device, which may be endless; name a file")
    if not (path.is_fifo() and os.access(path, os.R_OK)):
        return path.open("rb")
    opened: list[io.BufferedReader] = []
    # In a thread, because opening a pipe blocks until a writer opens it.
    thread = Thread(target=lambda: opened.append(path.open("rb")), daemon=True)
    thread.start()
    thread.join(_PIPE_SECONDS)
    if not opened:
        raise FileError(f"{str(path)!r} is a pipe that no program writes to; name a file")
    return opened[0]


def file_size(path: str) -> int:
    """Return the size of a file in bytes, as stored."""
    if isinstance(path, Url):
        return path.size()
    with explain_errors(path):
        return Path(path).stat().st_size


def require_pyarrow(wanted: str) -> Any:
    """Return the package pyarrow, or raise MissingExtra for the feature ``wanted``."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra(wanted, "pyarrow", "streams") from None
    return pa


def lines_of(path: str, cursor: Cursor | None = None) -> Iterator[bytes]:
    """Yield the lines of a file, split only at line feeds: segments may contain others."""
    with open_bytes(path) as content:
        at = cursor or Cursor()
        seek_line(content, at)
        for line in lines_after(content, at):
            yield line.removesuffix(b"\n").removesuffix(b"\r")


def first_line(path: str) -> bytes:
    """Return the first line that is not blank, b"" if there is none."""
    return next((line for line in lines_of(path) if line.strip()), b"")


def decode(line: bytes, where: str = "") -> str:
    """Return the text of a line, or raise a FileError that names the byte that is not UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(where + not_utf8(line[error.start])) from None


def not_utf8(byte: int) -> str:
    """Return the reason why a row with this byte cannot be read."""
    return f"not UTF-8: byte 0x{byte:02x}; convert it, for example with iconv -f latin1 -t utf-8"


def read_lines(path: str) -> list[str]:
    """Return the lines of a file."""
    lines = enumerate(lines_of(path), start=1)
    return [decode(line, f"{path}, line {number}: ") for number, line in lines]


def check_parallel(path: object, lines: list[str], other: str, expected: int) -> list[str]:
    """Return the lines if there are ``expected`` ones; ``other`` is such as "the sources have"."""
    if len(lines) != expected:
        blank = len(lines) > expected and not lines[-1].strip()
        raise unequal_lines(path, len(lines), f"{other} {expected}", blank=blank)
    return lines


def unequal_lines(path: object, count: int, other: str, *, blank: bool = False) -> FileError:
    """Return the error for parallel files; ``blank`` is whether the last line of path is."""
    name = "stdin" if path == "-" else path
    counts = f"{count} line{'s' * (count != 1)}, but {other}"
    hint = f"; the last line of {name} is empty" if blank else ""
    return FileError(f"{name} has {counts}; line i of one belongs to line i of the other{hint}")


def is_compressed(path: str) -> bool:
    """Return whether a file is compressed, by its content."""
    with explain_errors(path), _open_raw(path) as raw:
        return raw.peek(4).startswith((_GZIP, _ZSTANDARD))


def format_of(path: str, *, wanted: str | None = None) -> str:
    """Return the format of a file: ``wanted``, else by its name, else text."""
    if wanted is not None:
        return wanted
    kind = Path(path.lower().removesuffix(".gz").removesuffix(".zst")).suffix[1:]
    return "jsonl" if kind == "ndjson" else kind if kind in TABULAR else "text"


def read_table(
    path: str,
    kind: str | None = None,
    *,
    what: str = "table",
    columns: Columns = USUAL,
) -> Rows:
    """Return the rows of a table file, each with its location, such as ``a.csv, line 2``."""
    form = kind or format_of(path)
    if form not in TABULAR:
        raise FileError(f"{path} is not a {what}; its name should end in {ENDINGS} (or with .gz)")
    rows = []
    for line, cells in read_cells(path, form, columns):
        where = f"{path}, line {line}"
        if isinstance(cells, str):
            raise FileError(f"{where}: {cells}")
        rows.append((where, dict(cells)))
    return rows


def read_cells(
    path: str, kind: str, columns: Columns = USUAL, cursor: Cursor | None = None
) -> NumberedRows:
    """Yield the rows of a table from the cursor on, each with the number of its last line."""
    start = cursor or Cursor()
    if kind in _SEPARATED:
        return _separated_rows(path, _SEPARATED[kind], columns, start)
    if not columns.header:
        raise UsageError(
            f"{path} is {kind}, which names its columns; only TSV and CSV lack a header"
        )
    return _READERS[kind](path, start)


def _array_rows(path: str, cursor: Cursor) -> NumberedRows:
    from nlgauge.data.inspect_logs import json_log_rows, starts_log

    with open_bytes(path) as content:
        is_log = starts_log(cast(io.BufferedReader, content).peek(HEAD)[:HEAD])
        rows = (json_log_rows if is_log else array_rows)(path, content)
        yield from _counted(rows, cursor, cursor.offset)


def _eval_rows(path: str, cursor: Cursor) -> NumberedRows:
    from nlgauge.data.inspect_logs import eval_rows

    return _counted(eval_rows(path), cursor, cursor.offset)


def _json_rows(path: str, cursor: Cursor) -> NumberedRows:
    from nlgauge.data.harness_logs import document_rows, is_document, is_harness_log

    skipped = 0
    if cursor.offset and is_harness_log(path):  # several lines form a row
        skipped, cursor.offset, cursor.line = cursor.offset, 0, 0
    begins = not cursor.offset
    lines = (line for line in lines_of(path, cursor) if line.strip())
    rows = ((cursor.line, parse_json_row(line)) for line in lines)
    first = next(rows, None)
    if first is None:
        return
    all_rows = chain([first], rows)
    if begins and is_document(first[1]):
        yield from _counted(document_rows(path, all_rows), cursor, skipped)
    yield from all_rows


def _counted(rows: NumberedRows, cursor: Cursor, skipped: int) -> NumberedRows:
    """Yield the rows after the skipped ones; the cursor of such files counts rows."""
    for number, (line, cells) in enumerate(islice(rows, skipped, None), skipped + 1):
        cursor.offset, cursor.line = number, line
        yield line, cells


def load_json(text: str) -> Any:
    """Return the value of a JSON text; ValueError if it is not JSON or has a key twice."""
    try:
        return json.loads(text, object_pairs_hook=unique_keys)
    except RecursionError:  # its message differs between versions of Python
        raise ValueError("it is nested too deeply") from None


def read_json(path: str) -> Any:
    """Return the value of a JSON file."""
    text = "\n".join(read_lines(path))
    try:
        return load_json(text)
    except ValueError as error:
        raise FileError(f"{path} is not JSON: {error}") from None


def parse_json_row(line: bytes) -> Cells:
    """Return the cells of a line of JSON Lines, or the reason why it has none."""
    try:
        text = decode(line)
        cells = load_json(text)
    except FileError as error:
        return str(error)
    except ValueError as error:
        return f"not JSON: {error}"
    return cells if isinstance(cells, dict) else f"not a JSON object but {text[:40]!r}"


# Bytes that are not UTF-8 are decoded as surrogates, so that only their row is rejected.
def _tsv_rows(path: str, cursor: Cursor) -> Iterator[tuple[int, list[str] | str]]:
    """Yield rows split at tabs; quotation marks have no special meaning in TSV files."""
    heading = cursor.offset == 0
    for line in lines_of(path, cursor):
        text = line.decode("utf-8", "surrogateescape")
        yield cursor.line, text.split("\t") if text or heading else []
        heading = False


def _csv_rows(path: str, cursor: Cursor) -> Iterator[tuple[int, list[str] | str]]:
    with open_bytes(path) as content:
        yield from csv_records(content, cursor)


def _separated_rows(
    path: str,
    read: Callable[[str, Cursor], Iterator[tuple[int, list[str] | str]]],
    columns: Columns,
    cursor: Cursor,
) -> NumberedRows:
    begun = cursor.offset > 0  # later in the file than its heading
    rows = read(path, cursor)
    line, first = next(read(path, Cursor()) if begun else rows, (0, []))
    if isinstance(first, str):
        raise FileError(f"{path}: the heading is {first}")
    heading = first
    if not columns.header:
        heading = [str(number) for number in range(1, len(first) + 1)]
        rows = rows if begun else chain([(line, first)], rows)
    check_distinct(path, filter(None, heading))
    lists: list[int] = []  # of the columns whose cells may be lists of references
    with suppress(FileError):  # raised again where the columns are needed
        lists = [heading.index(name) for name in columns.find_role("references", heading)]
    expected = "the heading names" if columns.header else "the first line has"
    for number, cells in rows:
        if not isinstance(cells, str) and cells and len(cells) != len(heading):
            yield (
                number,
                f"{len(cells)} field{'s' * (len(cells) != 1)}, but {expected} {len(heading)}",
            )
        elif cells:
            row = cells if isinstance(cells, str) else _separated_cells(heading, cells, lists)
            yield number, row


def _separated_cells(heading: list[str], cells: list[Any], lists: Sequence[int]) -> Cells:
    marks = chain.from_iterable(cell for cell in cells if not cell.isascii())
    escaped = next((mark for mark in marks if "\udc80" <= mark <= "\udcff"), None)
    if escaped:
        return not_utf8(ord(escaped) - 0xDC00)
    for at in lists:
        cells[at] = _parse_listed(cells[at])
    return dict(zip(heading, cells, strict=True))


def _parse_listed(cell: str) -> str | list[Any]:
    """Return the texts of a cell that is a JSON list of texts, such as ``["a", "b"]``."""
    if cell[:1] == "[" and cell[-1:] == "]":
        with suppress(ValueError):
            texts = load_json(cell)
            if all(isinstance(text, str | None) for text in texts):
                return list(texts)
    return cell


def _parquet_rows(path: str, cursor: Cursor) -> NumberedRows:
    from nlgauge.data.parquet_rows import parquet_rows

    return parquet_rows(path, cursor)


_SEPARATED = {"tsv": _tsv_rows, "csv": _csv_rows}
_READERS: dict[str, Callable[[str, Cursor], NumberedRows]] = {
    "jsonl": _json_rows,
    "json": _array_rows,
    "parquet": _parquet_rows,
    "eval": _eval_rows,
}
TABULAR = ("jsonl", "json", "tsv", "csv", "parquet", "eval")
ENDINGS = ", ".join(f".{name}" for name in TABULAR)


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
