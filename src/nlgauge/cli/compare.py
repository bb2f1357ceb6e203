"""nlgauge compare: paired tests of systems, and the segments on which they differ."""

import shutil
from typing import TYPE_CHECKING

from nlgauge.cli import arguments
from nlgauge.cli.arguments import count_option, option, seed_option
from nlgauge.cli.option_groups import InputOptions, with_option_groups
from nlgauge.cli.output import RunOptions
from nlgauge.cli.titles import metric_titles, with_titles

if TYPE_CHECKING:
    from nlgauge.report.table import Table
    from nlgauge.study import Comparison, SegmentDifference


@with_option_groups
def compare_command(
    options: RunOptions,
    texts: InputOptions,
    method: arguments.PairedTest = option("bootstrap", "Paired test."),
    count: int = count_option("resamples or trials"),
    seed: int = seed_option("the test"),
    differ: int = option(
        0, "Number of segments to show on which systems differ most in the first metric.", min=0
    ),
) -> None:
    """Test systems against the first one under any metric.

    Examples:

    nlgauge compare -c baseline.txt new.txt -r ref.txt -m bleu chrf

    nlgauge compare -c a.txt b.txt c.txt -r ref.txt -m bertscore --method randomisation --differ 5

    nlgauge compare -c wide.csv --system-columns A,B --columns reference=gold -m chrf

    Files and tables are those of `nlgauge score`. The first system is the baseline. p-values are
    two-sided; "p Holm" is corrected for the number of systems, "p uncorrected" is not.
    Systems are in different clusters if every system of the better cluster beats every system of
    the worse one (p uncorrected < .05 for each pair; JSON lists all pairs).
    """
    from nlgauge.report.differences import side_by_side
    from nlgauge.report.study_tables import long_table
    from nlgauge.study import compare

    corpus = texts.read()
    with options.running() as running:
        found = compare(
            corpus, metrics=texts.metrics, method=method, count=count, seed=seed, **running
        )
    digits = 2 if options.digits is None else options.digits
    content, tables, text = found.to_dict(), _tables(found, digits), ""
    rows = content["systems"]
    long = [long_table(rows)]
    if differ:
        segments = found.differing(differ)
        content["differ"] = [each.to_dict() for each in segments]
        if segments and options.chosen == "text":
            width = 100 if options.output else min(shutil.get_terminal_size().columns, 160)
            shown = with_titles(content["differ"], metric_titles(texts.metrics))
            text = side_by_side(shown, width=width, digits=digits)
        elif segments:
            tables.append(_differing(segments, digits))
            long.append(tables[-1])
        rows = [*rows, *content["differ"]]
    options.write(content, rows, tables, long=long, text=text, notes=found.notes)


def _tables(found: "Comparison", digits: int) -> "list[Table]":
    from nlgauge.report.study_tables import comparison_table

    first = found.scores[found.baseline]
    titles = metric_titles(first)
    footers = {label: [str(scores.signature)] for label, scores in first.items()}
    footers[list(first)[-1]].extend([found.test_note, found.cluster_note])
    return [
        comparison_table(
            titles[label],
            scores.scale.direction,
            [entry.to_dict() for entry in found.of(label)],
            digits=digits if scores.scale.high > 1 else max(digits, 4),
            footer=footers[label],
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
