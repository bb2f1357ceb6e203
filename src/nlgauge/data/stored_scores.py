"""Scores that another tool made, in a table of their own, for the rows of a judged corpus.

    system<TAB>segment<TAB>comet<TAB>bleurt            a column for each metric (TSV, CSV, JSONL)
    {"id": "a-17", "scores": {"comet": 0.81}}          an object, the row named by its id
    {"column": "comet", "scores": [0.81, 0.62, ...]}   a line for each metric, in the rows' order

Rows are found by system and segment, else by the id that the judged table gives them, else by
segment where only one row has it. Rows without a score stay without (NaN); the scores of rows that
nobody judged are left aside and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.core.errors import DataError, FileError
from nlgauge.data.files import COLUMNS, format_of, read_numbered_rows
from nlgauge.data.judged import Array, Judged, number
from nlgauge.data.judged_tables import DOCUMENTS, SEGMENTS
from nlgauge.data.tables import TABULAR

_SEGMENT = (*SEGMENTS, *DOCUMENTS, "id")
_NO_SCORES = {*COLUMNS["system"], *_SEGMENT, *COLUMNS["candidate"], *COLUMNS["references"]}
_NO_SCORES |= set(COLUMNS["source"])
_FEW = 5

Keys = Mapping[str, Sequence[Hashable]]
"""By manner ("system and segment", "id", "segment"), the key of every row."""


@dataclass(frozen=True, eq=False)
class Stored:
    """Columns of scores, and the ways in which their rows are named (none: by their order)."""

    path: str
    columns: Mapping[str, Array]
    keys: Keys

    def join(self, judged: Judged) -> Judged:
        """The judged corpus with these scores beside its own."""
        count = len(next(iter(self.columns.values())))
        if not self.keys:
            if count != len(judged):
                raise DataError(
                    f"{self.path} holds {count:,} scores for each metric, in the order of the "
                    f"rows, but the data has {len(judged):,} rows; give one score for each row"
                )
            return judged.with_stored(self.columns, self._note(count, len(judged), 0))
        places = self._places(judged)
        found = [(i, place) for i, place in enumerate(places) if place is not None]
        scores = {name: np.full(len(judged), np.nan) for name in self.columns}
        for name, values in self.columns.items():
            for row, place in found:
                scores[name][row] = values[place]
        return judged.with_stored(scores, self._note(len(found), len(judged), count - len(found)))

    def _places(self, judged: Judged) -> list[int | None]:
        """For every judged row the place of its scores, by the first manner that finds any."""
        for manner, names in _names_of(judged).items():
            keys = self.keys.get(manner, ())
            index = {key: place for place, key in enumerate(keys)}
            places = [index.get(key) for key in names]
            if any(place is not None for place in places):
                _refuse_repeats(self.path, manner, keys)
                return places
        system, segment = judged.corpus.systems[0], judged.corpus.ids[0]
        theirs = next(iter(self.keys.values()))[0]
        raise DataError(
            f"none of the rows of {self.path} is a row of the data: its first is {theirs!r}, the "
            f"data's first is of system {system!r} and segment {segment!r}; name both alike"
        )

    def _note(self, found: int, rows: int, beside: int) -> str:
        names = list(self.columns)
        listed = ", ".join(names[:_FEW]) + (", ..." if len(names) > _FEW else "")
        left = f"; {beside:,} rows of it are not in the data and were left aside" if beside else ""
        what = f"{len(names)} metrics ({listed}) for {found:,} of {rows:,} rows{left}"
        return f"{self.path}: scores of {what}."


def read_stored(path: str) -> Stored:
    """The scores of a table file; a cell that is no number is named with its line."""
    kind = format_of(path)
    if kind not in TABULAR:
        raise FileError(
            f"{path} is not a table of scores; its name should end in "
            f"{', '.join('.' + name for name in TABULAR)} (or those with .gz)"
        )
    numbered = read_numbered_rows(path, kind)
    if not numbered:
        raise FileError(f"file {path!r} holds no scores: it is empty")
    if "column" in numbered[0][1]:
        return Stored(path, _listed(path, numbered), {})
    keys = _keys(path, numbered)
    cells = [dict(_cells(path, line, row)) for line, row in numbered]
    names = dict.fromkeys(name for row in cells for name in row)
    if not names:
        raise FileError(f"{path} holds no column of scores; it has: {', '.join(numbered[0][1])}")
    columns = {name: np.array([row.get(name, np.nan) for row in cells], float) for name in names}
    return Stored(path, columns, keys)


def _names_of(judged: Judged) -> dict[str, Sequence[Hashable]]:
    """The manners in which the rows of a judged corpus can be named."""
    corpus = judged.corpus
    manners: dict[str, Sequence[Hashable]] = {
        "system and segment": tuple(zip(corpus.systems, corpus.ids, strict=True))
    }
    if judged.names is not None:
        manners["id"] = judged.names
    if len(set(corpus.ids)) == len(corpus):
        manners["segment"] = corpus.ids
    return manners


def _keys(path: str, numbered: Sequence[tuple[int, Mapping[str, Any]]]) -> Keys:
    """The keys of the rows in every manner their columns allow."""
    lowered = {str(key).lower(): str(key) for key in numbered[0][1]}

    def column(names: Sequence[str]) -> list[str] | None:
        key = next((lowered[name] for name in names if name in lowered), None)
        return None if key is None else [str(row.get(key)) for _, row in numbered]

    system, segment, name = column(COLUMNS["system"]), column(_SEGMENT), column(("id",))
    keys: dict[str, Sequence[Hashable]] = {}
    if system is not None and segment is not None:
        keys["system and segment"] = list(zip(system, segment, strict=True))
    if name is not None:
        keys["id"] = name
    if segment is not None and system is None:
        keys["segment"] = segment
    if not keys:
        raise FileError(
            f"{path} does not say which rows its scores belong to; give columns 'system' and "
            f"'segment', or 'id'. It has: {', '.join(lowered)}"
        )
    return keys


def _refuse_repeats(path: str, manner: str, keys: Sequence[Hashable]) -> None:
    key, times = Counter(keys).most_common(1)[0]
    if times > 1:
        raise FileError(
            f"{path}: the {manner} {key!r} occurs {times} times; a row has one score of a metric"
        )


def _cells(path: str, line: int, row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The scores of a row: its object `scores` if it has one, else all columns but its keys."""
    named = row.get("scores")
    cells = named if isinstance(named, Mapping) else row
    for key, value in cells.items():
        if cells is named or str(key).lower() not in _NO_SCORES:
            yield str(key), number(value, f"{path}, line {line}: {str(key)!r}")


def _listed(path: str, numbered: Sequence[tuple[int, Mapping[str, Any]]]) -> dict[str, Array]:
    """A column for each line, which lists the scores of one metric in the rows' order."""
    columns: dict[str, Array] = {}
    for line, row in numbered:
        where = f"{path}, line {line}"
        scores = row.get("scores")
        if "column" not in row or not isinstance(scores, list):
            raise FileError(f"{where} has no 'column' or no list of 'scores'")
        name = str(row["column"])
        if name in columns:
            raise FileError(f"{where}: scores of {name!r} stood in an earlier line already")
        values = [number(score, f"{where}: score {i + 1}") for i, score in enumerate(scores)]
        columns[name] = np.array(values, dtype=float)
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise FileError(f"{path}: the lists of scores have different lengths: {sorted(lengths)}")
    return columns
