"""Stored scores in the form of metric scores; the corpus score is the mean of the items."""

import os
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, OptionError, ShapeError, UsageError
from nlgauge.core.metric import Direction, Metric, Rows, Scale
from nlgauge.core.scores import Scores
from nlgauge.data.columns import Columns, Given
from nlgauge.data.score_tables import SCORE, ScoreTable, read_score_tables, to_score_table
from nlgauge.data.systems import clusters_by_id
from nlgauge.study.study import SystemScores, as_list, stored_signature

Table = Any
"""A file, a list of files, a data frame, or a mapping from names to columns."""
MissingScores = Literal["error", "drop"]


@dataclass(frozen=True)
class StoredScore(Metric):
    """Scores of another tool; only their direction and observed range are known."""

    name: ClassVar[str] = "stored"
    column: str
    direction: Direction
    low: float
    high: float

    @property
    def scale(self) -> Scale:
        """The direction, and the smallest and largest score of all systems."""
        worst = self.low if self.direction == "higher" else self.high
        return Scale(self.direction, self.low, self.high, void=worst)

    @property
    def title(self) -> str:
        """The name of the column."""
        return self.column

    def rows(self, candidates: Sequence[Any], references: Sequence[Sequence[Any]]) -> Rows:
        """Raise UsageError: the scores exist already."""
        raise UsageError(f"{self.column!r} is a stored score, which is not computed from texts")


@dataclass(frozen=True, eq=False)
class StoredComparison:
    """Scores by system and name, the clusters of the items by id, and notes."""

    scores: SystemScores
    clusters: Mapping[str, Hashable] | None
    notes: tuple[str, ...]


def read_stored(
    table: Table,
    scores: str | Sequence[str],
    distances: str | Sequence[str],
    columns: Given | Columns,
    format: str | None,
    cluster: str | Sequence[Hashable] | None,
    missing: MissingScores,
) -> StoredComparison:
    """Return stored scores of systems on the same items, as `compare_scored` takes them."""
    if missing not in ("error", "drop"):
        raise OptionError(f"missing is {missing!r}; it is 'error' or 'drop'.")
    directions: dict[str, Direction] = dict.fromkeys(as_list(scores), "higher")
    if repeated := directions.keys() & set(as_list(distances)):
        raise OptionError(f"{min(repeated)!r} is named as a score and as a distance; name it once.")
    directions |= dict.fromkeys(as_list(distances), "lower")
    column_names = columns if isinstance(columns, Columns) else Columns.of(columns)
    column = cluster if isinstance(cluster, str) else None
    if isinstance(table, str | os.PathLike):
        table = [table]
    if isinstance(table, list | tuple):
        paths = list(map(str, table))
        stored = read_score_tables(
            paths, list(directions), columns=column_names, cluster=column, wanted=format
        )
    else:
        rows = [("table", place, row) for place, row in _rows(table)]
        stored = to_score_table(rows, list(directions), columns=column_names, cluster=column)
    if stored.wide:
        if len(set(directions.values())) > 1:
            raise OptionError(
                "the columns are systems, so all of them are scores or all are distances."
            )
        directions = {SCORE: next(iter(directions.values()))}
    return _drop_missing(stored, directions, _clusters(stored, cluster), missing)


def _rows(table: Table) -> list[tuple[str, dict[str, Any]]]:
    """Return the rows of a data frame, or of a mapping of columns, with their place in words."""
    if not (isinstance(table, Mapping) or hasattr(table, "columns")):
        kind = type(table).__name__
        raise UsageError(f"a table of scores is a data frame, columns or files, not {kind}")
    names = [str(name) for name in (table if isinstance(table, Mapping) else table.columns)]
    cells = [list(table[name]) for name in names]
    lengths = {len(column) for column in cells}
    if len(lengths) > 1:
        counts = ", ".join(f"{name!r} {len(c)}" for name, c in zip(names, cells, strict=True))
        raise ShapeError(f"the columns have different lengths: {counts[:200]}")
    rows = (dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True))
    return [(f"row {number}", row) for number, row in enumerate(rows)]


def _clusters(
    table: ScoreTable, cluster: str | Sequence[Hashable] | None
) -> dict[str, Hashable] | None:
    """Return the cluster of every item, which is the same in all systems."""
    if cluster is None:
        return None
    if isinstance(cluster, str):
        return clusters_by_id(table.ids, table.clusters or ())
    return clusters_by_id(tuple(dict.fromkeys(table.ids)), cluster)


def _drop_missing(
    table: ScoreTable,
    directions: Mapping[str, Direction],
    clusters: Mapping[str, Hashable] | None,
    missing: MissingScores,
) -> StoredComparison:
    """Return the scores of items that have all of them; others are an error, or left out."""
    undefined = np.any([np.isnan(table.scores[name]) for name in directions], axis=0)
    cells = list(zip(table.systems, table.ids, undefined, strict=True))
    gone, total = {item for _, item, bad in cells if bad}, len(set(table.ids))
    notes = table.notes
    if gone:
        counts = Counter(system for system, _, bad in cells if bad)
        by_system = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        gap = f"{len(gone):,} of {total:,} items lack a score in at least one system ({by_system})"
        if missing == "error":
            raise DataError(f"{gap}; leave them out of every system with --missing drop")
        if len(gone) == total:
            raise DataError(f"{gap}; no item is left to compare")
        notes = (*notes, f"{gap}; they are left out.")
    scores: dict[str, dict[str, Scores]] = {name: {} for name in dict.fromkeys(table.systems)}
    rows: dict[str, list[int]] = {name: [] for name in scores}
    for i, (system, item, _) in enumerate(cells):
        if item not in gone:
            rows[system].append(i)
    for label, direction in directions.items():
        values = table.scores[label]
        finite = values[[i for at in rows.values() for i in at]]
        limits = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        metric = StoredScore(label, direction, *limits)
        signature = stored_signature(label, direction)
        for name, at in rows.items():
            ids = tuple(table.ids[i] for i in at)
            column: Floats = values[at][:, None]
            scores[name][label] = Scores(metric, label, name, ids, column, signature)
    return StoredComparison(scores, clusters, notes)
