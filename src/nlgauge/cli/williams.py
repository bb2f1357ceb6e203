"""nlgauge williams: judged texts in, which metric correlates significantly better out."""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import pairwise_tests, study_output
from nlgauge.cli.study_options import AskedMetrics, asking

_EPILOG = """Examples:

nlgauge williams de-en.jsonl -m bleu chrf bertscore

nlgauge williams webnlg.jsonl -m bleu chrf ter --human Correctness --level system -o williams.svg

Read a row: a p below 5 says that its metric's Pearson correlation with people is higher than the
column's. The test is directed, and for Pearson's r only; for other coefficients and the text level
see nlgauge permutation. Many pairs are many tests: --correction holm."""


@asking
def williams_command(
    asked: AskedMetrics,
    level: Annotated[str, typer.Option("--level", help="segment or system.")] = "segment",
    correction: Annotated[
        pairwise_tests.Correction, typer.Option(help="Of p for the number of pairs tested.")
    ] = pairwise_tests.Correction.NONE,
    figure: pairwise_tests.HeatMap = None,
) -> None:
    """Test which metric correlates better with people than which (Williams's test)."""
    from nlgauge.study import williams

    study_output.format_of(asked.output, asked.format, drawn=True)
    study_output.only_figure(figure)
    study_output.check([level], [])
    asked.need_two("Williams's test")
    study = asked.study()
    found, remarks = [], []
    for name in study.criteria(asked.human):
        made = williams(study, name, level=level)
        if made.cells_dropped:
            remarks.append(f"{name}: {made.cells_dropped:,} judged outputs lack a score.")
        found.append(
            pairwise_tests.Tested(
                *(name, made.names, made.correlations, made.p, made.p_holm, made.level),
                *("pearson", made.n, f"{made.level} level; pearson; {made.n:,} points"),
            )
        )
    pairwise_tests.hand_over(
        *(asked, study, found), figure=figure, correction=correction, remarks=remarks
    )


williams_command.__doc__ = f"{williams_command.__doc__}\n\n{_EPILOG}"
