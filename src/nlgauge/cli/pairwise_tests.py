"""nlgauge williams and nlgauge permutation: tests of which metrics correlate better."""

from __future__ import annotations

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
    from nlgauge.study import PermutationMatrix, Study, WilliamsMatrix

Correction = Annotated[
    Literal["holm", "none"], typer.Option(help="Correction of p-values for the number of pairs.")
]


@dataclass(frozen=True, kw_only=True)
class MatrixOptions(MetricStudyOptions):
    """Options of a study whose output file may be a heat map."""

    draws_output: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class _Tests:
    """The tests of one criterion: p[i, j] is that metric i is better than metric j."""

    matrix: WilliamsMatrix | PermutationMatrix
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

    def test(study: Study, criterion: str) -> _Tests:
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

    def test(study: Study, criterion: str) -> _Tests:
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
    test: Callable[[Study, str], _Tests],
    options: MatrixOptions,
    correction: str,
    figure: Path | None,
) -> None:
    """Test every criterion and write the results."""
    options.check_two_metrics(name)
    study = options.study()
    tests = {criterion: test(study, criterion) for criterion in study.criteria(options.human)}
    rows = [row for criterion, each in tests.items() for row in _rows(criterion, each)]
    notes = list(study.remarks())
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


def _table(criterion: str, tests: _Tests, correction: str) -> Table:
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


def _heat_map(tests: dict[str, _Tests], correction: str) -> Figure:
    from nlgauge.figures.matrix import directed, heat

    panels = []
    for criterion, each in tests.items():
        p = each.matrix.p_holm if correction == "holm" else each.matrix.p
        panels.append(directed(each.matrix.names, p, title=f"p in %, {criterion}"))
    return heat(panels)
