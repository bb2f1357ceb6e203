"""Scores computed by another tool, in a separate table, for the rows of a judged corpus.

    system<TAB>segment<TAB>comet<TAB>bleurt            a column for each metric (TSV, CSV, JSONL)
    {"id": "a-17", "scores": {"comet": 0.81}}          an object, the row named by its id
    {"column": "comet", "scores": [0.81, 0.62, ...]}   a line for each metric, in the rows' order

Rows are matched by system and segment, else by the id that the judged table gives them, else by
segment if it is unique. Rows without a score get NaN; scores without a judged row are counted.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, FileError
from nlgauge.data.columns import COLUMNS, find_cell, find_column
from nlgauge.data.files import Rows, read_table
from nlgauge.data.judged import JudgedCorpus, parse_score, to_columns
from nlgauge.data.judged_tables import DOCUMENTS, SEGMENTS
from nlgauge.data.submissions import segment_scores, submission_fields

_SEGMENT = (*SEGMENTS, *DOCUMENTS, "id")
_NOT_SCORES = {name for names in COLUMNS.values() for name in names} | set(_SEGMENT)
_MAX_LISTED = 5

# Keys of all rows, by kind: "system and segment", "id", ...
Keys = Mapping[str, Sequence[Hashable]]


@dataclass(frozen=True, eq=False)
class StoredScores:
    """Columns of scores, and the keys of their rows (none if rows are in the order of the data)."""

    path: str
    columns: Mapping[str, Floats]
    keys: Keys

    def join(self, judged: JudgedCorpus) -> JudgedCorpus:
        """Return the judged corpus with these scores added to its own."""
        count, names = len(next(iter(self.columns.values()))), list(self.columns)
        matches: list[int | None] = self._match(judged) if self.keys else [*range(count)]
        if len(matches) != len(judged):
            counts = f"{count:,} scores for each metric, but the data has {len(judged):,} rows"
            raise DataError(f"{self.path} has {counts}; give one score for each row, in order")
        scores = {
            name: np.array([np.nan if match is None else values[match] for match in matches])
            for name, values in self.columns.items()
        }
        matched = len(matches) - matches.count(None)
        listed = ", ".join(names[:_MAX_LISTED]) + (", ..." if len(names) > _MAX_LISTED else "")
        note = f"{len(names)} metrics ({listed}) for {matched:,} of {len(judged):,} rows"
        if count > matched:
            note += f"; {count - matched:,} rows of it are not in the data and are ignored"
        return judged.with_stored(scores, f"{self.path}: scores of {note}.")

    def _match(self, judged: JudgedCorpus) -> list[int | None]:
        """Return the index of every judged row's scores, by the first kind of key that matches."""
        systems, segments = judged.corpus.systems, judged.corpus.ids
        known: Keys = {
            "system and segment": list(zip(systems, segments, strict=True)),
            "id": judged.names or (),
            "segment": segments if len(set(segments)) == len(judged) else (),
        }
        for kind, wanted in known.items():
            keys = self.keys.get(kind, ())
            index = {key: i for i, key in enumerate(keys)}
            matches = [index.get(key) for key in wanted]
            if any(match is not None for match in matches):
                key, times = Counter(keys).most_common(1)[0]
                if times > 1:
                    repeated = f"the {kind} {key!r} occurs {times} times"
                    raise FileError(f"{self.path}: {repeated}; a row has one score of a metric")
                return matches
        first = next(iter(self.keys.values()))[0]
        raise DataError(
            f"none of the rows of {self.path} is a row of the data: its first is {first!r}, the "
            f"data's first is {systems[0]!r} on segment {segments[0]!r}; use the same names"
        )


def read_stored_scores(path: str, part: str | None = None) -> StoredScores:
    """Return the scores of a table file, or of one language pair of a WMT submission file."""
    if submission_fields(path) is not None:
        return _submitted(path, part)
    table = read_table(path, what="table of scores")
    if not table:
        raise FileError(f"file {path!r} has no scores: it is empty")
    if "column" in table[0][1]:
        return StoredScores(path, _columns_by_line(path, table), {})
    keys = _keys_of_table(path, table)
    columns = to_columns([_row_scores(row, where) for where, row in table])
    if not columns:
        raise FileError(f"{path} has no column of scores; it has: {', '.join(table[0][1])}")
    return StoredScores(path, columns, keys)


def _submitted(path: str, part: str | None) -> StoredScores:
    """Return the segment scores of a WMT submission."""
    by_metric = segment_scores(path, part)
    keys = list(dict.fromkeys(key for scores in by_metric.values() for key in scores))
    columns = {
        name: np.array([scores.get(key, np.nan) for key in keys])
        for name, scores in by_metric.items()
    }
    return StoredScores(path, columns, {"system and segment": keys})


def _keys_of_table(path: str, table: Rows) -> Keys:
    columns = table[0][1]

    def cells(names: Sequence[str]) -> list[str]:
        key = find_column(columns, names)
        return [] if key is None else [str(find_cell(where, row, key)) for where, row in table]

    system, segment = cells(COLUMNS["system"]), cells(_SEGMENT)
    keys: Keys = {
        "system and segment": [*zip(system, segment, strict=True)] if system and segment else [],
        "id": cells(("id",)),
        "segment": [] if system else segment,
    }
    if not any(keys.values()):
        ways = f"give columns 'system' and 'segment', or 'id'. It has: {', '.join(columns)}"
        raise FileError(f"{path} does not name the rows of its scores; {ways}")
    return {kind: values for kind, values in keys.items() if values}


def _row_scores(row: Mapping[str, Any], where: str) -> dict[str, float]:
    """Return the scores of a row: its object `scores`, else all columns except keys."""
    scores = row.get("scores")
    if not isinstance(scores, Mapping):
        scores = {key: row[key] for key in row if str(key).lower() not in _NOT_SCORES}
    return {str(key): parse_score(value, f"{where}: {str(key)!r}") for key, value in scores.items()}


def _columns_by_line(path: str, table: Rows) -> dict[str, Floats]:
    """Return the columns of a table that lists the scores of one metric in each line."""
    columns: dict[str, Floats] = {}
    for where, row in table:
        scores = row.get("scores")
        if "column" not in row or not isinstance(scores, list):
            raise FileError(f"{where} has no 'column' or no list of 'scores'")
        name = str(row["column"])
        if name in columns:
            raise FileError(f"{where}: scores of {name!r} are in an earlier line already")
        values = [parse_score(score, f"{where}: score {i}") for i, score in enumerate(scores, 1)]
        columns[name] = np.array(values, dtype=float)
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise FileError(f"{path}: the lists of scores have different lengths: {sorted(lengths)}")
    return columns
