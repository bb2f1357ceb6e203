"""nlgauge williams: judged texts in, which metric correlates significantly better out."""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import directed, studies
from nlgauge.cli.asking import AskedMetrics, asking

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
        directed.Correction, typer.Option(help="Of p for the number of pairs tested.")
    ] = directed.Correction.NONE,
    figure: directed.HeatMap = None,
) -> None:
    """Test which metric correlates better with people than which (Williams's test)."""
    from nlgauge.studying import williams  # noqa: PLC0415

    studies.format_of(asked.output, asked.format, drawn=True)
    studies.only_figure(figure)
    studies.check([level], [])
    asked.need_two("Williams's test")
    study = asked.study()
    found, remarks = [], []
    for name in study.criteria(asked.human):
        made = williams(study, name, level=level)
        if made.cells_dropped:
            remarks.append(f"{name}: {made.cells_dropped:,} judged outputs lack a score.")
        found.append(
            directed.Tested(
                *(name, made.names, made.correlations, made.p, made.p_holm, made.level),
                *("pearson", made.n, f"{made.level} level; pearson; {made.n:,} points"),
            )
        )
    directed.hand_over(
        *(asked, study, found), figure=figure, correction=correction, remarks=remarks
    )


williams_command.__doc__ = f"{williams_command.__doc__}\n\n{_EPILOG}"
