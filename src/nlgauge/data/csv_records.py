"""Reader of CSV records from any offset, although quoted fields may contain line breaks."""

import csv
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO

from nlgauge.data.cursors import Cursor, lines_after, seek_line

_MAX_FIELD = 2**31 - 1  # the csv module's default of 131,072 is too short for documents
_NOT_CLOSED = "not CSV: a quotation mark is not closed"


def csv_records(content: IO[bytes], cursor: Cursor) -> Iterator[tuple[int, list[str] | str]]:
    """Yield the records that begin between the cursor and its stop, with their last lines.

    For a record that cannot be parsed, the reason is yielded. The last record may end after the
    stop.
    """
    csv.field_size_limit(_MAX_FIELD)
    at = Cursor(cursor.offset, cursor.line)
    seek_line(content, at)
    records = _parse(_decode(lines_after(content, at)), quoted=cursor.quoted)
    if cursor.quoted:  # the rest of a record that begins before the cursor
        next(records, None)
    cursor.offset, cursor.line = at.offset, at.line
    while not cursor.at_end:
        record = next(records, None)
        if record is None:
            return
        if record == _NOT_CLOSED:
            record = f"{_NOT_CLOSED} in the row that begins in line {cursor.line + 1}"
        cursor.offset, cursor.line = at.offset, at.line
        yield at.line, record


def quoted_at_stop(content: IO[bytes], start: int, stop: int) -> tuple[bool, bool]:
    """Return whether a quoted field is open at the first line after ``stop``, for two cases.

    The first value is for no open field at the first line after ``start``, the second for one.
    """
    csv.field_size_limit(_MAX_FIELD)
    cursor = Cursor(start, stop=stop)
    seek_line(content, cursor)
    lines = list(_decode(lines_after(content, cursor)))
    if not any('"' in line for line in lines):
        return False, True
    first, second = (
        _NOT_CLOSED in _parse(iter(lines), quoted=is_open) for is_open in (False, True)
    )
    return first, second


def _decode(lines: Iterable[bytes]) -> Iterator[str]:
    return (line.decode("utf-8", "surrogateescape") for line in lines)


def _parse(lines: Iterator[str], *, quoted: bool) -> Iterator[list[str] | str]:
    """Yield the records of lines, or the reason why one cannot be parsed.

    If ``quoted``, the first line continues a quoted field.
    """
    start = ('"' + line for line in [next(lines, "")]) if quoted else ()
    exhausted = False

    def watched() -> Iterator[str]:
        nonlocal exhausted
        yield from chain(start, lines)
        exhausted = True  # a reader requests another line only between records or quotation marks

    reader = csv.reader(watched())
    while True:
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:  # the reader continues with the next line
            yield f"not CSV: {error}"
        else:
            yield _NOT_CLOSED if exhausted else record
