"""Rows of tables of texts: a candidate with its references, its system and its id."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, FileError
from nlgauge.data.columns import USUAL, Columns, find_cell
from nlgauge.data.files import Cells

Keys = Mapping[str, tuple[Any, ...]]
"""The columns of every role that a table has."""


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate with its references, and its location in the files."""

    place: str
    system: str
    id: str
    candidate: str
    references: tuple[str, ...]
    source: str | None = None
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that cannot be scored, with its location and the reason."""

    place: str
    reason: str


def table_rows(
    table: Iterable[tuple[str, Cells]],
    system: str,
    counts: Counter[str],
    columns: Columns = USUAL,
    cluster: str | None = None,
    keys: Keys | None = None,
) -> Iterator[Row | Rejected]:
    """Yield the rows of one table, given as locations and cells.

    The first row with a candidate and references determines the columns of all rows. ``system`` is
    the system of rows that do not name one; ``counts`` are the numbers of rows of each system so
    far, which are the ids of rows without one. ``cluster`` is the column of clusters of segments.
    ``keys`` are the columns if an earlier row of the table has determined them.
    """
    keys, seen = dict(keys or {}), set[Any]()
    for place, cells in table:
        names = [str(name) for name in keys.get("systems", (system,))]
        rows: list[Row | Rejected]
        try:
            if isinstance(cells, str):
                raise FileError(cells)
            first = not keys
            keys = keys or columns.find(cells)
            wide = keys.get("systems", ())
            own = str(cells.get(keys.get("system", (None,))[0], system))
            names = [str(name) for name in wide] or [own]
            texts = [_cell(cells, key) for key in wide or keys["candidate"]]
            references = keys.get("references", ())
            shared = _reference_cells(cells, references), _source(cells, keys)
            label = None if cluster is None else name_cell("cluster", cells, cluster)
            _name("system", cells, keys, system)  # raises if it is blank
            if not cells.keys() <= seen:
                _refuse_new(cells, keys, columns, first=first)
                seen |= cells.keys()
            rows = [
                validated_row(
                    *(f"{place}, column {name!r}" if wide else place, name),
                    *(_name("id", cells, keys, counts[name]), text, *shared, label),
                )
                for name, text in zip(names, texts, strict=True)
            ]
        except DataError as error:
            rows = [Rejected(place, str(error))]
        counts.update(names)
        yield from rows


def find_keys(cells: Cells, columns: Columns) -> Keys:
    """Return the columns that a row determines for its table, {} if it cannot."""
    if not isinstance(cells, str):
        with suppress(DataError):
            return columns.find(cells)
    return {}


def _refuse_new(cells: Mapping[Any, Any], keys: Keys, columns: Columns, *, first: bool) -> None:
    """Raise an error if a later row has a column that the first row lacks but that has a role."""
    roles = {"references", "source", "system", "id"} - ({"system"} if "systems" in keys else set())
    for role in () if first else sorted(roles):
        known, present = set(keys.get(role, ())), set[Any]()
        with suppress(*[FileError] * bool(known)):  # ambiguous columns: the first row decides
            present = set(columns.find_role(role, cells))
        for name in sorted(present - known, key=str) if known < present else ():
            raise FileError(f"the row has a column {name!r}, which the first row does not have")


def _cell(cells: Mapping[Any, Any], key: Any) -> Any:
    return find_cell("the row", cells, key)


def _name(role: str, cells: Mapping[Any, Any], keys: Keys, default: object) -> str:
    """Return the system or id of a row; raise an error if its cell is blank."""
    if role not in keys:
        return str(default)
    return name_cell(role, cells, keys[role][0])


def name_cell(role: str, cells: Mapping[Any, Any], key: Any) -> str:
    """Return the text of a cell that names the system, the id or the cluster of a row."""
    value = _cell(cells, key)
    if value is None or not str(value).strip():
        raise FileError(f"the {role} (column {key!r}) is empty")
    return str(value)


def _source(cells: Mapping[Any, Any], keys: Keys) -> str | None:
    if "source" not in keys:
        return None
    value = _cell(cells, keys["source"][0])
    return "" if value is None else str(value)  # a text, like the id and the system


def _reference_cells(cells: Mapping[Any, Any], columns: tuple[Any, ...]) -> Any:
    """Return the references of one column, or of several; blank cells of several are skipped."""
    contents = [_cell(cells, key) for key in columns]
    if len(contents) == 1:
        return contents[0]
    texts = [text for cell in contents for text in (cell if isinstance(cell, list) else [cell])]
    return [text for text in texts if text not in (None, "")] or [
        text for text in texts if text is not None
    ][:1]


def to_corpus(rows: Iterable[Row]) -> Corpus:
    """Return a corpus of rows, which their readers have validated."""
    return Corpus.from_rows(
        (row.candidate, row.references, row.system, row.id, row.source) for row in rows
    )


def accept(rows: Iterable[Row | Rejected]) -> list[Row]:
    """Return all rows; raise an error for a rejected one."""
    accepted = []
    for row in rows:
        if isinstance(row, Rejected):
            raise FileError(f"{row.place}: {row.reason}")
        accepted.append(row)
    return accepted


def validated_row(
    place: str,
    system: str,
    identity: str,
    candidate: Any,
    references: Any,
    source: str | None = None,
    cluster: str | None = None,
) -> Row | Rejected:
    """Return the row, or the reason why ``Corpus.of`` rejects it."""
    group = references if isinstance(references, list) else [references]
    texts = [system, identity, candidate, source or "", *group]
    if (group or source is not None) and all(isinstance(text, str) for text in texts):
        with suppress(UnicodeEncodeError):  # raised for a lone surrogate
            "".join(texts).encode()
            return Row(place, system, identity, candidate, tuple(group), source, cluster)
    sources = None if source is None else [source]
    try:
        one = Corpus.of(
            [candidate], [references], sources=sources, systems=[system], ids=[identity]
        )
    except DataError as error:
        return Rejected(place, str(error).replace("[0]", "", 1))
    return Row(place, system, identity, candidate, one.references[0], source, cluster)
