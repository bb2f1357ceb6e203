"""nlgauge darr: Kendall-like tau of metrics on ranked pairs of outputs.

It is a command of its own because its unit is a pair of outputs and its coefficient is fixed, so
that the levels and coefficients of `correlate` do not apply.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import arguments
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.output import Result
from nlgauge.cli.study_options import MetricStudyOptions
from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.study import DarrResult


@with_option_groups
def darr_command(
    options: MetricStudyOptions,
    pairs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Ranked pairs [default: derived from the scores of --human]."
        ),
    ] = None,
    pairs_part: Annotated[
        str | None, typer.Option(help="Language pair, if the file of pairs contains several.")
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Minimum difference of the human scores of a pair.")
    ] = 25.0,
    confidence: arguments.Confidence = False,
    count: arguments.Resamples = 1000,
    seed: arguments.Seed = 0,
    figure: arguments.BarChart = None,
) -> None:
    """Compute Kendall-like tau on ranked pairs (daRR).

    Examples:

    nlgauge darr cs-en.jsonl -m bleu chrf bertscore --human da_raw --confidence

    nlgauge darr cs-en.jsonl -m bleu --pairs RR-seglevel.csv --pairs-part cs-en

    nlgauge darr newstest2019/ --part de-en --human wmt-raw --scores YiSi-1-refA -f latex

    Two outputs for one segment whose direct assessments (raw, 0 to 100) differ by 25 points or
    more are a ranked pair, as at WMT 2017-2019; or the pairs come from a file with the columns
    segment, better and worse. tau = (C - D) / (C + D); a pair that the metric ties is discordant.
    Confidence intervals are bootstrapped over segments. Leave out human references with --without.
    """
    from nlgauge.data.wmt import read_pairs
    from nlgauge.report.study_tables import ranking_table
    from nlgauge.study import darr

    human = _criterion(options, pairs, pairs_part)
    judged = options.texts()
    with options.running() as running:
        found = darr(
            judged,
            options.metrics,
            pairs=None if pairs is None else read_pairs(str(pairs), part=pairs_part),
            human=human,
            threshold=threshold,
            confidence=0.95 if confidence else None,
            count=count,
            seed=seed,
            **options.stored_arguments,
            **running,
        )
    content = found.to_dict()
    rows = content["metrics"]
    footer = [_summary(found), *found.signatures.values()]
    result = Result(
        content=lambda: content,
        rows=lambda: rows,
        tables=lambda: [ranking_table(rows, digits=options.digits, footer=footer)],
        figures={figure: lambda: _bars(rows)},
        notes=found.notes,
    )
    options.write(result, quiet=options.quiet)


def _criterion(
    options: MetricStudyOptions, pairs: Path | None, pairs_part: str | None
) -> str | None:
    """Return the criterion that pairs are derived from; options without effect are errors."""
    if pairs is not None and options.human:
        raise UsageError("--pairs names the ranked pairs, so --human has no effect; drop one")
    if pairs is None and pairs_part is not None:
        raise UsageError("--pairs-part selects from a file of pairs; name it with --pairs")
    if len(options.human or ()) > 1:
        raise UsageError("ranked pairs are derived from one criterion; name --human once")
    return options.human[0] if options.human else None


def _summary(found: "DarrResult") -> str:
    pairs = found.pairs
    text = f"{len(pairs):,} pairs of {len(pairs.systems)} systems, {len(pairs.segments):,} segments"
    resampled = any(entry.interval for entry in found.entries)
    return text + ("; intervals: bootstrap over segments" if resampled else "")


def _bars(rows: Sequence[Mapping[str, Any]]) -> "Figure":
    from nlgauge.figures.bars import Bar, Panel, bars

    series = [Bar(row["tau"], row.get("low"), row.get("high")) for row in rows]
    groups = tuple(row["metric"] for row in rows)
    return bars([Panel("Kendall-like tau (daRR)", groups, {"tau": series})])
