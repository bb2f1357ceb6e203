"""Texts and tables from files: plain lines, TSV, CSV or JSON Lines, gzipped or not, or stdin."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import FileError

TABULAR = ("jsonl", "tsv", "csv")
FORMATS = ("text", *TABULAR)

# The first name is ours; the others are what people and tools call the same column.
COLUMNS: dict[str, tuple[str, ...]] = {
    "candidate": ("candidate", "prediction", "hypothesis", "hyp", "mt", "output", "candidates"),
    "references": ("references", "reference", "ref", "refs", "target", "targets"),
    "source": ("source", "src", "input"),
    "system": ("system", "model", "sys"),
    "id": ("id", "segment", "seg_id", "segment_id"),
}


class _Tabs(csv.excel_tab):
    quoting = csv.QUOTE_NONE


def format_of(path: str, *, wanted: str | None = None) -> str:
    """The format a file is read in: the one wanted, else what its name says, else text."""
    if wanted is not None:
        return wanted
    suffixes = [suffix.lstrip(".").lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == "gz":
        suffixes.pop()
    known = {"jsonl": "jsonl", "ndjson": "jsonl", "tsv": "tsv", "csv": "csv"}
    return known.get(suffixes[-1], "text") if suffixes else "text"


def read_lines(path: str) -> list[str]:
    """The lines of a file, split at line feeds only, as one segment may hold any other mark."""
    lines = read_text(path).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def read_text(path: str) -> str:
    """The whole text of a UTF-8 file, of a gzipped one, or of stdin for ``-``."""
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
    except FileNotFoundError:
        raise FileError(f"there is no file {path!r}") from None
    except (OSError, EOFError) as error:
        raise FileError(f"file {path!r} cannot be read: {error}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(
            f"file {path!r} is not UTF-8: byte 0x{content[error.start]:02x} in line {line}; "
            "convert it, for example with iconv -f latin1 -t utf-8"
        ) from None


def read_rows(path: str, kind: str) -> list[dict[str, Any]]:
    """The rows of a table file as dictionaries by column name."""
    return [row for _, row in read_numbered_rows(path, kind)]


def read_numbered_rows(path: str, kind: str) -> list[tuple[int, dict[str, Any]]]:
    """The rows of a table file, each with the number of the line it ends in."""
    content = read_text(path)
    if kind == "jsonl":
        return [(n, _json_row(path, n, line)) for n, line in _numbered(content) if line.strip()]
    # A quotation mark in a TSV is a character of the text; in a CSV it may hold commas together.
    rules: type[csv.Dialect] = _Tabs if kind == "tsv" else csv.excel
    reader = csv.DictReader(io.StringIO(content, newline=""), dialect=rules)
    rows: list[tuple[int, dict[str, Any]]] = []
    for row in reader:
        if None in row or None in row.values():
            raise FileError(
                f"{path}, line {reader.line_num}: {_field_count(row)} fields, but the heading "
                f"names {len(reader.fieldnames or ())}"
            )
        rows.append((reader.line_num, dict(row)))
    return rows


def corpus_from_rows(path: str, rows: Sequence[Mapping[str, Any]], *, system: str) -> Corpus:
    """A corpus of table rows; ``system`` names rows that do not name their own."""
    if not rows:
        raise FileError(f"file {path!r} holds no rows")
    columns = {name: _find_column(rows[0], names) for name, names in COLUMNS.items()}
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


def _numbered(content: str) -> Iterable[tuple[int, str]]:
    return enumerate(content.split("\n"), start=1)


def _json_row(path: str, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise FileError(f"{path}, line {number} is not JSON: {error}") from None
    if not isinstance(row, dict):
        raise FileError(f"{path}, line {number} is not a JSON object but {line[:40]!r}")
    return row


def _find_column(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    lowered = {str(key).lower(): key for key in row}
    return next((lowered[name] for name in names if name in lowered), None)


def _cell(path: str, number: int, row: Mapping[str, Any], key: str) -> Any:
    if key not in row:
        raise FileError(f"{path}: row {number + 1} has no {key!r}, which earlier rows have")
    return row[key]


def _field_count(row: Mapping[Any, Any]) -> int:
    extra = row.get(None)
    present = sum(value is not None for key, value in row.items() if key is not None)
    return present + (len(extra) if extra else 0)
