"""nlgauge correlate: correlations of metrics with human judgements."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from nlgauge.cli import arguments
from nlgauge.cli.arguments import figure_option, option
from nlgauge.cli.option_groups import given_options, refuse_without, with_option_groups
from nlgauge.cli.study_options import MetricStudyOptions
from nlgauge.cli.titles import metric_titles, with_titles
from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.study import Study


_NOT_WITH_TASKS = (
    *("level", "coefficient", "human", "without", "kind", "part", "references", "weights"),
    *("columns", "no_header", "confidence", "interval", "over", "average", "ranks"),
    *("system_score", "distributions", "bands", "scores_from"),
)


@with_option_groups
def correlate_command(
    context: typer.Context,
    options: MetricStudyOptions,
    level: list[str] | None = arguments.LEVELS,
    coefficient: list[str] | None = arguments.COEFFICIENTS,
    confidence: bool = arguments.CONFIDENCE,
    interval: arguments.IntervalMethod = arguments.INTERVAL,
    over: arguments.Resampled = option("inputs", "What the bootstrap resamples."),
    average: arguments.Average = arguments.AVERAGE,
    ranks: bool = option(
        False, "Add ranks of metrics by significance (permutation tests).", "--ranks"
    ),
    count: int = arguments.resamples_option("bootstrap resamples and of permutations"),
    seed: int = arguments.seed_option("the bootstrap and the permutations"),
    system_score: Literal["mean", "all", "corpus"] = option(
        "mean",
        "Score of a system: the mean of its judged segments, of all its segments, or the corpus "
        "score.",
    ),
    figure: Path | None = figure_option("a bar chart"),
    distributions: Path | None = figure_option("the distributions of scores by human quality"),
    bands: int = option(3, "Number of bands of human quality to draw.", min=2, max=8),
    tasks: str | None = option(
        None,
        "Rank metrics by a task set: wmt22, wmt23, wmt24, wmt25 or a TOML file; DATA is the folder "
        "of its data.",
        metavar="NAME",
    ),
) -> None:
    """Correlate metrics with human judgements.

    Examples:

    nlgauge correlate de-en.jsonl -m bleu chrf bertscore --confidence

    nlgauge correlate webnlg.jsonl -m bleu chrf --human Correctness --level system --level text
    --coefficient kendall --without reference --figure bars.pdf

    nlgauge correlate newstest2015/ --part de-en -m mover -f latex

    nlgauge correlate abs.pkl -m rouge --scores rouge_2_recall mover_score --distances js-2

    nlgauge correlate wmt.csv -m chrf --columns candidate=mt,reference=ref,source=src,human=score

    nlgauge correlate mt-metrics-eval-v2/ --tasks wmt24 -m chrf --scores COMET-22 BLEU

    DATA comes first. It is a table (.jsonl, .json, .tsv, .csv, .parquet, also .gz and .zst) with
    the columns candidate, references, source, system, segment and human scores (human.fluency,
    ...), or the folder of a published data set; --columns names other columns. Distances are
    negated, so that a good metric has a positive correlation. Scores that are stored with the data
    (scores.comet, ...) are named with --scores, or with --distances if lower is better. Levels:
    segment (all outputs), text (systems on one input, averaged over inputs), by_system (inputs of
    one system, averaged over systems), document (means of documents), system (means of systems).
    acc_eq is the pairwise accuracy with calibrated ties, spa the soft pairwise accuracy,
    pairwise_pearson r of the differences between systems on one input (WMT 2023 to 2025).
    """
    if tasks is not None:
        for given in given_options(context, _NOT_WITH_TASKS):
            raise UsageError(f"{given} cannot be combined with --tasks, which sets it")
        _rank_by_tasks(tasks, options, count, seed, figure)
        return
    refuse_without(context, ("interval", "over"), "--confidence", present=confidence)
    drawn = confidence or ranks
    refuse_without(context, ("count", "seed"), "--confidence or --ranks", present=drawn)
    refuse_without(context, ("bands",), "--distributions", present=distributions is not None)
    from nlgauge.figures.bars import metric_bars
    from nlgauge.report.study_tables import agreement_tables
    from nlgauge.study import correlate

    study = options.study()
    result = correlate(
        study,
        human=options.human,
        levels=level,
        coefficients=coefficient or "pearson",
        confidence=0.95 if confidence else None,
        interval=interval,
        over=over,
        average=average,
        ranks=ranks,
        count=count,
        seed=seed,
        system_score=system_score,
    )
    content = result.to_dict()
    rows = content["correlations"]
    shown = with_titles(rows, metric_titles(options.metrics))
    options.write(
        content,
        rows,
        agreement_tables(shown, digits=options.digits, footer=[*result.signatures.values()]),
        figures={
            figure: lambda: metric_bars(shown),
            distributions: lambda: _distributions(study, options, bands),
        },
        notes=result.notes,
    )


def _rank_by_tasks(
    tasks: str, options: MetricStudyOptions, count: int, seed: int, figure: Path | None
) -> None:
    from nlgauge.figures.bars import metric_bars
    from nlgauge.report.study_tables import task_tables
    from nlgauge.study import rank_by_tasks

    with options.running() as running:
        result = rank_by_tasks(
            tasks,
            options.data,
            options.metrics,
            **options.stored_arguments,
            count=count,
            seed=seed,
            **running,
        )
    content, rows = result.to_dict(), result.rows()
    titles = metric_titles(options.metrics)
    shown = with_titles([row for row in rows if row["data"] == "average"], titles)
    bars = [{**row, "criterion": result.title} for row in shown]
    options.write(
        content,
        rows,
        task_tables(
            content["ranking"],
            content["tasks"],
            titles,
            digits=options.digits,
            footer=[result.title, *result.signatures.values()],
        ),
        figures={figure: lambda: metric_bars(bars, f"{result.title}\naverage")},
        notes=result.notes,
    )


def _distributions(study: "Study", options: MetricStudyOptions, count: int) -> "Figure":
    from nlgauge.figures.distributions import distributions
    from nlgauge.study import quality_bands

    criteria = study.criteria(options.human)
    names = (
        [f"{k + 1} of {count}" for k in range(count)] if count != 3 else ["low", "middle", "high"]
    )
    titles = metric_titles(options.metrics)
    panels = {
        f"{criterion}: " * (len(criteria) > 1) + titles.get(metric, metric): [
            replace(band, name=name) for name, band in zip(names, result, strict=True)
        ]
        for criterion in criteria
        for metric, result in quality_bands(study, criterion, count).items()
    }
    legend = f"human judgement ({criteria[0] if len(criteria) == 1 else 'each criterion'})"
    return distributions(panels, legend=legend)
