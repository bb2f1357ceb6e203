"""Several candidates for each input, as decoders sample them, and references if there are any."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from nlgauge.core.errors import FileError, UsageError
from nlgauge.data.files import (
    COLUMNS,
    check_parallel,
    find_column,
    format_of,
    parse_texts,
    read_lines,
    read_table,
    require_column,
)

_CANDIDATES = ("candidates", "samples", "hypotheses", "predictions", "nbest")


@dataclass(frozen=True)
class Samples:
    """The candidates of every input."""

    ids: tuple[str, ...]
    candidates: tuple[tuple[str, ...], ...]
    references: tuple[tuple[str, ...], ...] | None = None

    def with_references(self, files: Sequence[str]) -> Samples:
        """Return the samples with references from text files, one line per input, if any."""
        if not files:
            if self.references is None:
                raise UsageError("there are no references: add -r FILE, or a column 'references'")
            return self
        sets = [read_lines(path) for path in files]
        for path, lines in zip(files, sets, strict=True):
            check_parallel(path, lines, "the number of inputs is", len(self.candidates))
        return dataclasses.replace(self, references=tuple(zip(*sets, strict=True)))


def read_samples(path: str, number: int | None = None) -> Samples:
    """Return the candidates of JSON Lines, or of a text file with ``number`` lines per input."""
    if number is None:
        if format_of(path) != "jsonl" and path != "-":
            raise UsageError(
                f"{path} is not named .jsonl; for a text file with the candidates of each input on "
                "consecutive lines, give their number: --samples N"
            )
        return _read_jsonl(path)
    lines = read_lines(path)
    if len(lines) % number:
        raise FileError(
            f"{path} has {len(lines)} lines, which is no multiple of {number} candidates per input"
        )
    groups = [tuple(lines[i : i + number]) for i in range(0, len(lines), number)]
    return Samples(tuple(map(str, range(len(groups)))), tuple(groups))


def _read_jsonl(path: str) -> Samples:
    ids, candidates, references = [], [], []
    for where, row in read_table(path, "jsonl"):
        key = require_column(where, row, _CANDIDATES)
        candidates.append(parse_texts(row[key], f"{where}: {key}"))
        name = find_column(row, COLUMNS["id"])
        ids.append(str(len(ids) if name is None else row[name]))
        given = find_column(row, COLUMNS["references"])
        if given is not None:
            references.append(parse_texts(row[given], f"{where}: {given}"))
    if not candidates:
        raise FileError(f"file {path!r} holds no rows")
    if references and len(references) != len(candidates):
        raise FileError(
            f"{path}: {len(references)} of {len(candidates)} rows have references; all or none must"
        )
    return Samples(tuple(ids), tuple(candidates), tuple(references) or None)
