"""Tables of labels that raters (people and judges) gave to items, wide or long.

    item<TAB>anna<TAB>ben<TAB>gpt          wide: a column for each rater
    item<TAB>rater<TAB>label               long: a row for each label

Blank cells, null and NaN mean that the rater gave no label. If the table has a column `system`, the
outputs of several systems for one item are separate units; if it has a column `position` (the
output shown first), so are the two orders in which a pair was shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any

from nlgauge.core.errors import DataError, FileError, OptionError, ShapeError
from nlgauge.data.columns import Columns, Given, find_cell, find_column
from nlgauge.data.files import Rows, read_table

LABEL_COLUMNS: dict[str, tuple[str, ...]] = {
    "item": ("item", "item_id", "id", "segment", "seg_id", "segment_id", "instance", "example"),
    "rater": ("rater", "annotator", "rater_id", "annotator_id", "coder", "worker", "worker_id"),
    "label": ("label", "rating", "annotation", "judgement", "judgment", "answer", "vote", "score"),
    "position": ("position", "order"),
    "length": ("length", "length_difference"),
    "system": ("system",),
    "cluster": (),
}
"""Roles of columns and their usual names; `cluster` has to be named by the user."""

_MISSING = {"", "nan", "na", "n/a", "null"}
_KEYS = ("item", "system", "position")
Key = tuple[str, str, str]  # of a unit: item, system and position


@dataclass(frozen=True, eq=False)
class RaterLabels:
    """Labels by rater, one per unit (None if missing), and further columns of the units.

    Parameters
    ----------
    items
        The item of every unit. It occurs several times if systems or positions differ.
    labels
        Labels by rater, as texts.
    columns
        Cells by role: position, length, system and cluster, those that the table has.
    notes
        Sentences about what was read.

    Raises
    ------
    ShapeError
        If the number of labels of a rater differs from the number of items.
    """

    items: tuple[str, ...]
    labels: Mapping[str, tuple[str | None, ...]]
    columns: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, cells in {**self.labels, **self.columns}.items():
            if len(cells) != len(self.items):
                lengths = f"{len(cells)} values of {name!r}, but {len(self.items)} items"
                raise ShapeError(f"{lengths}; give one for each item, None where there is none.")

    @classmethod
    def of(
        cls,
        labels: Mapping[str, Sequence[Any]],
        *,
        items: Sequence[Any] | None = None,
        **columns: Sequence[Any],
    ) -> "RaterLabels":
        """Return the labels of columns in memory: `labels` by rater, other roles by name."""
        if not labels:
            raise DataError("there are no labels: 0 raters.")
        for role in columns:
            if role not in LABEL_COLUMNS or role in ("item", "rater", "label"):
                known = "position, length, system, cluster"
                raise OptionError(f"unknown role {role!r}; there are {known}")
        count = len(next(iter(labels.values())))
        names = range(1, count + 1) if items is None else items
        return cls(
            tuple(map(str, names)),
            {str(rater): tuple(map(parse_label, cells)) for rater, cells in labels.items()},
            {role: tuple(cells) for role, cells in columns.items()},
        )


def parse_label(value: Any) -> str | None:
    """Return a label as text; None for a blank cell, null and NaN."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value).strip()
    return None if text.lower() in _MISSING else text


def read_labels(
    path: str,
    raters: Sequence[str] = (),
    *,
    wanted: str | None = None,
    columns: Given | Columns = None,
    header: bool = True,
) -> RaterLabels:
    """Return the labels of a table file.

    Parameters
    ----------
    path
        The file (.jsonl, .json, .tsv, .csv, .parquet, also compressed).
    raters
        Raters whose labels are wanted. If all are columns, the table is wide; otherwise it has a
        column of raters and one of labels, and the labels of all raters are returned. If none is
        named, all columns of a wide table without another role are raters.
    wanted
        Its format; by default that of its name.
    columns
        Columns that have other names than usual, such as ``{"item": "task", "label": "stars"}``.
    header
        Whether a TSV or CSV table names its columns; otherwise they are numbered from 1.

    Returns
    -------
    RaterLabels

    Raises
    ------
    FileError
        If columns are missing, or a rater labelled an item twice.
    """
    chosen = columns
    if not isinstance(chosen, Columns):
        chosen = Columns.of(chosen, header=header, roles=tuple(LABEL_COLUMNS))
    table = read_table(path, wanted, what="table of labels", columns=chosen)
    if not table:
        raise FileError(f"file {path!r} has no rows")
    known = list(dict.fromkeys(str(name) for _, row in table for name in row))
    roles = {role: _find(chosen, role, known, raters, path) for role in LABEL_COLUMNS}
    if raters and all(rater in known for rater in raters):
        return _collect(table, roles, raters, chosen)
    others = [name for name in known if name not in roles.values()]
    if not (raters or (roles["rater"] and roles["label"])) and others:
        return _collect(table, roles, others, chosen)
    has = f"It has: {', '.join(known)}"
    if not (roles["rater"] and roles["label"]):
        absent = next((f"{rater!r}" for rater in raters if rater not in known), "of a rater")
        raise FileError(
            f"{path} has no column {absent}; name the columns of the raters, or give a table with "
            f"the columns item, rater and label (--columns rater=COLUMN,label=COLUMN). {has}"
        )
    if not roles["item"]:
        raise FileError(
            f"{path} has a row for each label, but no column 'item' that says what was labelled; "
            f"name it with --columns item=COLUMN. {has}"
        )
    return _collect(table, roles, (), chosen)


