"""Whole texts and whole tables from files, packed or not, or from stdin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import FileError
from nlgauge.data.compression import open_bytes
from nlgauge.data.tables import TABULAR, decoded, lines_of, not_utf8, read_cells

PACKED = ("gz", "zst")

# The first name is ours; the others are what people and tools call the same column.
COLUMNS: dict[str, tuple[str, ...]] = {
    "candidate": ("candidate", "prediction", "hypothesis", "hyp", "mt", "output", "candidates"),
    "references": ("references", "reference", "ref", "refs", "target", "targets"),
    "source": ("source", "src", "input"),
    "system": ("system", "model", "sys"),
    "id": ("id", "segment", "seg_id", "segment_id"),
}


def format_of(path: str, *, wanted: str | None = None) -> str:
    """The format a file is read in: the one wanted, else what its name says, else text."""
    if wanted is not None:
        return wanted
    suffixes = [suffix.lstrip(".").lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    known = {name: name for name in TABULAR} | {"ndjson": "jsonl"}
    return known.get(suffixes[-1], "text") if suffixes else "text"


def read_lines(path: str) -> list[str]:
    """The lines of a file, split at line feeds only, as one segment may hold any other mark."""
    lines = []
    for number, line in enumerate(lines_of(path), start=1):
        try:
            lines.append(decoded(line))
        except ValueError as error:
            raise FileError(f"{path}, line {number}: {error}") from None
    return lines


def read_text(path: str) -> str:
    """The whole text of a UTF-8 file, packed or not, or of stdin for ``-``."""
    with open_bytes(path) as opened:
        content = opened.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(f"{path}, line {line}: {not_utf8(content[error.start])}") from None


def read_rows(path: str, kind: str) -> list[dict[str, Any]]:
    """The rows of a table file as dictionaries by column name."""
    return [row for _, row in read_numbered_rows(path, kind)]


def read_numbered_rows(path: str, kind: str) -> list[tuple[int, dict[str, Any]]]:
    """The rows of a table file, each with the number of the line it ends in."""
    rows = []
    for line, cells in read_cells(path, kind):
        if isinstance(cells, str):
            raise FileError(f"{path}, line {line}: {cells}")
        rows.append((line, dict(cells)))
    return rows


def corpus_from_rows(path: str, rows: Sequence[Mapping[str, Any]], *, system: str) -> Corpus:
    """A corpus of table rows; ``system`` names rows that do not name their own."""
    if not rows:
        raise FileError(f"file {path!r} holds no rows")
    columns = {name: find_column(rows[0], names) for name, names in COLUMNS.items()}
    missing = [name for name in ("candidate", "references") if columns[name] is None]
    if missing:
        listed = ", ".join(map(repr, rows[0]))
        raise FileError(
            f"file {path!r} has no column {missing[0]!r} (accepted: "
            f"{', '.join(COLUMNS[missing[0]])}); it has {listed}"
        )

    def column(name: str) -> list[Any] | None:
        key = columns[name]
        return None if key is None else [_cell(path, i, row, key) for i, row in enumerate(rows)]

    ids, systems, sources = column("id"), column("system"), column("source")
    return Corpus.of(
        column("candidate") or [],
        column("references") or [],
        ids=None if ids is None else [str(value) for value in ids],
        systems=[system] * len(rows) if systems is None else [str(value) for value in systems],
        sources=None if sources is None else ["" if s is None else str(s) for s in sources],
    )


def find_column(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The column of the row that carries one of the names, the first name first."""
    lowered = {str(key).lower(): key for key in row}
    return next((lowered[name] for name in names if name in lowered), None)


def _cell(path: str, number: int, row: Mapping[str, Any], key: str) -> Any:
    if key not in row:
        raise FileError(f"{path}: row {number + 1} has no {key!r}, which earlier rows have")
    return row[key]
