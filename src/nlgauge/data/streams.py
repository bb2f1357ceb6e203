"""Rows of system outputs read one after the other, so that memory does not grow with the files.

A row that cannot be used is told as such, with its place and the reason, and the next one is read.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, FileError, UsageError
from nlgauge.data.files import COLUMNS, find_column, format_of
from nlgauge.data.systems import names_of, tables_of
from nlgauge.data.tables import Cells, decoded, lines_of, read_cells


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate with its references, of one system and one segment, and where it stands."""

    place: str
    system: str
    id: str
    candidate: str
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that cannot be scored: where it stands and why."""

    place: str
    reason: str


@dataclass(frozen=True)
class InputFiles:
    """The files of a run: candidates of systems, and references where those are lines of text."""

    candidates: tuple[str, ...]
    references: tuple[str, ...] = ()
    wanted: str | None = None

    @classmethod
    def of(
        cls, candidates: Sequence[str], references: Sequence[str], *, wanted: str | None = None
    ) -> InputFiles:
        """The files, after a look at whether they fit together."""
        if "-" in [*candidates, *references]:
            raise UsageError(
                "a run that can be resumed reads its input more than once, so it cannot come from "
                "stdin (-); write it to a file first"
            )
        for path in [*candidates, *references]:
            if Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()):
                raise UsageError(
                    f"{path!r} is a pipe or a device, and a run that can be resumed reads its "
                    "input more than once; write it to a file first"
                )
        tabular = {bool(tables_of(path, wanted=wanted)) for path in candidates}
        if tabular == {True, False}:
            raise UsageError("the candidates mix text files with tables; score them separately")
        if tabular == {True} and references:
            raise UsageError("tables hold their references in a column; leave out -r")
        if tabular == {False} and not references:
            raise UsageError("candidates read as lines of text need references: add -r FILE")
        return cls(tuple(candidates), tuple(references), wanted)

    @property
    def names(self) -> list[str]:
        """What the systems are called whose rows do not name their own."""
        return names_of(self.candidates)

    def files(self) -> list[str]:
        """Every file that is read, folders opened."""
        opened = [file for path in self.candidates for file in self._tables(path) or [path]]
        return [*opened, *self.references]

    def rows(self) -> Iterator[Row | Rejected]:
        """All rows in the order of the files; text files go line by line through all systems."""
        if self.references:
            return _text_rows(self.candidates, self.references, self.names)
        return self._table_rows()

    def _table_rows(self) -> Iterator[Row | Rejected]:
        counts: Counter[str] = Counter()
        for path, name in zip(self.candidates, self.names, strict=True):
            for file in self._tables(path):
                kind = format_of(file, wanted=self.wanted)
                for line, cells in read_cells(file, kind):
                    yield _row(f"{file}, line {line}", cells, name, counts)

    def _tables(self, path: str) -> list[str]:
        return tables_of(path, wanted=self.wanted)


def file_digest(path: str) -> dict[str, str | int]:
    """Return the name without folders, the size and the SHA-256 of a file as stored."""
    try:
        with Path(path).open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
            return {"name": Path(path).name, "bytes": content.tell(), "sha256": digest}
    except OSError as error:
        raise FileError(f"file {path!r} cannot be read: {error.strerror}") from error


def _row(place: str, cells: Cells, system: str, counts: Counter[str]) -> Row | Rejected:
    if isinstance(cells, str):
        counts[system] += 1
        return Rejected(place, cells)
    keys = _columns(tuple(cells))
    named = str(cells[keys["system"]]) if "system" in keys else system
    position = counts[named]
    counts[named] += 1
    for wanted in ("candidate", "references"):
        if wanted not in keys:
            return Rejected(
                place,
                f"no {wanted!r} (accepted: {', '.join(COLUMNS[wanted])}); "
                f"it has {', '.join(map(repr, cells)) or 'nothing'}",
            )
    identity = str(cells[keys["id"]]) if "id" in keys else str(position)
    return _checked(place, named, identity, cells[keys["candidate"]], cells[keys["references"]])


@lru_cache(maxsize=64)
def _columns(names: tuple[str, ...]) -> dict[str, str]:
    """Which of the columns holds what; rows of one table mostly have the same ones."""
    row = dict.fromkeys(names)
    found = {wanted: find_column(row, accepted) for wanted, accepted in COLUMNS.items()}
    return {wanted: name for wanted, name in found.items() if name is not None}


def _checked(
    place: str, system: str, identity: str, candidate: Any, references: Any
) -> Row | Rejected:
    """The row if a corpus would take it; a corpus knows what is wrong with it otherwise."""
    group = references if isinstance(references, list) else [references]
    if _plain([system, identity, candidate, *group]) and group:
        return Row(place, system, identity, candidate, tuple(group))
    try:
        one = Corpus.of([candidate], [references], systems=[system], ids=[identity])
    except DataError as error:
        return Rejected(place, str(error))
    return Row(place, system, identity, one.candidates[0], one.references[0])


def _plain(texts: Sequence[Any]) -> bool:
    """Whether all are texts beyond doubt, which spares most rows a slower look."""
    return all(isinstance(text, str) and text.isascii() for text in texts)


def _text_rows(
    candidates: Sequence[str], references: Sequence[str], names: Sequence[str]
) -> Iterator[Row | Rejected]:
    paths = [*candidates, *references]
    for number, lines in enumerate(zip_longest(*map(lines_of, paths))):
        _refuse_uneven(paths, lines, number)
        texts = [_text_or_reason(line or b"") for line in lines]
        group = texts[len(candidates) :]
        wrong = _wrong_reference(references, group)
        for path, name, text in zip(candidates, names, texts, strict=False):
            place = f"{path}, line {number + 1}"
            reason = str(text) if isinstance(text, ValueError) else wrong
            yield (
                Rejected(place, reason)
                if reason is not None
                else _checked(place, name, str(number), text, group)
            )


def _wrong_reference(references: Sequence[str], group: Sequence[str | ValueError]) -> str | None:
    for path, text in zip(references, group, strict=True):
        if isinstance(text, ValueError):
            return f"its reference in {Path(path).name} is {text}"
    return None


def _refuse_uneven(paths: Sequence[str], lines: Sequence[bytes | None], number: int) -> None:
    ended = [path for path, line in zip(paths, lines, strict=True) if line is None]
    if ended:
        longer = next(path for path, line in zip(paths, lines, strict=True) if line is not None)
        raise FileError(
            f"{ended[0]} ends after {number} lines, but {longer} goes on; "
            "line i of one belongs to line i of the other"
        )


def _text_or_reason(line: bytes) -> str | ValueError:
    try:
        return decoded(line)
    except ValueError as error:
        return error
