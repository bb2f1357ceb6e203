"""Lines, texts and tables from files, compressed or not, or from stdin (``-``).

Tables are JSON Lines, TSV, CSV and Parquet. Gzip and Zstandard are recognised by content.
"""

import csv
import gzip
import io
import json
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import FileError, MissingExtra

# The first name is ours; the others are names that other tools use for the same column.
COLUMNS: dict[str, tuple[str, ...]] = {
    "candidate": ("candidate", "prediction", "hypothesis", "hyp", "mt", "output", "candidates"),
    "references": ("references", "reference", "ref", "refs", "target", "targets"),
    "source": ("source", "src", "input"),
    "system": ("system", "model", "sys"),
    "id": ("id", "segment", "seg_id", "segment_id"),
}
Cells = Mapping[str, Any] | str
"""The cells of a row by column, or the reason why it cannot be read."""

NumberedRows = Iterator[tuple[int, Cells]]
_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BATCH = 1024
_MAX_FIELD = 2**31 - 1  # the csv module's default of 131,072 is short for a document


@contextmanager
def open_bytes(path: str) -> Iterator[IO[bytes]]:
    """Open a file, or stdin for ``-``, for reading its decompressed content."""
    try:
        with _open_raw(path) as raw:
            start = raw.peek(4)[:4]
            if start[:2] == _GZIP:
                yield cast(IO[bytes], gzip.GzipFile(fileobj=raw))
            elif start == _ZSTANDARD:
                yield _zstandard(raw)
            else:
                yield raw
    except FileNotFoundError:
        raise FileError(f"there is no file {path!r}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"file {path!r} cannot be read: {error}") from error


@contextmanager
def _open_raw(path: str) -> Iterator[io.BufferedReader]:
    if path != "-":
        with Path(path).open("rb") as raw:
            yield raw
    elif isinstance(sys.stdin.buffer, io.BufferedReader):
        yield sys.stdin.buffer
    else:  # a replacement of stdin without peek()
        yield io.BufferedReader(cast(io.RawIOBase, io.BytesIO(sys.stdin.buffer.read())))


def _zstandard(raw: IO[bytes]) -> IO[bytes]:
    try:
        import pyarrow as pa  # whose reader refuses truncated files, unlike zstandard's
    except ImportError:
        raise MissingExtra("a Zstandard file", "pyarrow", "streams") from None
    return io.BufferedReader(pa.CompressedInputStream(raw, "zstd"))


def lines_of(path: str) -> Iterator[bytes]:
    """Yield the lines of a file, split at line feeds only; segments may hold other separators."""
    with open_bytes(path) as content:
        for number, line in enumerate(content):
            text = line.removesuffix(b"\n").removesuffix(b"\r")
            yield text.removeprefix(b"\xef\xbb\xbf") if number == 0 else text


def decode(line: bytes) -> str:
    """Return the text of a line, or raise a ValueError that names the byte that is not UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(_not_utf8(line[error.start])) from None


def _not_utf8(byte: int) -> str:
    return f"not UTF-8: byte 0x{byte:02x}; convert it, for example with iconv -f latin1 -t utf-8"


def read_lines(path: str) -> list[str]:
    """Return the lines of a file."""
    lines = []
    for number, line in enumerate(lines_of(path), start=1):
        try:
            lines.append(decode(line))
        except ValueError as error:
            raise FileError(f"{path}, line {number}: {error}") from None
    return lines


def check_parallel(path: object, lines: Sequence[str], other: str, expected: int) -> None:
    """Raise unless there are as many lines as ``other`` says that it has: "the sources have"."""
    if len(lines) != expected:
        raise FileError(
            f"{path} has {len(lines)} lines, but {other} {expected}; "
            "line i of one belongs to line i of the other"
        )


def format_of(path: str, *, wanted: str | None = None) -> str:
    """Return the format of a file: ``wanted``, else by its name, else text."""
    if wanted is not None:
        return wanted
    suffixes = [suffix.lstrip(".").lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in ("gz", "zst"):
        suffixes.pop()
    kind = "jsonl" if suffixes[-1:] == ["ndjson"] else "".join(suffixes[-1:])
    return kind if kind in TABULAR else "text"


def read_table(path: str, kind: str | None = None, *, what: str = "table") -> "Rows":
    """Return the rows of a table file, each with its place in words, such as ``a.csv, line 2``."""
    form = kind or format_of(path)
    if form not in TABULAR:
        raise FileError(
            f"{path} is not a {what}; its name should end in "
            f"{', '.join('.' + name for name in TABULAR)} (or those with .gz)"
        )
    rows = []
    for line, cells in read_cells(path, form):
        where = f"{path}, line {line}"
        if isinstance(cells, str):
            raise FileError(f"{where}: {cells}")
        rows.append((where, dict(cells)))
    return rows


Rows = list[tuple[str, dict[str, Any]]]


def read_cells(path: str, kind: str) -> NumberedRows:
    """Yield the rows of a table, each with the number of its last line."""
    return _READERS[kind](path)


def _json_rows(path: str) -> NumberedRows:
    for number, line in enumerate(lines_of(path), start=1):
        if line.strip():
            yield number, parse_json_row(line)


def parse_json_row(line: bytes) -> Cells:
    """Return the cells of a line of JSON Lines, or the reason why it has none."""
    try:
        text = decode(line)
    except ValueError as error:
        return str(error)
    try:
        cells = json.loads(text)
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
    with open_bytes(path) as content:
        reader = csv.reader(line.decode("utf-8", "surrogateescape") for line in content)

        def rows() -> Iterator[tuple[int, list[str] | str]]:
            while True:
                try:
                    cells = next(reader, None)
                except csv.Error as error:  # the reader continues with the next line
                    yield reader.line_num, f"not CSV: {error}"
                    continue
                if cells is None:
                    return
                yield reader.line_num, cells

        yield from _separated_rows(path, rows())


def _separated_rows(path: str, rows: Iterable[tuple[int, list[str] | str]]) -> NumberedRows:
    heading: list[str] | None = None
    for number, cells in rows:
        if heading is None:
            heading = _heading(path, cells)
        elif cells:
            yield number, cells if isinstance(cells, str) else _separated_cells(heading, cells)


def _heading(path: str, cells: list[str] | str) -> list[str]:
    if isinstance(cells, str):
        raise FileError(f"{path}: the heading is {cells}")
    names = [name.removeprefix("\ufeff") for name in cells]
    counts = Counter(name for name in names if name)
    repeated = next((name for name, count in counts.items() if count > 1), None)
    if repeated is not None:
        raise FileError(f"{path}: the heading names {repeated!r} twice; rename one of the columns")
    return names


def _separated_cells(heading: list[str], cells: list[str]) -> Cells:
    if len(cells) != len(heading):
        return f"{len(cells)} fields, but the heading names {len(heading)}"
    for cell in cells:
        if not cell.isascii():
            escaped = next((mark for mark in cell if "\udc80" <= mark <= "\udcff"), None)
            if escaped is not None:
                return _not_utf8(ord(escaped) - 0xDC00)
    return dict(zip(heading, cells, strict=True))


def _parquet_rows(path: str) -> NumberedRows:
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
    """The rows of a batch, converted one by one if a cell among them cannot be."""
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


def find_column(columns: Iterable[Any], names: Sequence[str]) -> Any | None:
    """Return the column that carries one of the names, in any case; earlier names win."""
    lowered = {str(key).lower(): key for key in columns}
    return next((lowered[name] for name in names if name in lowered), None)


def require_column(where: str, columns: Iterable[Any], names: Sequence[str]) -> Any:
    """Return the column that carries one of the names, or raise a FileError that lists them."""
    listed = list(columns)
    found = find_column(listed, names)
    if found is None:
        raise FileError(missing_column(where, listed, names))
    return found


def missing_column(where: str, columns: Iterable[Any], names: Sequence[str]) -> str:
    """Return the message about a missing column."""
    has = ", ".join(map(repr, columns))[:200] or "nothing"
    return f"{where} has no column {names[0]!r} (accepted: {', '.join(names)}); it has {has}"


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


def corpus_from_rows(path: str, rows: Sequence[Mapping[str, Any]], *, system: str) -> Corpus:
    """Return the corpus of table rows; ``system`` names rows without a system of their own."""
    if not rows:
        raise FileError(f"file {path!r} holds no rows")
    for name in ("candidate", "references"):
        require_column(f"file {path!r}", rows[0], COLUMNS[name])

    def column(name: str) -> list[Any] | None:
        key = find_column(rows[0], COLUMNS[name])
        missing = next((i for i, row in enumerate(rows) if key is not None and key not in row), -1)
        if missing >= 0:
            raise FileError(f"{path}: row {missing + 1} has no {key!r}, which earlier rows have")
        return None if key is None else [row[key] for row in rows]

    ids, systems, sources = column("id"), column("system"), column("source")
    return Corpus.of(
        column("candidate") or [],
        column("references") or [],
        ids=None if ids is None else [str(value) for value in ids],
        systems=[system] * len(rows) if systems is None else [str(value) for value in systems],
        sources=None if sources is None else ["" if s is None else str(s) for s in sources],
    )
