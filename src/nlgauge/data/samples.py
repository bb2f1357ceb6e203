"""Several candidates for each input, such as samples of a decoder, with optional references."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from nlgauge.core.errors import FileError, UsageError
from nlgauge.data import files
from nlgauge.data.columns import Columns, Given, find_cell, require_column

_CANDIDATES = ("candidates", "samples", "hypotheses", "predictions", "nbest")


@dataclass(frozen=True)
class Samples:
    """The candidates of every input."""

    ids: tuple[str, ...]
    candidates: tuple[tuple[str, ...], ...]
    references: tuple[tuple[str, ...], ...] | None = None
    sources: tuple[str, ...] | None = None

    def with_references(self, paths: Sequence[str]) -> "Samples":
        """Return the samples with references from text files, one line per input, if any."""
        if not paths:
            if self.references is None:
                raise UsageError("there are no references: add -r FILE, or a column 'references'")
            return self
        sets = map(self._parallel_lines, paths)
        return dataclasses.replace(self, references=tuple(zip(*sets, strict=True)))

    def with_sources(self, path: str | None) -> "Samples":
        """Return the samples with sources from a text file, one line per input, if any."""
        if path is None:
            return self
        return dataclasses.replace(self, sources=tuple(self._parallel_lines(path)))

    def _parallel_lines(self, path: str) -> list[str]:
        other, count = "the number of inputs is", len(self.candidates)
        return files.check_parallel(path, files.read_lines(path), other, count)


def read_samples(
    path: str, number: int | None = None, *, columns: Given | Columns = None
) -> Samples:
    """Return the candidates of JSON or JSON Lines, or of text with ``number`` lines per input."""
    named = columns if isinstance(columns, Columns) else Columns.of(columns)
    useless = ("system", "systems", "human", "scores")
    named.refuse(useless, "a row has the candidates of one input")
    if number is not None:
        if named:
            raise UsageError(f"{path} is read as text (--samples), which has no columns")
        lines = files.read_lines(path)
        if not lines:
            raise FileError(f"file {path!r} has no lines")
        if len(lines) % number:
            count = f"{len(lines)} lines, which is no multiple of {number} candidates per input"
            raise FileError(f"{path} has {count}")
        groups = [tuple(lines[i : i + number]) for i in range(0, len(lines), number)]
        return Samples(tuple(map(str, range(len(groups)))), tuple(groups))
    form = files.format_of(path, wanted="jsonl" if path == "-" else None)
    if form not in ("jsonl", "json"):
        ways = "candidates of each input on consecutive lines, give their number: --samples N"
        raise UsageError(f"{path} is not named .jsonl or .json; for a text file with the {ways}")
    table = files.read_table(path, form)
    if not table:
        raise FileError(f"file {path!r} has no rows")

    def cells(key: str) -> list[tuple[str, Any]]:
        return [(f"{where}: {key}", find_cell(where, row, key)) for where, row in table]

    def texts(keys: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        columns = [[files.parse_texts(cell, where) for where, cell in cells(key)] for key in keys]
        return tuple(tuple(chain.from_iterable(groups)) for groups in zip(*columns, strict=True))

    where, first = table[0]
    roles = {role: named.find_role(role, first, where) for role in ("references", "source", "id")}
    chosen = named.find_role("candidate", first, where) if "candidate" in named.named else ()
    key = chosen[0] if chosen else require_column(where, first, _CANDIDATES)
    ids = [str(cell) for name in roles["id"] for _, cell in cells(name)]
    sources = [files.parse_text(cell, at) for name in roles["source"] for at, cell in cells(name)]
    return Samples(
        tuple(ids) or tuple(map(str, range(len(table)))),
        texts([key]),
        texts(roles["references"]) if roles["references"] else None,
        tuple(sources) or None,
    )
