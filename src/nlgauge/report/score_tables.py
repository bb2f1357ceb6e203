"""Tables of scores: systems by metrics, or segments by metrics."""

from __future__ import annotations

from collections.abc import Mapping

from nlgauge.core.scores import Scores
from nlgauge.core.totals import Tally
from nlgauge.report.study_tables import interval, p_text
from nlgauge.report.table import Column, Table, Value

Board = Mapping[str, Mapping[str, Scores]]  # system, then metric label
Totals = Mapping[str, Mapping[str, Scores | Tally]]


def scoreboard(
    board: Totals,
    *,
    digits: int | None = None,
    confidence: float | None = None,
    p_values: Mapping[tuple[str, str], float | None] | None = None,
) -> Table:
    """A row for each system, a column for each metric, the signatures below.

    With a confidence every metric has a second column for its interval, and with p-values (by
    system and metric) one for those.
    """
    first = next(iter(board.values()))
    columns = [Column("system")]
    for label, s in first.items():
        columns.append(_column(label, s, digits))
        columns += [Column(f"{confidence:.0%}")] if confidence else []
        columns += [Column("p")] if p_values is not None else []
    rows: list[tuple[Value, ...]] = []
    for system, scores in board.items():
        cells: list[Value] = [system]
        for label, s in scores.items():
            cells.append(s.value)
            if confidence and isinstance(s, Tally):
                cells.append(interval(*s.interval(confidence), _column(label, s, digits).digits))
            if p_values is not None:
                p = p_values.get((system, label))
                cells.append(None if p is None else p_text(p))
        rows.append(tuple(cells))
    signatures = dict.fromkeys(
        str(s.signature) for scores in board.values() for s in scores.values()
    )
    return Table(tuple(columns), tuple(rows), tuple(signatures))


def segment_board(board: Board, *, digits: int | None = None, components: bool = False) -> Table:
    """A row for each system and segment, a column for each metric, or each of its components."""
    first = next(iter(board.values()))
    columns = [Column("system"), Column("segment")]
    for label, scores in first.items():
        columns.append(_column(label, scores, digits, direction=False))
        if components:
            columns += [
                _column(f"{label}.{name}", scores, digits, direction=False)
                for name in scores.metric.components[1:]
            ]
    rows: list[tuple[Value, ...]] = []
    for system, scores_of in board.items():
        values = []
        for scores in scores_of.values():
            named = list(scores.segment_components.values())
            values += named if components else named[:1]
        ids = next(iter(scores_of.values())).ids
        rows += [
            (system, name, *(float(column[i]) for column in values)) for i, name in enumerate(ids)
        ]
    return Table(tuple(columns), tuple(rows))


def _column(
    label: str, scores: Scores | Tally, digits: int | None, *, direction: bool = True
) -> Column:
    spread = scores.scale.high - scores.scale.low
    usual = 2 if scores.scale.high >= 100 or scores.scale.void >= 100 or spread > 1e3 else 4
    chosen = usual if digits is None else digits
    return Column(label, chosen, scores.scale.direction if direction else None)
