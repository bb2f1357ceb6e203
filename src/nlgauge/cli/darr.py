"""nlgauge darr: Kendall-like tau of metrics on ranked pairs of outputs.

This is a separate command because its unit is a pair of outputs and its coefficient is fixed: the
levels and coefficients of `correlate` do not apply.
"""

from pathlib import Path

import typer

from nlgauge.cli import arguments
from nlgauge.cli.arguments import option
from nlgauge.cli.option_groups import given_options, refuse_without, with_option_groups
from nlgauge.cli.study_options import MetricStudyOptions
from nlgauge.cli.titles import metric_titles, with_titles
from nlgauge.core.errors import UsageError


@with_option_groups
def darr_command(
    context: typer.Context,
    options: MetricStudyOptions,
    pairs: Path | None = option(
        None, "Ranked pairs [default: derived from the scores of --human].", metavar="FILE"
    ),
    pairs_part: str | None = option(None, "Language pair, if the file of pairs contains several."),
    threshold: float = option(25.0, "Minimum difference of the human scores of a pair."),
    confidence: bool = arguments.CONFIDENCE,
    count: int = arguments.resamples_option("bootstrap resamples"),
    seed: int = arguments.seed_option("the bootstrap"),
    figure: Path | None = arguments.figure_option("a bar chart"),
) -> None:
    """Compute Kendall-like tau on ranked pairs (daRR).

    Examples:

    nlgauge darr cs-en.jsonl -m bleu chrf bertscore --human da_raw --confidence

    nlgauge darr cs-en.jsonl -m bleu --pairs RR-seglevel.csv --pairs-part cs-en

    nlgauge darr newstest2019/ --part de-en --human wmt-raw --scores YiSi-1-refA -f latex

    Two outputs for one segment are a ranked pair if their direct assessments (raw, 0 to 100)
    differ by 25 points or more, as at WMT 2017-2019. Alternatively, --pairs reads them from a file
    with the columns segment, better and worse. tau = (C - D) / (C + D), where ties of the metric
    are discordant. Confidence intervals are bootstrapped over segments. Exclude human references
    with --without.
    """
    from nlgauge.data.wmt import read_pairs
    from nlgauge.figures.bars import metric_bars
    from nlgauge.report.study_tables import ranking_table
    from nlgauge.study import darr

    for given in given_options(context, ("human", "threshold")) if pairs is not None else ():
        raise UsageError(f"--pairs names the ranked pairs, so {given} has no effect; drop one")
    refuse_without(context, ("count", "seed"), "--confidence", present=confidence)
    if pairs is None and pairs_part is not None:
        raise UsageError("--pairs-part selects from a file of pairs; name it with --pairs")
    human = options.one_criterion("ranked pairs are derived from")
    judged = options.texts()
    with options.running() as running:
        result = darr(
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
    content, ranked = result.to_dict(), result.pairs
    rows = content["metrics"]
    summary = f"{len(ranked):,} pairs of {len(ranked.systems)} systems"
    summary += f", {len(ranked.segments):,} segments"
    if any("low" in row for row in rows):
        summary += "; intervals: bootstrap over segments"
    footer = [summary, *result.signatures.values()]
    shown = with_titles(rows, metric_titles(options.metrics))
    bars = [{**row, "criterion": "tau", "value": row["tau"]} for row in shown]
    options.write(
        content,
        rows,
        [ranking_table(shown, digits=options.digits, footer=footer)],
        figures={figure: lambda: metric_bars(bars, "Kendall-like tau (daRR)")},
        notes=result.notes,
    )
