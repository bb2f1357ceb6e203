"""How tests between metrics are delivered: p of every ordered pair, in words and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import study_output
from nlgauge.cli.output import deliver

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from nlgauge.cli.study_options import AskedMetrics
    from nlgauge.report.table import Table
    from nlgauge.study import Study

HeatMap = Annotated[
    Path | None, typer.Option("--figure", help="Also draw a heat map: .svg, .png or .pdf.")
]


class Correction(StrEnum):
    """Of p-values for many pairs having been tested."""

    HOLM = "holm"
    NONE = "none"


@dataclass(frozen=True, eq=False)
class Tested:
    """The tests of one criterion: p[i, j] is that metric i is better than metric j."""

    criterion: str
    names: tuple[str, ...]
    correlations: NDArray[Any]
    p: NDArray[Any]
    p_holm: NDArray[Any]
    level: str
    coefficient: str
    n: int
    about: str
    """What the numbers rest on, for the line below a table."""


def hand_over(
    asked: AskedMetrics,
    study: Study,
    found: Sequence[Tested],
    *,
    figure: Path | None,
    correction: Correction,
    remarks: Sequence[str] = (),
) -> None:
    """Write and draw the tests, and say the notes."""
    output = asked.output
    notes = [*study.notes, *remarks]
    drawn = output is not None and output.suffix in study_output.FIGURES
    for path in (figure, output if drawn else None):
        if path is not None:
            study_output.draw(_heat(found, correction), path)
    if not drawn:
        rows = [row for each in found for row in _rows(each)]
        content = {"tests": rows, "signatures": study.signatures, "notes": notes}
        text = study_output.written(
            study_output.format_of(output, asked.format, drawn=True),
            content,
            [_long(rows)],
            [_table(each, correction) for each in found],
            to_file=output is not None,
        )
        deliver(text, output)
    study_output.tell(notes, quiet=asked.quiet)


def _shown(tested: Tested, correction: Correction) -> NDArray[Any]:
    return tested.p_holm if correction is Correction.HOLM else tested.p


def _table(tested: Tested, correction: Correction) -> Table:
    from nlgauge.report.study_tables import williams_table

    corrected = "Holm-corrected" if correction is Correction.HOLM else "not corrected"
    return williams_table(
        tested.names,
        tested.correlations.tolist(),
        _shown(tested, correction).tolist(),
        coefficient="r" if tested.coefficient == "pearson" else tested.coefficient,
        footer=[f"human: {tested.criterion}; {tested.about}; p {corrected}"],
    )


def _heat(found: Sequence[Tested], correction: Correction) -> Figure:
    from nlgauge.figures.matrix import directed, heat

    return heat(
        [
            directed(each.names, _shown(each, correction), title=f"p in %, {each.criterion}")
            for each in found
        ]
    )


def _long(rows: list[dict[str, Any]]) -> Table:
    from nlgauge.report.study_tables import tidy

    return tidy(rows)


def _rows(tested: Tested) -> list[dict[str, Any]]:
    return [
        {
            "criterion": tested.criterion,
            "level": tested.level,
            "coefficient": tested.coefficient,
            "better": better,
            "than": than,
            "r_better": _plain(tested.correlations[i]),
            "r_than": _plain(tested.correlations[j]),
            "p": _plain(tested.p[i, j]),
            "p_holm": _plain(tested.p_holm[i, j]),
            "n": tested.n,
        }
        for i, better in enumerate(tested.names)
        for j, than in enumerate(tested.names)
        if i != j
    ]


def _plain(value: float) -> float | None:
    return float(value) if isfinite(value) else None
