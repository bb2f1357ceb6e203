"""nlgauge compare: paired tests of systems, and the segments on which they differ."""

import shutil
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import arguments
from nlgauge.cli.option_groups import RuntimeOptions, with_option_groups
from nlgauge.cli.output import OutputOptions, Result

if TYPE_CHECKING:
    from nlgauge.report.table import Table
    from nlgauge.study import Comparison, SegmentDifference


@with_option_groups
def compare_command(
    to: OutputOptions,
    options: RuntimeOptions,
    candidates: arguments.Candidates,
    references: arguments.ReferenceFiles = None,
    metric: arguments.Metrics = None,
    method: Annotated[arguments.PairedTest, typer.Option(help="Paired test.")] = "bootstrap",
    count: Annotated[int, arguments.count_option("resamples or trials")] = 1000,
    seed: Annotated[int, arguments.seed_option("the test")] = 0,
    differ: Annotated[
        int,
        typer.Option(
            min=0,
            help="Number of segments to show on which systems differ most in the first metric.",
        ),
    ] = 0,
) -> None:
    """Test systems against the first one under any metric.

    Examples:

    nlgauge compare -c baseline.txt new.txt -r ref.txt -m bleu chrf

    nlgauge compare -c a.txt b.txt c.txt -r ref.txt -m bertscore --method randomisation --differ 5

    The first system is the baseline. p-values are two-sided and Holm-corrected over the systems.
    Systems are in different clusters if every system of the better cluster beats every system of
    the worse one (one-sided p < .05 for each pair).
    """
    from nlgauge.data.systems import read_systems
    from nlgauge.report.differences import side_by_side
    from nlgauge.report.study_tables import long_table
    from nlgauge.study import compare

    corpus = read_systems(candidates, references or [])
    with options.running() as running:
        found = compare(
            corpus, metrics=metric or ["bleu"], method=method, count=count, seed=seed, **running
        )
    digits = 2 if to.digits is None else to.digits
    content, tables, text = found.to_dict(), _tables(found, digits), ""
    long = [long_table(content["systems"])]
    if differ:
        segments = found.differing(differ)
        content["differ"] = [each.to_dict() for each in segments]
        if segments and to.chosen == "text":
            width = 100 if to.output else min(shutil.get_terminal_size().columns, 160)
            text = side_by_side(content["differ"], width=width, digits=digits)
        elif segments:
            tables.append(_differing(segments, digits))
            long.append(tables[-1])
    result = Result(
        content=lambda: content,
        rows=lambda: [*content["systems"], *content.get("differ", ())],
        tables=lambda: tables,
        long=lambda: long,
        text=text,
        notes=found.notes,
    )
    to.write(result, quiet=options.quiet)


def _tables(found: "Comparison", digits: int) -> "list[Table]":
    from nlgauge.report.study_tables import comparison_table

    first = found.scores[found.baseline]
    return [
        comparison_table(
            label,
            scores.scale.direction,
            [entry.to_dict() for entry in found.of(label)],
            digits=digits if scores.scale.high > 1 else max(digits, 4),
            footer=[
                str(scores.signature),
                *([found.method_note] if label == list(first)[-1] else []),
            ],
        )
        for label, scores in first.items()
    ]


def _differing(segments: "tuple[SegmentDifference, ...]", digits: int) -> "Table":
    from nlgauge.report.table import Column, Table

    fields = ("segment", "system", "difference", "baseline_candidate", "candidate")
    names = (*fields[:3], segments[0].baseline, "system's", "reference")
    rows = tuple(
        (*(getattr(each, field) for field in fields), " / ".join(each.references))
        for each in segments
    )
    return Table(tuple(Column(name, digits) for name in names), rows)
