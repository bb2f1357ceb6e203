"""Cursor: the current position of a reader in a file, and where it stops."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

_PIECE = 1 << 20  # bytes to skip at a time in a compressed file
_MARK = b"\xef\xbb\xbf"


@dataclass
class Cursor:
    """A position in a file where reading begins; readers move it to the end of the last row.

    ``offset`` counts the bytes of the decompressed content, or the rows of JSON and Parquet files,
    and ``line`` the lines or rows before it. Rows that begin at ``stop`` or later are not read.
    ``quoted`` means that the first line after the offset continues a quoted field of a CSV file.
    """

    offset: int = 0
    line: int = 0
    stop: int | None = None
    quoted: bool = False

    @property
    def at_end(self) -> bool:
        """Whether the next row begins at ``stop`` or later."""
        return self.stop is not None and self.offset >= self.stop


def seek_line(content: IO[bytes], cursor: Cursor) -> None:
    """Move newly opened content, and the cursor, to the first line after the cursor."""
    if cursor.offset:
        _skip(content, cursor.offset - 1)
        cursor.offset += len(content.readline()) - 1  # only "\\n" if a line begins there


def lines_after(content: IO[bytes], cursor: Cursor) -> Iterator[bytes]:
    """Yield the lines from the cursor on, without the byte order mark."""
    while not cursor.at_end:
        line = content.readline()
        if not line:
            return
        text = line if cursor.offset else line.removeprefix(_MARK)
        cursor.offset += len(line)
        cursor.line += 1
        yield text


def _skip(content: IO[bytes], length: int) -> None:
    if content.seekable():
        content.seek(length)
        return
    while length and (piece := content.read(min(length, _PIECE))):
        length -= len(piece)
