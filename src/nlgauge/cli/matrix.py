"""nlgauge matrix: judged texts in, every metric against every other and against people out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import study_output
from nlgauge.cli.output import deliver
from nlgauge.cli.study_options import AskedMetrics, asking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.report.table import Table
    from nlgauge.study import CoefficientMatrix

_EPILOG = """Examples:

nlgauge matrix de-en.jsonl -m bleu chrf ter bertscore mover --coefficient kendall -o matrix.pdf

nlgauge matrix webnlg.jsonl -m bleu chrf --human Fluency --level system --cluster -f markdown

The ending of -o decides: .svg, .png, .pdf (a heat map), .json, .tsv, .md, .tex, .html or .txt. All
numbers rest on the outputs that people judged and every metric scored."""


class Shown(StrEnum):
    """Which of the two matrices."""

    COEFFICIENTS = "coefficients"
    P = "p"
    BOTH = "both"


@asking
def matrix_command(
    asked: AskedMetrics,
    level: Annotated[str, typer.Option("--level", help="segment, text or system.")] = "segment",
    coefficient: Annotated[
        str, typer.Option("--coefficient", help="pearson, spearman, kendall, accuracy.")
    ] = "pearson",
    cluster: Annotated[
        bool, typer.Option("--cluster", help="Put metrics that agree next to each other.")
    ] = False,
    show: Annotated[
        Shown, typer.Option("--show", help="Coefficients, p-values below .05, or both.")
    ] = Shown.BOTH,
    figure: Annotated[
        Path | None, typer.Option("--figure", help="Also draw a heat map: .svg, .png or .pdf.")
    ] = None,
) -> None:
    """Correlate every metric with every other, and with people."""
    from nlgauge.study import matrix

    output = asked.output
    chosen = study_output.format_of(output, asked.format, drawn=True)
    study_output.only_figure(figure)
    study_output.check([level], [coefficient])
    study = asked.study()
    found = matrix(study, human=asked.human, level=level, coefficient=coefficient, cluster=cluster)
    remarks = list(study.notes)
    if found.cells_dropped:
        remarks.append(f"{found.cells_dropped:,} judged outputs lack another criterion or a score.")
    drawn = output is not None and output.suffix in study_output.FIGURES
    for path in (figure, output if drawn else None):
        if path is not None:
            study_output.draw(_heat(found, show), path)
    if not drawn:
        content = _content(found) | {"signatures": study.signatures, "notes": remarks}
        tables = _tables(found, show, asked.digits, list(study.signatures.values()))
        text = study_output.written(
            chosen, content, [_long(found)], tables, to_file=output is not None
        )
        deliver(text, output)
    study_output.tell(remarks, quiet=asked.quiet)


matrix_command.__doc__ = f"{matrix_command.__doc__}\n\n{_EPILOG}"


def _about(found: CoefficientMatrix) -> str:
    return f"{found.level} level, {found.coefficient}"


def _tables(found: CoefficientMatrix, show: Shown, digits: int, footer: list[str]) -> list[Table]:
    from nlgauge.report.study_tables import matrix_table, p_table

    about = f"{_about(found)}; {found.cells:,} outputs"
    values = matrix_table(
        *(found.coefficient, found.names, found.values.tolist()),
        digits=digits,
        footer=[about, *footer],
    )
    p = p_table(found.names, found.p.tolist())
    return {Shown.COEFFICIENTS: [values], Shown.P: [p], Shown.BOTH: [values, p]}[show]


def _heat(found: CoefficientMatrix, show: Shown) -> Figure:
    from nlgauge.figures.matrix import coefficients, heat, p_values

    values = coefficients(found.names, found.values, title=_about(found))
    p = p_values(found.names, found.p)
    return heat({Shown.COEFFICIENTS: [values], Shown.P: [p], Shown.BOTH: [values, p]}[show])


def _long(found: CoefficientMatrix) -> Table:
    from nlgauge.report.study_tables import tidy

    names = found.names
    rows = [
        {
            "first": names[i],
            "second": names[j],
            "level": found.level,
            "coefficient": found.coefficient,
            "value": _plain(found.values[i, j]),
            "p": _plain(found.p[i, j]),
        }
        for i in range(len(names))
        for j in range(len(names))
        if i != j
    ]
    return tidy(rows)


def _content(found: CoefficientMatrix) -> dict[str, Any]:
    return {
        "names": list(found.names),
        "level": found.level,
        "coefficient": found.coefficient,
        "values": [[_plain(value) for value in row] for row in found.values],
        "p": [[_plain(value) for value in row] for row in found.p],
        "cells": found.cells,
        "cells_dropped": found.cells_dropped,
    }


def _plain(value: float) -> float | None:
    from math import isfinite

    return float(value) if isfinite(value) else None
