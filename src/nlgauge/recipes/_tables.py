"""Tables of computed and published numbers, matrices of metrics, and distributions of scores."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from nlgauge.core.jsonable import to_jsonable
from nlgauge.figures.distributions import distributions
from nlgauge.figures.matrix import coefficients, heat
from nlgauge.recipes.recipe import Numbers, Part, Section, Settings, TableRow, with_model_name
from nlgauge.report.study_tables import matrix_table
from nlgauge.report.table import Column, Table, Value
from nlgauge.study import Study, matrix, quality_bands

COEFFICIENTS = {"pearson": "r", "spearman": "rho", "kendall_b": "tau"}


def parse_table(rows: Mapping[str, str], columns: Sequence[str]) -> dict[tuple[str, str], float]:
    """Return the numbers of a table by row and column; a dash means that there is no number."""
    return {
        (row, column): float(number)
        for row, line in rows.items()
        for column, number in zip(columns, line.split(), strict=True)
        if number != "-"
    }


def compare_numbers(
    rows: Sequence[TableRow],
    columns: Mapping[str, str],
    ours: Numbers,
    published: Numbers,
    settings: Settings,
    *,
    digits: int,
    footer: Sequence[str] = (),
    about: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[Table, list[dict[str, Any]]]:
    """Return computed numbers next to published ones as a table, and one by one for JSON.

    ``columns`` maps keys to headings, ``about`` maps keys to descriptions of columns for JSON.
    Numbers of other models have separate columns. Rows and columns without numbers are left out.
    """
    printed = {key for row in rows for key in columns if (row.published or "", key) in published}
    others = [model for model in settings.other_models if _has_numbers(rows, model, ours)]
    head = [Column("metric"), Column("in the paper")]
    for key, heading in columns.items():
        head.append(Column(heading, digits, "higher"))
        head += [Column(f"{heading} {model}", digits, "higher") for model in others]
        head += [Column("published", digits)] if key in printed else []
    body: list[tuple[Value, ...]] = []
    entries = []
    for row in rows:
        name = row.name if any((row.name, key) in ours for key in columns) else ""
        cells: list[Value] = []
        for key in columns:
            value, paper = ours.get((row.name, key)), published.get((row.published or "", key))
            extra = {model: ours.get((with_model_name(row.name, model), key)) for model in others}
            cells += [value, *extra.values(), *([paper] if key in printed else [])]
            labels = {"metric": name or None, "in_the_paper": row.published}
            numbers = {"ours": to_jsonable(value), "published": paper}
            numbers |= {"other_models": to_jsonable(extra)} if extra else {}
            entries.append({**(about or {}).get(key, {}), **labels, **numbers})
        if any(cell is not None for cell in cells):
            body.append((name, row.published or "", *cells))
    return Table(tuple(head), tuple(body), tuple(footer)), entries


def _has_numbers(rows: Sequence[TableRow], model: str, ours: Numbers) -> bool:
    labels = {with_model_name(row.name, model) for row in rows}
    return any(label in labels for label, _ in ours)


def metric_pictures(
    study: Study,
    criterion: str,
    data: str,
    stems: tuple[str, str],
    *,
    level: str = "segment",
    bands: Sequence[str],
    legend: str,
) -> Part:
    """Return Pearson's r between metrics (table and heat map) and distributions by human quality.

    ``stems`` are the file names of the two figures.
    """
    result = matrix(study, human=criterion, level=level, coefficient="pearson")
    panel = coefficients(result.names, result.values, title=f"Pearson, {data}")
    table = matrix_table("r", result.names, result.values.tolist(), digits=2)
    curves = {
        metric: [replace(band, name=name) for name, band in zip(bands, by_quality, strict=True)]
        for metric, by_quality in quality_bands(study, criterion, len(bands)).items()
    }
    where = data if level == "segment" else f"{level} level, {data}"
    return Part(
        {"metrics": [Section(f"Pearson between metrics ({where})", table)]},
        {stems[0]: partial(heat, [panel]), stems[1]: partial(distributions, curves, legend=legend)},
        {"metrics": to_jsonable({"data": data, "names": result.names, "values": result.values})},
    )
