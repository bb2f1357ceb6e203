"""Tables of studies, from rows of plain values by column name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isnan
from typing import Any, Literal

from nlgauge.report.table import Column, Table, Value

Row = Mapping[str, Any]
FilledColumn = tuple[Column, Callable[[Row], Value]]  # a column, and its value in a row


def long_table(rows: Sequence[Row]) -> Table:
    """Return a row for each mapping and a column for each key, with full precision."""
    cells = tuple(tuple(row.get(name) for name in rows[0]) for row in rows)
    return Table(tuple(Column(name, 6) for name in rows[0]), cells)


def filled_table(
    rows: Iterable[Row], filled: Sequence[FilledColumn], footer: Sequence[str] = ()
) -> Table:
    """Return a table from columns and their values in each row."""
    cells = tuple(tuple(value(row) for _, value in filled) for row in rows)
    return Table(tuple(column for column, _ in filled), cells, tuple(footer))


def key_column(
    name: str, digits: int = 4, direction: Literal["higher", "lower"] | None = None, key: str = ""
) -> FilledColumn:
    """Return a column filled from one key of the rows."""
    return Column(name, digits, direction), lambda row: row[key or name]


def interval_column(heading: str, digits: int) -> FilledColumn:
    """Return a column of the intervals of the rows."""
    return Column(heading), lambda row: interval(row["low"], row["high"], digits)


def _interval(rows: Sequence[Row], digits: int) -> list[FilledColumn]:
    """Return the column of intervals, if the rows have any."""
    if "low" not in rows[0]:
        return []
    return [interval_column(f"{100 * rows[0]['confidence']:g}%", digits)]


def agreement_tables(
    rows: Sequence[Row], *, digits: int = 3, footer: Sequence[str] = ()
) -> list[Table]:
    """Return metrics by varying keys; a table for each level if criteria vary as well.

    A row has metric, criterion, level, coefficient, value and n, and optionally low, high and
    confidence. Constant keys are stated below the table.
    """
    criteria = {row["criterion"] for row in rows}
    kinds = list(dict.fromkeys((row["level"], row["coefficient"]) for row in rows))
    parts = [list(rows)]
    if len(criteria) > 1 and len(kinds) > 1:
        parts = [[r for r in rows if (r["level"], r["coefficient"]) == kind] for kind in kinds]
    tables = [_agreement(part, digits) for part in parts]
    tables[-1] = replace(tables[-1], footer=(*tables[-1].footer, *footer))
    return tables


def _agreement(rows: Sequence[Row], digits: int) -> Table:
    keys = ("criterion", "level", "coefficient")
    varying = [key for key in keys if len({row[key] for row in rows}) > 1]
    by_metric: dict[str, dict[tuple[str, ...], Row]] = {}
    for row in rows:
        by_metric.setdefault(row["metric"], {})[tuple(row[key] for key in keys)] = row
    columns, with_interval = [Column("metric")], _interval(rows, digits)
    first = next(iter(by_metric.values()))
    further = [*with_interval, *([key_column("rank")] if "rank" in rows[0] else [])]
    for row in first.values():
        name = " ".join(row[key] for key in varying) or row["coefficient"]
        columns += [Column(name, digits, "higher"), *(column for column, _ in further)]
    body: list[tuple[Value, ...]] = []
    for metric, groups in by_metric.items():
        cells: list[Value] = [metric]
        for group in first:
            row = groups[group]
            cells += [row["value"], *(value(row) for _, value in further)]
        body.append(tuple(cells))
    return Table(tuple(columns), tuple(body), (_constant(rows, varying),))


def _constant(rows: Sequence[Row], varying: Sequence[str]) -> str:
    """Return the constant keys, and the number of points."""
    first = rows[0]
    fixed = {
        "criterion": f"human: {first['criterion']}",
        "level": f"{first['level']} level",
        "coefficient": str(first["coefficient"]),
    }
    parts = [text for key, text in fixed.items() if key not in varying]
    counts = {row["n"] for row in rows}
    if len(counts) == 1:
        unit = "systems" if first["level"] == "system" and "level" not in varying else "points"
        parts.append(f"{counts.pop():,} {unit}")
    if first.get("interval") == "fisher":
        parts.append("intervals: Fisher's z")
    elif "resampled" in first:
        parts.append(f"intervals: bootstrap over {first['resampled']}")
    if "rank" in first:
        parts.append("rank: by significance (p <= .05)")
    return "; ".join(parts)


def matrix_table(
    corner: str,
    names: Sequence[str],
    values: Iterable[Sequence[float | None]],
    *,
    digits: int = 3,
    footer: Sequence[str] = (),
) -> Table:
    """Return a square table with an empty diagonal."""
    columns = [Column(corner), *(Column(name, digits) for name in names)]
    rows: list[tuple[Value, ...]] = []
    for i, (name, row) in enumerate(zip(names, values, strict=True)):
        rows.append((name, *row[:i], None, *row[i + 1 :]))
    return Table(tuple(columns), tuple(rows), tuple(footer))


def p_table(names: Sequence[str], p: Iterable[Sequence[float]], *, limit: float = 0.05) -> Table:
    """Return a square table of the p-values below ``limit``; the others are left empty."""
    columns = [Column("p"), *(Column(name) for name in names)]
    rows = [
        (name, *(p_text(value) if value < limit else None for value in row))
        for name, row in zip(names, p, strict=True)
    ]
    note = (
        f"p: two-sided, uncorrected, of the hypothesis of no relation; only p < {limit:g} is shown"
    )
    return Table(tuple(columns), tuple(rows), (note,))


def williams_table(
    names: Sequence[str],
    correlations: Sequence[float],
    p: Sequence[Sequence[float]],
    *,
    ranks: Sequence[int] | None = None,
    coefficient: str = "r",
    footer: Sequence[str] = (),
) -> Table:
    """Return metrics by metrics: one-sided p of "the row's correlates better"."""
    columns = [Column("metric"), Column(coefficient, 3, "higher")]
    columns += [*(Column(name) for name in names), Column("beats")]
    columns += [] if ranks is None else [Column("rank")]
    rows: list[tuple[Value, ...]] = []
    for i, name in enumerate(names):
        others = [None if i == j else p_text(value) for j, value in enumerate(p[i])]
        beaten = sum(value < 0.05 for j, value in enumerate(p[i]) if j != i)
        last = (beaten,) if ranks is None else (beaten, ranks[i])
        rows.append((name, float(correlations[i]), *others, *last))
    legend = (
        f"p, one-sided: a small p is evidence that the row's metric has a higher {coefficient} "
        "with people than the column's; beats: number of metrics with p < .05"
        + ("" if ranks is None else "; rank: by significance, p <= .05 without correction")
    )
    return Table(tuple(columns), tuple(rows), (legend, *footer))


def sweep_table(
    options: Sequence[str], rows: Sequence[Row], *, digits: int = 3, footer: Sequence[str] = ()
) -> Table:
    """Return every value tried with its tuning number, and the test of the chosen one.

    A row has the value of each option, tune and test.
    """

    def shown(name: str, row: Row) -> str:
        return f"{row[name]:g}" if isinstance(row[name], float) else str(row[name])

    filled: list[FilledColumn] = [(Column(name, 6), partial(shown, name)) for name in options]
    filled += [key_column("tune", digits, "higher"), key_column("test", digits)]
    return filled_table(rows, filled, footer)


def ranking_table(rows: Sequence[Row], *, digits: int = 3, footer: Sequence[str] = ()) -> Table:
    """Return metrics by Kendall-like tau, with intervals if present, and the counts of pairs."""
    filled = [key_column("metric"), key_column("tau", digits, "higher"), *_interval(rows, digits)]
    filled += [key_column(name) for name in ("concordant", "discordant", "ties")]
    return filled_table(rows, [*filled, key_column("missing", key="pairs_missing")], footer)


def span_table(rows: Sequence[Row], *, digits: int = 3, footer: Sequence[str] = ()) -> Table:
    """Return metrics and baselines by F1 of error spans, with their thresholds.

    A row has metric, f1 with its interval, precision, recall, the difference from the lexical diff
    with its interval, minor, major and the number of spans.
    """

    def difference(row: Row) -> str | None:
        return interval(row["difference_low"], row["difference_high"], digits)

    filled = [
        key_column("metric"),
        key_column("F1", digits, "higher", "f1"),
        *_interval(rows, digits),
    ]
    filled += [key_column("precision", digits), key_column("recall", digits)]
    filled += [key_column("difference", digits), (Column(filled[2][0].name), difference)]
    filled += [key_column("minor", digits), key_column("major", digits), key_column("spans")]
    return filled_table(rows, filled, footer)


def task_tables(
    ranking: Sequence[Row],
    tasks: Sequence[Row],
    titles: Mapping[str, str],
    *,
    digits: int = 3,
    footer: Sequence[str] = (),
) -> list[Table]:
    """Return metrics by average over tasks, and tasks by metrics with values and ranks."""
    rows = [{**row, "metric": titles.get(row["metric"], row["metric"])} for row in ranking]
    filled = [key_column("metric"), key_column("average", digits, "higher"), key_column("rank")]
    filled.append(key_column("mean rank", 2, "lower", "mean_rank"))
    legend = "average over tasks, correlations mapped to [0, 1]; rank: by significance (p <= .05)"
    columns = [Column(name) for name in ("task", "measure")]
    columns += [Column("weight", 3), *(Column(row["metric"]) for row in rows)]
    body = []
    for number, task in enumerate(tasks):
        results = [row["tasks"][number] for row in rows]
        cells = [
            "" if cell["value"] is None else f"{cell['value']:.{digits}f} ({cell['rank']})"
            for cell in results
        ]
        measure = f"{task['level']} {task['coefficient']}"
        body.append((task["data"], measure, task["weight"], *cells))
    values = Table(tuple(columns), tuple(body), ("value (rank) of each metric", *footer))
    return [filled_table(rows, filled, [legend]), values]


def comparison_table(
    metric: str,
    direction: Literal["higher", "lower"],
    rows: Sequence[Row],
    *,
    digits: int = 2,
    footer: Sequence[str] = (),
) -> Table:
    """Return systems under one metric: value, difference, interval, both p and cluster."""
    filled = [
        key_column("system"),
        key_column(metric, digits, direction, "value"),
        key_column("difference", digits),
    ]
    if any(row["low"] is not None for row in rows):
        filled.append(interval_column("95%", digits))
    filled += [p_column("p uncorrected", "p_uncorrected"), p_column("p Holm", "p_holm")]
    return filled_table(rows, [*filled, key_column("cluster")], footer)


def p_column(name: str, key: str) -> FilledColumn:
    """Return a column of p-values filled from one key of the rows."""
    return Column(name), lambda row: None if row[key] is None else p_text(row[key])


def interval(low: float | None, high: float | None, digits: int) -> str | None:
    """Return the two ends in brackets; None for an undefined interval."""
    if low is None or high is None:
        return None
    return f"[{low:.{digits}f}, {high:.{digits}f}]"


def p_text(p: float) -> str:
    """Return a p-value with three decimals, the smallest as <.001; empty if undefined.

    A p below .05 has enough decimals that it is not rounded to .05: .04995, not .050.
    """
    if isnan(p):
        return ""
    digits = 3
    while p < 0.05 <= round(p, digits):
        digits += 1
    return "<.001" if p < 0.001 else f"{p:.{digits}f}".removeprefix("0")


def power_table(
    rows: Sequence[Row],
    named: Sequence[str],
    unit: str,
    *,
    power: float,
    digits: int = 2,
    footer: Sequence[str] = (),
) -> Table:
    """Return the power and the smallest detectable difference of every size.

    A row has size, power, detectable and the keys ``named``, which say what is compared.
    """
    filled = [
        *(key_column(name) for name in named),
        key_column(unit, key="size"),
        key_column("power", 2),
    ]
    title = f"detectable at power {power:g}"
    return filled_table(rows, [*filled, key_column(title, digits, key="detectable")], footer)


def preference_table(
    rows: Sequence[Row], named: Sequence[str], *, digits: int = 2, footer: Sequence[str] = ()
) -> Table:
    """Return the percentage of people who prefer A for every difference, and its interval.

    A row has difference, probability, low, high, confidence and the keys ``named``.
    """

    def percent(key: str, row: Row) -> str | None:
        return None if row[key] is None else f"{100 * row[key]:.0f}"

    def limits(row: Row) -> str | None:
        ends = percent("low", row), percent("high", row)
        return None if None in ends else f"[{ends[0]}, {ends[1]}]"

    def signed(row: Row) -> str:
        return f"{row['difference']:+.{digits}f}"

    filled: list[FilledColumn] = [
        *(key_column(name) for name in named),
        (Column("difference"), signed),
    ]
    filled.append((Column("prefer A, %"), partial(percent, "probability")))
    filled.append((Column(f"{100 * rows[0]['confidence']:g}%"), limits))
    return filled_table(rows, filled, footer)
