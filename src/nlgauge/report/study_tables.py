"""Tables of studies: agreement with people, matrices of metrics, comparisons of systems.

They come as plain values: rows are mappings from column names to values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any, Literal

from nlgauge.report.table import Column, Table, Value

Row = Mapping[str, Any]


def tidy(rows: Sequence[Row], columns: Sequence[str] | None = None) -> Table:
    """A row for each mapping, a column for each of its keys, nothing rounded away."""
    names = list(columns or rows[0])
    cells = tuple(tuple(row.get(name) for name in names) for row in rows)
    return Table(tuple(Column(name, 6) for name in names), cells)


def agreement_tables(
    rows: Sequence[Row], *, digits: int = 3, footer: Sequence[str] = ()
) -> list[Table]:
    """Metrics by what varies; where criteria and levels both do, a table for each level.

    A row says metric, criterion, level, coefficient, value, n, and low, high, confidence if it has
    an interval. What does not vary stands below the table.
    """
    criteria = list(dict.fromkeys(row["criterion"] for row in rows))
    manners = list(dict.fromkeys((row["level"], row["coefficient"]) for row in rows))
    if len(criteria) > 1 and len(manners) > 1:
        parts = [[r for r in rows if (r["level"], r["coefficient"]) == m] for m in manners]
    else:
        parts = [list(rows)]
    tables = [_agreement(part, digits) for part in parts]
    last = tables[-1]
    tables[-1] = Table(last.columns, last.rows, (*last.footer, *footer))
    return tables


def _agreement(rows: Sequence[Row], digits: int) -> Table:
    keys = ("criterion", "level", "coefficient")
    varying = [key for key in keys if len({row[key] for row in rows}) > 1]
    heads = list(dict.fromkeys(tuple(row[key] for key in keys) for row in rows))
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    found = {(row["metric"], *(row[key] for key in keys)): row for row in rows}
    with_interval = "low" in rows[0]
    columns = [Column("metric")]
    for head in heads:
        named = dict(zip(keys, head, strict=True))
        name = " ".join(named[key] for key in varying) or named["coefficient"]
        columns.append(Column(name, digits, "higher"))
        if with_interval:
            columns.append(Column(f"{100 * rows[0]['confidence']:g}%"))
    body: list[tuple[Value, ...]] = []
    for metric in metrics:
        cells: list[Value] = [metric]
        for head in heads:
            row = found[(metric, *head)]
            cells.append(row["value"])
            if with_interval:
                cells.append(interval(row["low"], row["high"], digits))
        body.append(tuple(cells))
    return Table(tuple(columns), tuple(body), (_said(rows, varying),))


def _said(rows: Sequence[Row], varying: Sequence[str]) -> str:
    """What does not vary, and how many points the numbers rest on."""
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
    if "resampled" in first:
        parts.append(f"intervals: bootstrap over {first['resampled']}")
    return "; ".join(parts)


def matrix_table(
    corner: str,
    names: Sequence[str],
    values: Iterable[Sequence[float | None]],
    *,
    digits: int = 3,
    footer: Sequence[str] = (),
) -> Table:
    """A square table, its diagonal empty."""
    columns = [Column(corner), *(Column(name, digits) for name in names)]
    rows = [
        (name, *(None if i == j else value for j, value in enumerate(row)))
        for i, (name, row) in enumerate(zip(names, values, strict=True))
    ]
    return Table(tuple(columns), tuple(rows), tuple(footer))


def p_table(names: Sequence[str], p: Iterable[Sequence[float]], *, limit: float = 0.05) -> Table:
    """A square table of the p-values below ``limit``; the others are left empty."""
    columns = [Column("p"), *(Column(name) for name in names)]
    rows = [
        (name, *(p_text(value) if value < limit else None for value in row))
        for name, row in zip(names, p, strict=True)
    ]
    return Table(tuple(columns), tuple(rows), (f"only p < {limit:g} is shown",))


def williams_table(
    names: Sequence[str],
    correlations: Sequence[float],
    p: Sequence[Sequence[float]],
    *,
    coefficient: str = "r",
    footer: Sequence[str] = (),
) -> Table:
    """Metrics by metrics: p in percent that the row's correlates better than the column's."""
    columns = [Column("metric"), Column(coefficient, 3, "higher")]
    columns += [*(Column(name, 1) for name in names), Column("beats")]
    rows: list[tuple[Value, ...]] = []
    for i, name in enumerate(names):
        percents = [None if i == j else 100 * float(value) for j, value in enumerate(p[i])]
        beaten = sum(value is not None and value < 5 for value in percents)
        rows.append((name, float(correlations[i]), *percents, beaten))
    which = f"the row's {coefficient} exceeds the column's"
    said = f"p in percent that {which}; beats: how many with p < 5 %"
    return Table(tuple(columns), tuple(rows), (said, *footer))


def sweep_table(
    options: Sequence[str], rows: Sequence[Row], *, digits: int = 3, footer: Sequence[str] = ()
) -> Table:
    """Every value tried: its number on the tuning part, and for the chosen one that of the test.

    A row says the value of each option, tune and test.
    """
    columns = [*(Column(name, 6) for name in options), Column("tune", digits, "higher")]
    columns.append(Column("test", digits))
    body: list[tuple[Value, ...]] = []
    for row in rows:
        values = (row[name] for name in options)
        named = (f"{value:g}" if isinstance(value, float) else str(value) for value in values)
        body.append((*named, row["tune"], row["test"]))
    return Table(tuple(columns), tuple(body), tuple(footer))


def layers_table(rows: Sequence[Row], *, digits: int = 3, footer: Sequence[str] = ()) -> Table:
    """Metrics with their default and the chosen layers, both tested, and the gain between them.

    A row says metric, default, default_test, chosen, tune, test, gain, low, high and confidence.
    """
    columns = [Column("metric"), Column("default"), Column("test of default", digits)]
    columns += [Column("chosen"), Column("tune", digits), Column("test", digits)]
    columns += [Column("gain", digits), Column(f"{100 * rows[0]['confidence']:g}%")]
    body: list[tuple[Value, ...]] = [
        (
            *(row["metric"], row["default"], row["default_test"]),
            *(str(row["chosen"]), row["tune"], row["test"], row["gain"]),
            interval(row["low"], row["high"], digits),
        )
        for row in rows
    ]
    return Table(tuple(columns), tuple(body), tuple(footer))


def ranking_table(rows: Sequence[Row], *, digits: int = 3, footer: Sequence[str] = ()) -> Table:
    """Metrics by Kendall-like tau, with its interval if there is one and the pairs behind it."""
    with_interval = "low" in rows[0]
    columns = [Column("metric"), Column("tau", digits, "higher")]
    columns += [Column(f"{100 * rows[0]['confidence']:g}%")] if with_interval else []
    counts = ("concordant", "discordant", "ties", "pairs_missing")
    columns += [Column(name.replace("pairs_", "")) for name in counts]
    body: list[tuple[Value, ...]] = []
    for row in rows:
        cells: list[Value] = [row["metric"], row["tau"]]
        if with_interval:
            cells.append(interval(row["low"], row["high"], digits))
        body.append((*cells, *(row[name] for name in counts)))
    return Table(tuple(columns), tuple(body), tuple(footer))


def comparison_table(
    metric: str,
    direction: Literal["higher", "lower"],
    rows: Sequence[Row],
    *,
    digits: int = 2,
    footer: Sequence[str] = (),
) -> Table:
    """Systems under one metric, the baseline first: value, difference, interval, p, cluster."""
    with_interval = any(row["low"] is not None for row in rows)
    columns = [Column("system"), Column(metric, digits, direction), Column("difference", digits)]
    columns += [Column("95%")] if with_interval else []
    columns += [Column("p"), Column("cluster")]
    body: list[tuple[Value, ...]] = []
    for row in rows:
        cells: list[Value] = [row["system"], row["value"], row["difference"]]
        if with_interval:
            cells.append(interval(row["low"], row["high"], digits))
        cells += [None if row["p"] is None else p_text(row["p"]), row["cluster"]]
        body.append(tuple(cells))
    return Table(tuple(columns), tuple(body), tuple(footer))


def interval(low: float | None, high: float | None, digits: int) -> str | None:
    """The two ends in brackets; nothing for an undefined interval."""
    if low is None or high is None:
        return None
    return f"[{low:.{digits}f}, {high:.{digits}f}]"


def p_text(p: float) -> str:
    """A p-value with three decimals, the smallest as <.001; nothing where it is undefined."""
    if isnan(p):
        return ""
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")
