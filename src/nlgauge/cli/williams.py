"""nlgauge williams: Williams's test between metrics."""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import arguments
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.pairwise_tests import (
    Correction,
    CriterionTests,
    MatrixOptions,
    write_tests,
)


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

    options.check_two_metrics("Williams's test")
    study = options.study()
    tests, notes = [], []
    for criterion in study.criteria(options.human):
        found = williams(study, criterion, level=level)
        if found.cells_dropped:
            notes.append(f"{criterion}: {found.cells_dropped:,} judged outputs lack a score.")
        summary = f"{found.level} level; pearson; {found.n:,} points"
        tests.append(CriterionTests(criterion, found, "pearson", found.n, summary, correction))
    write_tests(options, study, tests, figure=figure, notes=notes)
