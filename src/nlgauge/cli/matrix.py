"""nlgauge matrix, williams and permutation: metrics against metrics."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from nlgauge.cli import arguments
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.output import Result
from nlgauge.cli.study_options import MetricStudyOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.report.table import Table
    from nlgauge.study import CoefficientMatrix, PermutationMatrix, Study, WilliamsMatrix

Shown = Literal["coefficients", "p", "both"]
Correction = Annotated[
    Literal["holm", "none"], typer.Option(help="Correction of p-values for the number of pairs.")
]


@dataclass(frozen=True, kw_only=True)
class MatrixOptions(MetricStudyOptions):
    """Options of a study whose output file may be a heat map."""

    draws_output: ClassVar[bool] = True


@with_option_groups
def matrix_command(
    options: MatrixOptions,
    level: arguments.Level = "segment",
    coefficient: arguments.Coefficient = "pearson",
    cluster: Annotated[
        bool, typer.Option("--cluster", help="Place similar metrics next to each other.")
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
    notes = list(study.notes)
    if found.cells_dropped:
        notes.append(f"{found.cells_dropped:,} judged outputs lack another criterion or a score.")
    result = Result(
        content=lambda: _content(found) | {"signatures": study.signatures, "notes": notes},
        rows=lambda: _matrix_rows(found),
        tables=lambda: _matrix_tables(found, show, options.digits, list(study.signatures.values())),
        figures={figure: lambda: _draw_matrix(found, show)},
        notes=notes,
    )
    options.write(result, quiet=options.quiet)


def _title(found: "CoefficientMatrix") -> str:
    return f"{found.level} level, {found.coefficient}"


def _matrix_tables(
    found: "CoefficientMatrix", show: Shown, digits: int, footer: list[str]
) -> "list[Table]":
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


def _draw_matrix(found: "CoefficientMatrix", show: Shown) -> "Figure":
    from nlgauge.figures.matrix import coefficients, heat, p_values

    values = coefficients(found.names, found.values, title=_title(found))
    p = p_values(found.names, found.p)
    return heat({"coefficients": [values], "p": [p], "both": [values, p]}[show])


def _matrix_rows(found: "CoefficientMatrix") -> list[dict[str, Any]]:
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


def _content(found: "CoefficientMatrix") -> dict[str, Any]:
    names = ("names", "level", "coefficient", "values", "p", "cells", "cells_dropped")
    return {name: getattr(found, name) for name in names}


@dataclass(frozen=True, eq=False)
class _Tests:
    """The tests of one criterion: p[i, j] is that metric i is better than metric j."""

    matrix: "WilliamsMatrix | PermutationMatrix"
    coefficient: str
    n: int
    summary: str
    notes: list[str]


@with_option_groups
def williams_command(
    options: MatrixOptions,
    level: Annotated[
        str, typer.Option(callback=arguments.check_level, help="segment or system.")
    ] = "segment",
    correction: Correction = "none",
    figure: arguments.HeatMap = None,
) -> None:
    """Test which metrics correlate better with human judgements (Williams's test).

    Examples:

    nlgauge williams de-en.jsonl -m bleu chrf bertscore

    nlgauge williams webnlg.jsonl -m bleu chrf ter --human Correctness --level system -o p.svg

    A p below 5 means that the Pearson correlation of the row's metric is higher than that of the
    column's. The test is one-sided, and valid for Pearson's r only; for other coefficients and the
    text level see nlgauge permutation. With many pairs, use --correction holm.
    """
    from nlgauge.study import williams

    def test(study: "Study", criterion: str) -> _Tests:
        found = williams(study, criterion, level=level)
        summary = f"{found.level} level; pearson; {found.n:,} points"
        return _Tests(found, "pearson", found.n, summary, [])

    _run("Williams's test", test, options, correction, figure)


@with_option_groups
def permutation_command(
    options: MatrixOptions,
    level: arguments.Level = "segment",
    coefficient: arguments.Coefficient = "pearson",
    over: Annotated[
        arguments.Resampled | None,
        typer.Option(help="What is exchanged [default: both, if there are several systems]."),
    ] = None,
    count: Annotated[int, arguments.count_option("permutations of each pair")] = 1000,
    seed: Annotated[int, arguments.seed_option("the permutations")] = 0,
    correction: Correction = "holm",
    figure: arguments.HeatMap = None,
) -> None:
    """Test which metrics correlate better with human judgements (permutation test).

    Examples:

    nlgauge permutation webnlg.jsonl -m bleu chrf bertscore --human Correctness --level text
    --coefficient kendall

    nlgauge permutation de-en.jsonl -m bleu chrf ter --coefficient spearman --count 5000 -o p.svg

    A p below 5 means that the metric of the row correlates better than that of the column. Under
    the null hypothesis the scores of two metrics are exchangeable, for whole inputs, whole systems
    or both (Deutsch et al. 2021); p is the share of permutations with a difference as large. Unlike
    Williams's test it is valid for every coefficient and level. p is one-sided and Holm-corrected
    for all ordered pairs.
    """
    from nlgauge.study import permutation

    def test(study: "Study", criterion: str) -> _Tests:
        found = permutation(
            study,
            criterion,
            level=level,
            coefficient=coefficient,
            over=over,
            count=count,
            seed=seed,
        )
        summary = (
            f"{found.level} level; {found.coefficient}; {found.cells:,} outputs; {found.count:,} "
            f"permutations of {'inputs and systems' if found.over == 'both' else found.over}"
        )
        notes = []
        if correction == "holm" and found.smallest >= 0.05:
            notes.append(
                f"with {found.count:,} permutations no corrected p can be below "
                f"{found.smallest:.3f}; raise --count."
            )
        if found.undefined:
            notes.append(
                f"{found.undefined:,} permutations have no defined difference and are not counted."
            )
        return _Tests(found, found.coefficient, found.cells, summary, notes)

    _run("the permutation test", test, options, correction, figure)


def _run(
    name: str,
    test: "Callable[[Study, str], _Tests]",
    options: MatrixOptions,
    correction: str,
    figure: Path | None,
) -> None:
    """Test every criterion and write the results."""
    options.check_two_metrics(name)
    study = options.study()
    tests = {criterion: test(study, criterion) for criterion in study.criteria(options.human)}
    rows = [row for criterion, each in tests.items() for row in _rows(criterion, each)]
    notes = list(study.notes)
    for criterion, each in tests.items():
        notes += [f"{criterion}: {note}" for note in each.notes]
        if each.matrix.cells_dropped:
            notes.append(f"{criterion}: {each.matrix.cells_dropped:,} judged outputs lack a score.")
    result = Result(
        content=lambda: {"tests": rows, "signatures": study.signatures, "notes": notes},
        rows=lambda: rows,
        tables=lambda: [_table(*each, correction) for each in tests.items()],
        figures={figure: lambda: _heat_map(tests, correction)},
        notes=notes,
    )
    options.write(result, quiet=options.quiet)


def _rows(criterion: str, tests: _Tests) -> list[dict[str, Any]]:
    from nlgauge.core.jsonable import to_jsonable

    found = tests.matrix
    rows = [
        {
            "criterion": criterion,
            "level": found.level,
            "coefficient": tests.coefficient,
            "better": found.names[i],
            "than": found.names[j],
            "r_better": found.correlations[i],
            "r_than": found.correlations[j],
            "p": found.p[i, j],
            "p_holm": found.p_holm[i, j],
            "n": tests.n,
        }
        for i, j in permutations(range(len(found.names)), 2)
    ]
    return [to_jsonable(row) for row in rows]


def _table(criterion: str, tests: _Tests, correction: str) -> "Table":
    from nlgauge.report.study_tables import williams_table

    found, holm = tests.matrix, correction == "holm"
    corrected = "Holm-corrected" if holm else "not corrected"
    return williams_table(
        found.names,
        found.correlations.tolist(),
        (found.p_holm if holm else found.p).tolist(),
        coefficient="r" if tests.coefficient == "pearson" else tests.coefficient,
        footer=[f"human: {criterion}; {tests.summary}; p {corrected}"],
    )


def _heat_map(tests: dict[str, _Tests], correction: str) -> "Figure":
    from nlgauge.figures.matrix import directed, heat

    panels = []
    for criterion, each in tests.items():
        p = each.matrix.p_holm if correction == "holm" else each.matrix.p
        panels.append(directed(each.matrix.names, p, title=f"p in %, {criterion}"))
    return heat(panels)
