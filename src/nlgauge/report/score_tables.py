"""Tables of scores: systems by metrics, segments by metrics, or systems by details of a metric."""

from collections.abc import Mapping

from nlgauge.core.scores import Scores
from nlgauge.core.totals import CorpusScore
from nlgauge.report.study_tables import interval, p_text
from nlgauge.report.table import Column, Table, Value
from nlgauge.report.titles import distinct_titles

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
    columns, first = [Column("system")], next(iter(totals.values()))
    titles = _titles(first)
    for label, scores in first.items():
        columns.append(_column(label, scores, digits, title=titles[label]))
        columns += [Column(f"{confidence:.0%}")] if confidence else []
        columns += [Column("p")] if p_values is not None else []
    rows: list[tuple[Value, ...]] = []
    for system, by_metric in totals.items():
        cells: list[Value] = [system]
        for label, scores in by_metric.items():
            cells.append(scores.value)
            if confidence and isinstance(scores, CorpusScore):
                low, high = scores.interval(confidence)
                cells.append(interval(low, high, scores.scale.digits if digits is None else digits))
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
    columns, by_label = [Column("system"), Column("segment")], next(iter(scores.values()))
    titles = _titles(by_label)
    for label, first in by_label.items():
        columns.append(_column(label, first, digits, title=titles[label], direction=False))
        names = first.metric.components[1:] if components else ()
        columns += [_column(f"{label}.{name}", first, digits, direction=False) for name in names]
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


def system_keys(
    totals: Totals,
    *,
    confidence: float | None = None,
    p_values: Mapping[tuple[str, str], float | None] | None = None,
    details: bool = False,
) -> Table:
    """Return a row for each system for CSV and TSV: every number has a column of its own.

    The columns of a metric are its label and, if requested, label.low, label.high, label.p, and
    label.name for each component and detail.
    """
    rows = []
    for system, by_metric in totals.items():
        cells: dict[str, Value] = {"system": system}
        for label, scores in by_metric.items():
            cells[label] = scores.value
            if confidence and isinstance(scores, CorpusScore):
                cells[f"{label}.low"], cells[f"{label}.high"] = scores.interval(confidence)
            if p_values is not None:
                cells[f"{label}.p"] = p_values.get((system, label))
            behind = _get_components(scores) if details else {}
            cells |= {f"{label}.{name}": value for name, value in behind.items()}
        rows.append(cells)
    columns = tuple(map(Column, rows[0]))
    return Table(columns, tuple(tuple(cells.values()) for cells in rows))


def detail_tables(totals: Totals, *, digits: int | None = None) -> list[Table]:
    """Return a table of systems by components and details for each metric that has any."""
    first = next(iter(totals.values()))
    titles, tables = _titles(first), []
    for label in first:
        components = {
            system: _get_components(by_metric[label]) for system, by_metric in totals.items()
        }
        names = next(iter(components.values()))
        if names:
            decimals = 4 if digits is None else digits
            columns = (Column(name, decimals, title=name.replace("_", " ")) for name in names)
            rows: list[tuple[Value, ...]] = [
                (system, *values.values()) for system, values in components.items()
            ]
            tables.append(Table((Column(label, title=titles[label]), *columns), tuple(rows)))
    return tables


def _get_components(scores: Scores | CorpusScore) -> dict[str, float]:
    """Return the details, and all components except the first."""
    return {**dict(list(scores.components.items())[1:]), **scores.details}


def _titles(scores: Mapping[str, Scores | CorpusScore]) -> dict[str, str]:
    return distinct_titles({label: result.metric.title for label, result in scores.items()})


def _column(
    label: str,
    scores: Scores | CorpusScore,
    digits: int | None,
    *,
    title: str = "",
    direction: bool = True,
) -> Column:
    scale = scores.scale
    digits = scale.digits if digits is None else digits
    return Column(label, digits, scale.direction if direction else None, title)
