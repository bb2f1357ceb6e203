"""Output of tests between metrics: the p-value of every ordered pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from nlgauge.cli.output import Result
from nlgauge.cli.study_options import MetricStudyOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from nlgauge.report.table import Table
    from nlgauge.study import PermutationMatrix, Study, WilliamsMatrix


Correction = Annotated[
    Literal["holm", "none"], typer.Option(help="Correction of p-values for the number of pairs.")
]


@dataclass(frozen=True, kw_only=True)
class MatrixOptions(MetricStudyOptions):
    """Options of a study whose output file may be a heat map."""

    draws_output: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class CriterionTests:
    """The tests of one criterion: p[i, j] is that metric i is better than metric j."""

    criterion: str
    matrix: WilliamsMatrix | PermutationMatrix
    coefficient: str
    n: int
    summary: str
    """What the numbers rest on, for the line below a table."""
    correction: str

    @property
    def p(self) -> NDArray[Any]:
        """The p-values to show."""
        holm = self.correction == "holm"
        return self.matrix.p_holm if holm else self.matrix.p

    def table(self) -> Table:
        """Return the table of p-values in percent."""
        from nlgauge.report.study_tables import williams_table

        holm = self.correction == "holm"
        corrected = "Holm-corrected" if holm else "not corrected"
        return williams_table(
            self.matrix.names,
            self.matrix.correlations.tolist(),
            self.p.tolist(),
            coefficient="r" if self.coefficient == "pearson" else self.coefficient,
            footer=[f"human: {self.criterion}; {self.summary}; p {corrected}"],
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a mapping for each ordered pair of metrics."""
        from nlgauge.core.jsonable import to_jsonable

        found = self.matrix
        rows = [
            {
                "criterion": self.criterion,
                "level": found.level,
                "coefficient": self.coefficient,
                "better": found.names[i],
                "than": found.names[j],
                "r_better": found.correlations[i],
                "r_than": found.correlations[j],
                "p": found.p[i, j],
                "p_holm": found.p_holm[i, j],
                "n": self.n,
            }
            for i, j in permutations(range(len(found.names)), 2)
        ]
        return [to_jsonable(row) for row in rows]


def write_tests(
    options: MatrixOptions,
    study: Study,
    tests: Sequence[CriterionTests],
    *,
    figure: Path | None,
    notes: Sequence[str],
) -> None:
    """Write the tests of all criteria."""
    rows = [row for each in tests for row in each.rows()]
    notes = [*study.remarks(), *notes]
    result = Result(
        content=lambda: {"tests": rows, "signatures": study.signatures, "notes": notes},
        rows=lambda: rows,
        tables=lambda: [each.table() for each in tests],
        figures={figure: lambda: _heat_map(tests)},
        notes=notes,
    )
    options.write(result, quiet=options.quiet)


def _heat_map(tests: Sequence[CriterionTests]) -> Figure:
    from nlgauge.figures.matrix import directed, heat

    return heat(
        [directed(each.matrix.names, each.p, title=f"p in %, {each.criterion}") for each in tests]
    )
