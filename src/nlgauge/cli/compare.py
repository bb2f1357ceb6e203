"""nlgauge compare: texts of several systems in, which differ from the first and where out."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import arguments, study_output
from nlgauge.cli.output import deliver

if TYPE_CHECKING:
    from nlgauge.report.table import Table
    from nlgauge.study import Comparison, SegmentDifference

_EPILOG = """Examples:

nlgauge compare -c baseline.txt new.txt -r ref.txt -m bleu chrf

nlgauge compare -c a.txt b.txt c.txt -r ref.txt -m bertscore --method randomisation --differ 5

The first system is the baseline. p-values are two-sided and Holm-corrected over the systems; a
cluster ends where all systems above beat all below (one-sided p < .05, each pair tested)."""


def compare_command(
    candidates: arguments.Candidates,
    references: arguments.ReferenceFiles = None,
    metric: arguments.Metrics = None,
    method: Annotated[
        arguments.Test, typer.Option(help="The paired test.")
    ] = arguments.Test.BOOTSTRAP,
    count: Annotated[int, typer.Option(min=1, help="Resamples or trials.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the resamples.")] = 0,
    differ: Annotated[
        int,
        typer.Option(
            min=0, help="Also show this many segments on which systems differ most (first metric)."
        ),
    ] = 0,
    format: study_output.Chosen = None,
    output: arguments.Output = None,
    digits: Annotated[int, typer.Option("-w", "--width", min=0, max=15, help="Decimals.")] = 2,
    device: arguments.Device = "auto",
    batch_tokens: arguments.BatchTokens = 2048,
    download: arguments.Download = False,
    cache: arguments.Cache = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Compare systems with the first by paired tests, for any metrics."""
    from nlgauge.cli.progress import progress_bar
    from nlgauge.data.systems import read_systems
    from nlgauge.report.study_tables import tidy
    from nlgauge.study import compare

    chosen = study_output.format_of(output, format)
    runtime = arguments.make_runtime(device, batch_tokens, download, cache, quiet=quiet)
    corpus = read_systems(candidates, references or [])
    with progress_bar(quiet=quiet) as progress:
        found = compare(
            corpus,
            metrics=metric or ["bleu"],
            method=method.value,
            count=count,
            seed=seed,
            runtime=runtime,
            progress=progress,
        )
    apart = found.differing(differ) if differ else ()
    content = found.to_dict()
    long, tables = [tidy(content["systems"])], _tables(found, digits)
    if differ:
        content["differ"] = [each.to_dict() for each in apart]
    if apart and chosen is not study_output.Format.TEXT:
        tables.append(_differing(apart, digits))
        long.append(_differing(apart, digits))
    text = study_output.written(chosen, content, long, tables, to_file=output is not None)
    if apart and chosen is study_output.Format.TEXT:
        text += "\n\n" + _side_by_side(apart, digits, to_file=output is not None)
    deliver(text, output)
    study_output.tell(found.notes, quiet=quiet)


compare_command.__doc__ = f"{compare_command.__doc__}\n\n{_EPILOG}"


def _tables(found: Comparison, digits: int) -> list[Table]:
    from nlgauge.report.study_tables import comparison_table

    first = found.scores[found.baseline]
    labels = list(first)
    return [
        comparison_table(
            *(label, first[label].scale.direction),
            [entry.to_dict() for entry in found.of(label)],
            digits=digits if first[label].scale.high > 1 else max(digits, 4),
            footer=[
                str(first[label].signature),
                *([found.method_note] if label == labels[-1] else []),
            ],
        )
        for label in labels
    ]


def _differing(apart: tuple[SegmentDifference, ...], digits: int) -> Table:
    from nlgauge.report.table import Column, Table

    names = ["segment", "system", "difference", apart[0].baseline, "system's", "reference"]
    rows = [
        (
            *(each.segment, each.system, each.difference),
            *(each.baseline_candidate, each.candidate, " / ".join(each.references)),
        )
        for each in apart
    ]
    return Table(tuple(Column(name, digits) for name in names), tuple(rows))


def _side_by_side(apart: tuple[SegmentDifference, ...], digits: int, *, to_file: bool) -> str:
    from nlgauge.report.differences import side_by_side

    width = 100 if to_file else min(shutil.get_terminal_size().columns, 160)
    return side_by_side([each.to_dict() for each in apart], width=width, digits=digits)
