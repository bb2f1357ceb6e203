"""nlgauge matrix: correlations of metrics with each other and with human judgements."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from nlgauge.cli import arguments
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.output import Result
from nlgauge.cli.pairwise_tests import MatrixOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.report.table import Table
    from nlgauge.study import CoefficientMatrix


Shown = Literal["coefficients", "p", "both"]


@with_option_groups
def matrix_command(
    options: MatrixOptions,
    level: arguments.Level = "segment",
    coefficient: arguments.Coefficient = "pearson",
    cluster: Annotated[
        bool,
        typer.Option("--cluster", help="Place similar metrics next to each other."),
    ] = False,
    show: Annotated[
        Shown, typer.Option("--show", help="Coefficients, p-values below .05, or both.")
    ] = "both",
    figure: arguments.HeatMap = None,
) -> None:
    """Correlate metrics with each other and with human judgements.

    Examples:

    nlgauge matrix de-en.jsonl -m bleu chrf ter bertscore mover --coefficient kendall -o matrix.pdf

    nlgauge matrix webnlg.jsonl -m bleu chrf --human Fluency --level system --cluster -f markdown

    The ending of -o selects the format; .svg, .png and .pdf are heat maps. All numbers are computed
    on the outputs that are judged and scored by every metric.
    """
    from nlgauge.study import matrix

    study = options.study()
    found = matrix(
        study, human=options.human, level=level, coefficient=coefficient, cluster=cluster
    )
    notes = list(study.remarks())
    if found.cells_dropped:
        notes.append(f"{found.cells_dropped:,} judged outputs lack another criterion or a score.")
    result = Result(
        content=lambda: _content(found) | {"signatures": study.signatures, "notes": notes},
        rows=lambda: _rows(found),
        tables=lambda: _tables(found, show, options.digits, list(study.signatures.values())),
        figures={figure: lambda: _heat_map(found, show)},
        notes=notes,
    )
    options.write(result, quiet=options.quiet)


def _title(found: CoefficientMatrix) -> str:
    return f"{found.level} level, {found.coefficient}"


def _tables(found: CoefficientMatrix, show: Shown, digits: int, footer: list[str]) -> list[Table]:
    from nlgauge.report.study_tables import matrix_table, p_table

    summary = f"{_title(found)}; {found.cells:,} outputs"
    values = matrix_table(
        found.coefficient,
        found.names,
        found.values.tolist(),
        digits=digits,
        footer=[summary, *footer],
    )
    p = p_table(found.names, found.p.tolist())
    return {"coefficients": [values], "p": [p], "both": [values, p]}[show]


def _heat_map(found: CoefficientMatrix, show: Shown) -> Figure:
    from nlgauge.figures.matrix import coefficients, heat, p_values

    values = coefficients(found.names, found.values, title=_title(found))
    p = p_values(found.names, found.p)
    return heat({"coefficients": [values], "p": [p], "both": [values, p]}[show])


def _rows(found: CoefficientMatrix) -> list[dict[str, Any]]:
    from nlgauge.core.jsonable import to_jsonable

    return [
        {
            "first": found.names[i],
            "second": found.names[j],
            "level": found.level,
            "coefficient": found.coefficient,
            "value": to_jsonable(found.values[i, j]),
            "p": to_jsonable(found.p[i, j]),
        }
        for i, j in permutations(range(len(found.names)), 2)
    ]


def _content(found: CoefficientMatrix) -> dict[str, Any]:
    names = ("names", "level", "coefficient", "values", "p", "cells", "cells_dropped")
    return {name: getattr(found, name) for name in names}
