"""InputRange: consecutive rows of the input that can be read without the rows before them."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby, zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Self

from nlgauge.core.errors import FileError
from nlgauge.data import files
from nlgauge.data.columns import Columns
from nlgauge.data.cursors import Cursor
from nlgauge.data.harness_logs import is_harness_log
from nlgauge.data.text_rows import Keys, Rejected, Row, find_keys, table_rows, validated_row


class Place(NamedTuple):
    """The position of a row: the number of lines before it, and its offset in every file.

    ``counts`` are the numbers of rows of each system before it, if they serve as ids of rows.
    """

    line: int
    offsets: tuple[int, ...]
    counts: Mapping[str, int] = MappingProxyType({})


class InputRange(ABC):
    """A range of rows of the input."""

    label: str  # for messages
    numbered: bool  # whether the ids of rows are their numbers within the system
    seekable: bool  # whether a later place can be reached without reading the rows before it
    line: int  # number of lines before the range

    @abstractmethod
    def rows(self, counts: Counter[str]) -> Iterator[tuple[Place, Row | Rejected]]:
        """Yield the rows, each with the place where its line begins.

        ``counts`` are the numbers of rows of each system before the range; they are updated.
        """

    @abstractmethod
    def begin(self, place: Place) -> Self:
        """Return the range from a later place on."""


@dataclass(frozen=True)
class TableRange(InputRange):
    """Rows of a table that begin between two offsets."""

    label: str  # the path
    form: str
    system: str
    columns: Columns
    cluster: str | None = None  # the column of the clusters of segments
    keys: Keys = field(default_factory=dict)
    keys_from: int = 0  # offset of the row that determines the columns of all later rows
    numbered: bool = True
    seekable: bool = False
    offset: int = 0
    line: int = 0
    stop: int | None = None
    quoted: bool = False  # whether the first line continues a quoted field of a CSV file

    def rows(self, counts: Counter[str]) -> Iterator[tuple[Place, Row | Rejected]]:
        """Yield the rows, by the columns of the first row of the table."""
        cursor = Cursor(self.offset, self.line, self.stop, self.quoted)
        cells = files.read_cells(self.label, self.form, self.columns, cursor)
        table = ((f"{self.label}, line {line}", content) for line, content in cells)
        keys = self.keys if self.offset > self.keys_from else None
        place = end = self._place(cursor, counts)
        for row in table_rows(table, self.system, counts, self.columns, self.cluster, keys):
            if cursor.offset != end.offsets[0]:  # of another line than the row before
                place, end = end, self._place(cursor, counts)
            yield place, row

    def _place(self, cursor: Cursor, counts: Counter[str]) -> Place:
        return Place(cursor.line, (cursor.offset,), dict(counts) if self.numbered else {})

    def begin(self, place: Place) -> "TableRange":
        """Return the rows after a place where a row begins."""
        (offset,) = place.offsets
        quoted = self.quoted and offset == self.offset
        return replace(self, line=place.line, offset=offset, quoted=quoted)

    def divide(self, size: int) -> "list[TableRange]":
        """Divide the table into ranges of about ``size`` bytes.

        Compressed files and lists of JSON objects are not divided. The lines before a range are not
        counted, and it is not known whether a quoted field of a CSV file is open at its start.
        """
        table = self._with_keys()
        starts = self._starts(size)
        if len(starts) < 2:
            return [replace(table, seekable=starts == [0])]
        line = {start: start if self.form == "parquet" else 0 for start in starts}
        return [
            replace(table, seekable=True, offset=start, line=line[start], stop=stop)
            for start, stop in zip(starts, [*starts[1:], None], strict=True)
        ]

    def _with_keys(self) -> "TableRange":
        """Return the table with the columns that its first rows determine."""
        cursor = Cursor()
        before = 0
        for _, cells in files.read_cells(self.label, self.form, self.columns, cursor):
            if keys := find_keys(cells, self.columns):
                return replace(self, keys=keys, keys_from=before, numbered="id" not in keys)
            before = cursor.offset
        return self

    def _starts(self, size: int) -> list[int]:
        """Return the offsets where ranges begin, none if the file cannot be divided."""
        if self.form == "parquet":
            from nlgauge.data.parquet_rows import open_parquet, row_groups

            with open_parquet(self.label) as table:
                groups = row_groups(table)
            ends = accumulate(length for _, _, length in groups)
            blocks = ((end - group[2]) // size for end, group in zip(ends, groups, strict=True))
            numbered = groupby(zip(blocks, groups, strict=True), lambda pair: pair[0])
            return [next(pairs)[1][0] for _, pairs in numbered] or [0]
        if self.form in ("json", "eval") or files.is_compressed(self.label):
            return []
        if self.form == "jsonl" and is_harness_log(self.label):
            return []
        return list(range(0, max(files.file_size(self.label), 1), size))


@dataclass(frozen=True)
class TextRange(InputRange):
    """Lines of text files: candidates of several systems, references and sources."""

    systems: Sequence[tuple[str, str]]  # paths and names
    references: Sequence[str]
    sources: Sequence[str]  # at most one file
    seekable: bool = True
    line: int = 0
    offsets: tuple[int, ...] = ()

    numbered = False
    label = "the text files"

    @property
    def paths(self) -> list[str]:
        """The files that are read line by line."""
        return [*(path for path, _ in self.systems), *self.references, *self.sources]

    def rows(self, counts: Counter[str]) -> Iterator[tuple[Place, Row | Rejected]]:
        """Yield the rows of all systems for every line."""
        paths = self.paths
        what = ["reference"] * len(self.references) + ["source"] * len(self.sources)
        cursors = [Cursor(offset, self.line) for offset in self.offsets or [0] * len(paths)]
        stream = zip_longest(*map(files.lines_of, paths, cursors))
        place = Place(self.line, tuple(cursor.offset for cursor in cursors))
        for number, lines in enumerate(stream, self.line):
            if None in lines:
                raise _unequal(paths, number, lines, stream)
            texts = [_text_or_error(line) for line in lines]
            parallel = texts[len(self.systems) :]  # references and source
            named = zip(what, paths[len(self.systems) :], parallel, strict=True)
            wrong = [
                (role, Path(path).name, text)
                for role, path, text in named
                if isinstance(text, FileError)
            ]
            group, source = parallel[: len(self.references)], None
            if self.sources and not wrong:
                source = str(parallel[-1])
            for (path, name), text in zip(self.systems, texts, strict=False):
                where = f"{path}, line {number + 1}"
                row: Row | Rejected
                if isinstance(text, FileError):
                    row = Rejected(where, str(text))
                elif wrong:
                    row = Rejected(where, "its {} in {} is {}".format(*wrong[0]))
                else:
                    row = validated_row(where, name, str(number), text, group, source)
                counts[name] += 1
                yield place, row
            place = Place(number + 1, tuple(cursor.offset for cursor in cursors))

    def begin(self, place: Place) -> "TextRange":
        """Return the lines from a later one on."""
        return replace(self, line=place.line, offsets=place.offsets)


def _unequal(
    paths: Sequence[str],
    number: int,
    lines: Sequence[bytes | None],
    rest: Iterator[tuple[bytes | None, ...]],
) -> FileError:
    """Return the error for a file with fewer lines than another."""
    longer = next(i for i, line in enumerate(lines) if line is not None)
    total = number + 1 + sum(after[longer] is not None for after in rest)
    return files.unequal_lines(paths[lines.index(None)], number, f"{paths[longer]} has {total}")


def _text_or_error(line: bytes) -> str | FileError:
    try:
        return files.decode(line)
    except FileError as error:
        return error
