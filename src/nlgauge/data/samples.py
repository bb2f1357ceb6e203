"""Several candidates of each input, as decoders sample them, and references if there are any."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nlgauge.core.errors import DataError, FileError, UsageError
from nlgauge.data.files import COLUMNS, find_column, format_of, read_lines, read_numbered_rows

_CANDIDATES = ("candidates", "samples", "hypotheses", "predictions", "nbest")


@dataclass(frozen=True)
class Samples:
    """The candidates of every input."""

    ids: tuple[str, ...]
    candidates: tuple[tuple[str, ...], ...]
    references: tuple[tuple[str, ...], ...] | None = None

    def with_references(self, files: Sequence[str]) -> Samples:
        """The same with references from text files, one line per input, unless it has its own."""
        if not files:
            if self.references is None:
                raise UsageError("there are no references: add -r FILE, or a column 'references'")
            return self
        sets = [read_lines(path) for path in files]
        for path, lines in zip(files, sets, strict=True):
            if len(lines) != len(self.candidates):
                raise FileError(
                    f"there are candidates of {len(self.candidates)} inputs, but {path} has "
                    f"{len(lines)} lines"
                )
        return dataclasses.replace(self, references=tuple(zip(*sets, strict=True)))


def read_samples(path: str, number: int | None = None) -> Samples:
    """The candidates of a JSON Lines file, or of a text file with ``number`` lines per input."""
    if number is None:
        if format_of(path) not in ("jsonl", "text") or (format_of(path) == "text" and path != "-"):
            raise UsageError(
                f"{path} is not named .jsonl; for a text file with the candidates of each input on "
                "lines that follow each other, say how many there are: --samples N"
            )
        return _from_rows(path)
    lines = read_lines(path)
    if len(lines) % number:
        raise FileError(
            f"{path} has {len(lines)} lines, which is no multiple of {number} candidates per input"
        )
    groups = [tuple(lines[i : i + number]) for i in range(0, len(lines), number)]
    return Samples(tuple(map(str, range(len(groups)))), tuple(groups))


def _from_rows(path: str) -> Samples:
    ids: list[str] = []
    candidates: list[tuple[str, ...]] = []
    references: list[tuple[str, ...]] = []
    for line, row in read_numbered_rows(path, "jsonl"):
        key = find_column(row, _CANDIDATES)
        if key is None:
            raise FileError(
                f"{path}, line {line}: no list of candidates (a column {', '.join(_CANDIDATES)}); "
                f"it has {', '.join(map(repr, row))}"
            )
        candidates.append(_texts(row[key], f"{path}, line {line}: {key}"))
        name = find_column(row, COLUMNS["id"])
        ids.append(str(len(ids)) if name is None else str(row[name]))
        given = find_column(row, COLUMNS["references"])
        if given is not None:
            references.append(_texts(row[given], f"{path}, line {line}: {given}"))
    if not candidates:
        raise FileError(f"file {path!r} holds no rows")
    if references and len(references) != len(candidates):
        raise FileError(
            f"{path}: {len(references)} of {len(candidates)} rows have references; all or none must"
        )
    return Samples(tuple(ids), tuple(candidates), tuple(references) or None)


def _texts(value: Any, place: str) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        raise DataError(f"{place} must be a list of texts with at least one, not {value!r:.60}")
    return tuple(texts)
