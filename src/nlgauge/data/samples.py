"""Several candidates for each input, as decoders sample them, and references if there are any."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from nlgauge.core.errors import FileError, UsageError
from nlgauge.data import files

_CANDIDATES = ("candidates", "samples", "hypotheses", "predictions", "nbest")


@dataclass(frozen=True)
class Samples:
    """The candidates of every input."""

    ids: tuple[str, ...]
    candidates: tuple[tuple[str, ...], ...]
    references: tuple[tuple[str, ...], ...] | None = None

    def with_references(self, paths: Sequence[str]) -> "Samples":
        """Return the samples with references from text files, one line per input, if any."""
        if not paths:
            if self.references is None:
                raise UsageError("there are no references: add -r FILE, or a column 'references'")
            return self
        other, count = "the number of inputs is", len(self.candidates)
        sets = [files.check_parallel(path, files.read_lines(path), other, count) for path in paths]
        return dataclasses.replace(self, references=tuple(zip(*sets, strict=True)))


def read_samples(path: str, number: int | None = None) -> Samples:
    """Return the candidates of JSON Lines, or of a text file with ``number`` lines per input."""
    if number is not None:
        lines = files.read_lines(path)
        if len(lines) % number:
            count = f"{len(lines)} lines, which is no multiple of {number} candidates per input"
            raise FileError(f"{path} has {count}")
        groups = [tuple(lines[i : i + number]) for i in range(0, len(lines), number)]
        return Samples(tuple(map(str, range(len(groups)))), tuple(groups))
    if files.format_of(path) != "jsonl" and path != "-":
        ways = "candidates of each input on consecutive lines, give their number: --samples N"
        raise UsageError(f"{path} is not named .jsonl; for a text file with the {ways}")
    table = files.read_table(path, "jsonl")
    if not table:
        raise FileError(f"file {path!r} holds no rows")

    def texts(key: str) -> tuple[tuple[str, ...], ...]:
        cells = ((where, files.find_cell(where, row, key)) for where, row in table)
        return tuple(files.parse_texts(cell, f"{where}: {key}") for where, cell in cells)

    where, first = table[0]
    key = files.require_column(where, first, _CANDIDATES)
    name, given = (files.find_column(first, files.COLUMNS[kind]) for kind in ("id", "references"))
    ids = (i if name is None else files.find_cell(*row, name) for i, row in enumerate(table))
    return Samples(tuple(map(str, ids)), texts(key), None if given is None else texts(given))
