"""Stored scores of systems: tables without texts, and logs of evaluation harnesses.

    item,system,acc,wer            a row for each system and item, a column for each metric
    item,small,large               a row for each item, a column for each system
    {"id": 3, "scores": {...}}     scores in an object, or in columns `scores.<name>`

With several files, each file is a system. The scores of repeated samples (epochs) are averaged.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.corpus import refuse_duplicates
from nlgauge.core.errors import FileError, UsageError
from nlgauge.data import files
from nlgauge.data.columns import USUAL, Columns
from nlgauge.data.judged import parse_score, to_columns
from nlgauge.data.judged_tables import DOCUMENTS, SEGMENTS, find_segments
from nlgauge.data.systems import InputFiles

PlacedRows = Sequence[tuple[str, str, Mapping[str, Any]]]
"""Rows with their location for messages, and the system of rows that do not name one."""

SCORE = "score"
"""The metric name for a table with a column for each system."""

_EPOCH = {"sample", "epoch"}  # columns of a log that repeats samples
_BINARY = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores by name, one per row; every row belongs to a system and an item."""

    systems: tuple[str, ...]
    ids: tuple[str, ...]
    scores: Mapping[str, Floats]
    clusters: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    wide: bool = False
    """Whether the columns were systems, so that there is a single score, called `SCORE`."""


def read_score_tables(
    paths: Sequence[str],
    names: Sequence[str],
    *,
    columns: Columns = USUAL,
    cluster: str | None = None,
    wanted: str | None = None,
) -> ScoreTable:
    """Return the scores of tables; each file is a system unless its rows name systems.

    Parameters
    ----------
    paths
        Tables or logs, or folders of these.
    names
        Columns of scores: of metrics, or of systems in a single table that does not name systems.
    columns
        Names of the columns ``id`` and ``system``, if they differ from the usual ones.
    cluster
        Column of the cluster of every item, such as its document.
    wanted
        Format of the files; by default that of their names.

    Returns
    -------
    ScoreTable

    Raises
    ------
    FileError or UsageError
        If a file is missing or malformed, a column is missing, or an item occurs twice.
    """
    _refuse_roles(columns)
    for path in paths:
        if files.format_of(path, wanted=wanted) not in files.TABULAR and not Path(path).is_dir():
            known = f"their names end in {files.ENDINGS}; --input names the format otherwise"
            raise UsageError(f"{path} is not a table of scores: {known}")
    inputs = InputFiles(paths, (), wanted, None, columns)
    rows = []
    for system, place, cells in inputs.table_cells():
        if isinstance(cells, str):
            raise FileError(f"{place}: {cells}")
        rows.append((system, place, cells))
    return to_score_table(rows, names, columns=columns, cluster=cluster)


def to_score_table(
    rows: PlacedRows,
    names: Sequence[str],
    *,
    columns: Columns = USUAL,
    cluster: str | None = None,
) -> ScoreTable:
    """Return the scores of rows; see `read_score_tables`."""
    if not rows:
        raise FileError("the table of scores has no rows")
    _refuse_roles(columns)
    _, where, first = rows[0]
    free = [name for name in first if name not in names]
    by_row = columns.find_role("system", free, where)
    wide = not by_row and len(names) > 1 and len({system for system, _, _ in rows}) == 1
    key = _id_column(rows, free, columns, *by_row)
    entries: list[_Entry] = []
    numbers: Counter[str] = Counter()
    for source, place, row in rows:
        system = _name(row, by_row[0], place) if by_row else source
        item = str(numbers[system]) if key is None else _name(row, key, place)
        numbers[system] += 1
        values = {name: _score(row, name, place) for name in names}
        shared = None if cluster is None else _name(row, cluster, place), row.get("task")
        if wide:
            entries += [_Entry(name, item, {SCORE: values[name]}, *shared) for name in names]
        elif row.keys() >= _EPOCH:
            sample = _name(row, "sample", place)
            entries.append(_Entry(system, sample, values, *shared, repeated=True))
        else:
            entries.append(_Entry(system, item, values, *shared))
    notes: tuple[str, ...] = ()
    if any(entry.repeated for entry in entries):
        entries, notes = _mean_over_epochs(entries)
    return _table(entries, notes, wide=wide)