def _find(
    columns: Columns, role: str, known: Sequence[str], raters: Sequence[str], path: str
) -> str | None:
    """Return the column of a role: the named one, else one with a usual name."""
    if role in columns.named:
        (name,) = columns.find_role(role, known, path)
        return str(name)
    taken = {name for names in columns.named.values() for name in names} | set(raters)
    return find_column([name for name in known if name not in taken], LABEL_COLUMNS[role])


def _collect(
    table: Rows, roles: dict[str, str | None], wide: Sequence[str], columns: Columns
) -> RaterLabels:
    """Return the labels of the columns `wide`, else of the columns of raters and labels."""
    notes = _drop_unusable_position(table, roles, wide, columns)
    units: dict[Key, dict[str, Any]] = {}
    labels: dict[str, dict[Key, tuple[str, str | None]]] = {name: {} for name in wide}
    for number, (where, row) in enumerate(table, start=1):
        parts = [_cell(where, row, roles[role]) for role in _KEYS]
        item = str(number) if roles["item"] is None else parts[0]
        rater = None if wide else _cell(where, row, roles["rater"])
        if item is None or not (wide or rater):
            raise FileError(f"{where} names no {'item' if item is None else 'rater'}")
        key = (item, parts[1] or "", parts[2] or "")
        given = [(name, name) for name in wide] if wide else [(str(rater), str(roles["label"]))]
        for name, column in given:
            earlier = labels.setdefault(name, {}).get(key)
            if earlier is not None:
                raise FileError(_twice(where, name, key, earlier[0], wide=bool(wide)))
            labels[name][key] = (where, parse_label(row.get(column)))
        cells = units.setdefault(key, dict(zip(_KEYS, (item, *parts[1:]), strict=True)))
        for role in ("length", "cluster"):
            column_of = roles[role]
            if column_of is not None and cells.get(role) is None:
                cells[role] = row.get(column_of)
    nothing = ("", None)
    return RaterLabels(
        tuple(key[0] for key in units),
        {
            name: tuple(by_unit.get(key, nothing)[1] for key in units)
            for name, by_unit in labels.items()
        },
        {
            role: tuple(cells.get(role) for cells in units.values())
            for role in ("position", "length", "system", "cluster")
            if roles[role] is not None
        },
        notes,
    )


def _cell(where: str, row: Mapping[str, Any], column: str | None) -> str | None:
    return None if column is None else parse_label(find_cell(where, row, column))


def _drop_unusable_position(
    table: Rows, roles: dict[str, str | None], wide: Sequence[str], columns: Columns
) -> tuple[str, ...]:
    """Drop a column named `order` or `position` that does not contain labels."""
    column = roles["position"]
    if column is None or "position" in columns.named:
        return ()
    sources = wide or [str(roles["label"])]
    labels = {parse_label(row.get(name)) for _, row in table for name in sources}
    shown = {parse_label(row.get(column)) for _, row in table} - {None}
    wrong = {cell for cell in shown if cell not in labels or str(cell).isdecimal()}
    if not wrong:
        return ()
    roles["position"] = None
    return (
        f"column {column!r} is not used: {min(map(str, wrong))!r} does not name an output that was "
        f"shown first; if it does, use --columns position={column}.",
    )


def _twice(where: str, rater: str, key: Key, earlier: str, *, wide: bool) -> str:
    """Return the message for an item that a rater labelled twice."""
    place = f" of system {key[1]!r}" * bool(key[1]) + f" in position {key[2]!r}" * bool(key[2])
    what = f"item {key[0]!r}{place}"
    first = earlier.rpartition(", ")[2]
    if wide:
        return f"{where}: {what} occurs twice, first in {first}; an item has one row"
    return f"{where}: {rater!r} labelled {what} twice, first in {first}; keep one of the labels"
