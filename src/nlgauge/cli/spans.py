"""nlgauge spans: predicted error spans compared with human annotations."""

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
        None, "Metrics with token alignments [default: gauge]."
    ),
    fraction: float = option(0.5, "Share of the inputs on which thresholds are chosen."),
    partial_credit: float = option(
        0.5, "Credit for a character that is marked with another severity.", min=0, max=1
    ),
    count: int = arguments.resamples_option("bootstrap resamples"),
    seed: int = arguments.seed_option("the split and the bootstrap"),
    figure: Path | None = arguments.figure_option("a bar chart"),
) -> None:
    """Evaluate predicted error spans against annotated ones.

    Examples:

    nlgauge spans zh-en.jsonl -m gauge bertscore lazy_emd

    nlgauge spans zh-en.jsonl -m gauge:ngram=1 --fraction .3 -f json -o spans.json

    Words of a candidate that are expensive to match with the reference are predicted errors. DATA
    has annotated errors in a column 'spans' (or is MQM data). As in WMT's error span task, F1 is
    computed over the characters of all texts, and a character marked with the wrong severity counts
    half. Two thresholds, for minor and major errors, are chosen on a random half of the inputs; the
    results are for the other half, with bootstrap intervals over inputs. Baselines: all characters,
    no characters, and the lexical diff, which marks words outside the longest common subsequence
    with a reference. Differences are relative to the lexical diff.
    """
    from nlgauge.figures.bars import metric_bars
    from nlgauge.report.study_tables import span_table
    from nlgauge.study import evaluate_spans

    if options.human:
        raise UsageError("--human has no effect on spans; leave it out")
    judged = options.judged()
    chosen = metric or ["gauge"]
    with options.running() as running:
        result = evaluate_spans(
            judged,
            chosen,
            fraction=fraction,
            partial_credit=partial_credit,
            count=count,
            seed=seed,
            **running,
        )
    content = result.to_dict()
    rows = content["metrics"]
    footer = [
        f"thresholds chosen on {result.tuned_on}, F1 of {result.annotated:,} annotated spans in "
        f"{result.tested_on}; seed {seed}; intervals: bootstrap over inputs",
        *result.signatures.values(),
    ]
    shown = with_titles(rows, metric_titles(chosen))
    bars = [{**row, "criterion": "F1", "value": row["f1"]} for row in shown]
    options.write(
        content,
        rows,
        [span_table(shown, digits=options.digits, footer=footer)],
        figures={figure: lambda: metric_bars(bars, "F1 of error spans")},
        notes=result.notes,
    )