def _refuse_roles(columns: Columns) -> None:
    useless = ("candidate", "references", "source", "systems", "human", "scores")
    columns.refuse(useless, "stored scores are read without texts")


@dataclass(frozen=True)
class _Entry:
    """The scores of a system on an item, with its cluster and, for logs, its task."""

    system: str
    item: str
    scores: Mapping[str, float]
    cluster: str | None
    task: str | None
    repeated: bool = False
    """Whether it is one of several epochs of the item."""


def _table(entries: Sequence[_Entry], notes: tuple[str, ...], *, wide: bool) -> ScoreTable:
    systems, ids = [each.system for each in entries], [each.item for each in entries]
    if len(set(zip(systems, ids, strict=True))) < len(ids) and entries[0].task is not None:
        # In logs of several tasks, each task numbers its documents from 0.
        ids = [f"{each.task}/{each.item}" for each in entries]
    refuse_duplicates(systems, ids)
    labels = tuple(each.cluster for each in entries if each.cluster is not None)
    scores = to_columns([each.scores for each in entries])
    return ScoreTable(tuple(systems), tuple(ids), scores, labels or None, notes, wide)


def _mean_over_epochs(entries: Sequence[_Entry]) -> tuple[list[_Entry], tuple[str, ...]]:
    """Return one entry for the repetitions of a sample, with the means of their scores."""
    repeated: dict[Any, list[_Entry]] = {}
    for number, entry in enumerate(entries):
        key = (entry.system, entry.item) if entry.repeated else number
        repeated.setdefault(key, []).append(entry)
    averaged = []
    for same in repeated.values():
        columns = to_columns([each.scores for each in same])
        defined = {name: values[~np.isnan(values)] for name, values in columns.items()}
        means = {name: float(v.mean()) if v.size else nan for name, v in defined.items()}
        averaged.append(replace(same[0], scores=means))
    note = (
        f"{len(entries):,} scored samples are epochs of {len(averaged):,}; their means are compared"
    )
    return averaged, (f"{note}.",)


def _id_column(
    rows: PlacedRows, free: Sequence[str], columns: Columns, system: str = ""
) -> str | None:
    """Return the column that names items: a usual one, or documents if each has one row."""
    if {"id", "segment"} & columns.named.keys():
        return str(columns.find_role("id", free, rows[0][1])[0])
    systems = [(of, str(row.get(system))) for of, _, row in rows]
    names = (*SEGMENTS, "item", "id", *DOCUMENTS)
    return find_segments([row for *_, row in rows], free, systems, names)


def _name(row: Mapping[str, Any], key: str, place: str) -> str:
    """Return the text of a cell with a name; raise an error if it is blank."""
    if key not in row:
        raise FileError(f"{place} has no column {key!r}; it has {', '.join(map(repr, row))[:200]}")
    value = row[key]
    if value is None or isinstance(value, Mapping | list) or not str(value).strip():
        raise FileError(f"{place}: {key!r} is {value!r:.40}; it should name something")
    return str(value)


def _score(row: Mapping[str, Any], name: str, place: str) -> float:
    """Return a score from a column, a column `scores.<name>`, or the object `scores`."""
    inside = row.get("scores")
    if name in row:
        value = row[name]
    elif f"scores.{name}" in row:
        value = row[f"scores.{name}"]
    elif isinstance(inside, Mapping) and name in inside:
        value = inside[name]
    else:
        has = ", ".join(map(repr, row))[:200]
        raise FileError(f"{place} has no column {name!r} of scores; it has {has}")
    if isinstance(value, bool | np.bool_):
        return float(value)
    if isinstance(value, str) and value.strip().lower() in _BINARY:
        return _BINARY[value.strip().lower()]
    return parse_score(value, f"{place}: {name!r}")
