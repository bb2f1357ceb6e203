"""nlgauge williams: judged texts in, which metric correlates significantly better out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import arguments, studies
from nlgauge.cli.delivery import deliver

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.report.table import Table
    from nlgauge.study import WilliamsMatrix

_EPILOG = """Examples:

nlgauge williams de-en.jsonl -m bleu chrf bertscore

nlgauge williams webnlg.jsonl -m bleu chrf ter --human Correctness --level system -o williams.svg

Read a row: a p below 5 says that its metric's Pearson correlation with people is higher than the
column's. The test is directed, and for Pearson's r only. Many pairs are many tests."""


def williams_command(
    data: studies.Data,
    metric: arguments.Metrics = None,
    human: studies.Human = None,
    level: Annotated[str, typer.Option("--level", help="segment or system.")] = "segment",
    figure: Annotated[
        Path | None, typer.Option("--figure", help="Also draw a heat map: .svg, .png or .pdf.")
    ] = None,
    format: studies.Chosen = None,
    output: arguments.Output = None,
    without: studies.Without = None,
    kind: studies.Kind = None,
    part: studies.Part = None,
    references: studies.References = None,
    device: arguments.Device = "auto",
    batch_tokens: arguments.BatchTokens = 2048,
    download: arguments.Download = False,
    quiet: arguments.Quiet = False,
) -> None:
    """Test which metric correlates better with people than which (Williams's test)."""
    from nlgauge.studying import williams  # noqa: PLC0415

    chosen = studies.format_of(output, format, drawn=True)
    studies.only_figure(figure)
    _check(metric)
    studies.check([level], [])
    study = studies.measured(
        *(data, metric, human),
        kind=kind,
        part=part,
        references=references,
        without=without,
        device=device,
        batch_tokens=batch_tokens,
        download=download,
        quiet=quiet,
    )
    found = {name: williams(study, name, level=level) for name in study.criteria(human)}
    drawn = output is not None and output.suffix in studies.FIGURES
    for path in (figure, output if drawn else None):
        if path is not None:
            studies.draw(_heat(found), path)
    if not drawn:
        content = {
            "tests": [row for name, each in found.items() for row in _rows(name, each)],
            "signatures": study.signatures,
            "notes": study.remarks(),
        }
        text = studies.written(
            *(chosen, content, [_long(found)], _tables(found)), to_file=output is not None
        )
        deliver(text, output)
    studies.tell(study.remarks(), quiet=quiet)


williams_command.__doc__ = f"{williams_command.__doc__}\n\n{_EPILOG}"


def _check(metrics: list[str] | None) -> None:
    from nlgauge.core.errors import UsageError  # noqa: PLC0415

    if len(metrics or ["bleu"]) < 2:
        raise UsageError(
            "Williams's test compares at least 2 metrics, but 1 was named; "
            "name them with -m, as in -m bleu chrf"
        )


def _tables(found: dict[str, WilliamsMatrix]) -> list[Table]:
    from nlgauge.report.studies import williams_table  # noqa: PLC0415

    return [
        williams_table(
            *(each.names, each.correlations.tolist(), each.p.tolist()),
            footer=[f"human: {name}; {each.level} level; pearson; {each.n:,} points"],
        )
        for name, each in found.items()
    ]


def _heat(found: dict[str, WilliamsMatrix]) -> Figure:
    from nlgauge.figures.matrix import directed, heat  # noqa: PLC0415

    return heat(
        [directed(each.names, each.p, title=f"p in %, {name}") for name, each in found.items()]
    )


def _long(found: dict[str, WilliamsMatrix]) -> Table:
    from nlgauge.report.studies import tidy  # noqa: PLC0415

    return tidy([row for name, each in found.items() for row in _rows(name, each)])


def _rows(criterion: str, found: WilliamsMatrix) -> list[dict[str, Any]]:
    return [
        {
            "criterion": criterion,
            "level": found.level,
            "better": better,
            "than": than,
            "r_better": float(found.correlations[i]),
            "r_than": float(found.correlations[j]),
            "p": float(found.p[i, j]),
            "n": found.n,
        }
        for i, better in enumerate(found.names)
        for j, than in enumerate(found.names)
        if i != j
    ]
