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
    ids: list[str] = []
    candidates, references = [], []
    for where, row in files.read_table(path, "jsonl"):
        key = files.require_column(where, row, _CANDIDATES)
        candidates.append(files.parse_texts(row[key], f"{where}: {key}"))
        name = files.find_column(row, files.COLUMNS["id"])
        ids.append(str(len(ids) if name is None else row[name]))
        given = files.find_column(row, files.COLUMNS["references"])
        if given is not None:
            references.append(files.parse_texts(row[given], f"{where}: {given}"))
    if not candidates:
        raise FileError(f"file {path!r} holds no rows")
    if references and len(references) != len(candidates):
        counts = f"{len(references)} of {len(candidates)} rows have references"
        raise FileError(f"{path}: {counts}; all or none must")
    return Samples(tuple(ids), tuple(candidates), tuple(references) or None)
