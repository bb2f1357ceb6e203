"""Tables of scores: systems by metrics, or segments by metrics."""

from collections.abc import Mapping

from nlgauge.core.scores import Scores
from nlgauge.core.totals import CorpusScore
from nlgauge.report.study_tables import interval, p_text
from nlgauge.report.table import Column, Table, Value

SystemScores = Mapping[str, Mapping[str, Scores]]  # by system and metric label
Totals = Mapping[str, Mapping[str, Scores | CorpusScore]]


def system_table(
    totals: Totals,
    *,
    digits: int | None = None,
    confidence: float | None = None,
    p_values: Mapping[tuple[str, str], float | None] | None = None,
) -> Table:
    """Return a row for each system and a column for each metric, with the signatures below.

    With ``confidence`` every metric has a second column for its interval, and with p-values (by
    system and metric) one for those.
    """
    columns = [Column("system")]
    for label, scores in next(iter(totals.values())).items():
        columns.append(_column(label, scores, digits))
        columns += [Column(f"{confidence:.0%}")] if confidence else []
        columns += [Column("p")] if p_values is not None else []
    rows: list[tuple[Value, ...]] = []
    for system, by_metric in totals.items():
        cells: list[Value] = [system]
        for label, scores in by_metric.items():
            cells.append(scores.value)
            if confidence and isinstance(scores, CorpusScore):
                low, high = scores.interval(confidence)
                cells.append(interval(low, high, _column(label, scores, digits).digits))
            if p_values is not None:
                p = p_values.get((system, label))
                cells.append(None if p is None else p_text(p))
        rows.append(tuple(cells))
    signatures = dict.fromkeys(
        str(scores.signature) for by_metric in totals.values() for scores in by_metric.values()
    )
    return Table(tuple(columns), tuple(rows), tuple(signatures))


def segment_table(
    scores: SystemScores, *, digits: int | None = None, components: bool = False
) -> Table:
    """Return a row for each segment and a column for each metric, or each of its components."""
    columns = [Column("system"), Column("segment")]
    for label, first in next(iter(scores.values())).items():
        names = [label, *(f"{label}.{name}" for name in first.metric.components[1:])]
        shown = names if components else names[:1]
        columns += [_column(name, first, digits, direction=False) for name in shown]
    rows: list[tuple[Value, ...]] = []
    for system, by_metric in scores.items():
        values = []
        for each in by_metric.values():
            parts = list(each.segment_components.values())
            values += parts if components else parts[:1]
        ids = next(iter(by_metric.values())).ids
        rows += [
            (system, name, *(float(column[i]) for column in values)) for i, name in enumerate(ids)
        ]
    return Table(tuple(columns), tuple(rows))


def _column(
    label: str, scores: Scores | CorpusScore, digits: int | None, *, direction: bool = True
) -> Column:
    scale = scores.scale
    digits = scale.digits if digits is None else digits
    return Column(label, digits, scale.direction if direction else None)
