"""nlgauge spans: predicted error spans against those of people."""

from pathlib import Path

from nlgauge.cli import arguments
from nlgauge.cli.arguments import option
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.study_options import StudyOptions
from nlgauge.cli.titles import metric_titles, with_titles
from nlgauge.core.errors import UsageError


@with_option_groups
def spans_command(
    options: StudyOptions,
    metric: list[str] | None = arguments.metric_option(
        None, "Metrics that match tokens [default: gauge]."
    ),
    fraction: float = option(0.5, "Share of the inputs for choosing thresholds; the rest is test."),
    partial_credit: float = option(
        0.5, "Credit for a character that is marked with another severity.", min=0, max=1
    ),
    count: int = arguments.count_option("bootstrap resamples"),
    seed: int = arguments.seed_option("the split and the bootstrap"),
    figure: Path | None = arguments.figure_option("a bar chart"),
) -> None:
    """Evaluate predicted error spans against annotated ones.

    Examples:

    nlgauge spans zh-en.jsonl -m gauge bertscore lazy_emd

    nlgauge spans zh-en.jsonl -m gauge:ngram=1 --fraction .3 -f json -o spans.json

    Words of a candidate that cost much to match with the reference are predicted errors; DATA has
    those of people in a column 'spans' (or is MQM data). As in WMT's error span task, F1 is that of
    characters, summed over all texts; one that is marked with another severity counts half. A
    random half of the inputs selects two thresholds, of minor and of major errors; the numbers are
    those of the other half, with bootstrap intervals over inputs. Baselines: all characters, none,
    and the lexical diff, words that are not in a longest common subsequence with a reference; the
    difference is from the latter.
    """
    from nlgauge.figures.bars import metric_bars
    from nlgauge.report.study_tables import span_table
    from nlgauge.study import evaluate_spans

    if options.human:
        raise UsageError("--human has no effect on spans; leave it out")
    judged = options.judged()
    chosen = metric or ["gauge"]
    with options.running() as running:
        found = evaluate_spans(
            judged,
            chosen,
            fraction=fraction,
            partial_credit=partial_credit,
            count=count,
            seed=seed,
            **running,
        )
    content = found.to_dict()
    rows = content["metrics"]
    footer = [
        f"thresholds chosen on {found.tuned_on}, F1 of {found.annotated:,} annotated spans in "
        f"{found.tested_on}; seed {seed}; intervals: bootstrap over inputs",
        *found.signatures.values(),
    ]
    shown = with_titles(rows, metric_titles(chosen))
    bars = [{**row, "criterion": "F1", "value": row["f1"]} for row in shown]
    options.write(
        content,
        rows,
        [span_table(shown, digits=options.digits, footer=footer)],
        figures={figure: lambda: metric_bars(bars, "F1 of error spans")},
        notes=found.notes,
    )
