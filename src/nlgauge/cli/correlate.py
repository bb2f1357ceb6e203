"""nlgauge correlate: correlations of metrics with human judgements."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nlgauge.cli import arguments
from nlgauge.cli.arguments import figure_option, option
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.study_options import MetricStudyOptions
from nlgauge.cli.titles import metric_titles, with_titles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.study import Study


@with_option_groups
def correlate_command(
    options: MetricStudyOptions,
    level: list[str] | None = arguments.LEVELS,
    coefficient: list[str] | None = arguments.COEFFICIENTS,
    confidence: bool = arguments.CONFIDENCE,
    interval: arguments.IntervalMethod = arguments.INTERVAL,
    over: arguments.Resampled = option("inputs", "What the bootstrap draws."),
    average: arguments.Average = arguments.AVERAGE,
    ranks: bool = option(False, "Add ranks of metrics by significance (permutation tests)."),
    count: int = arguments.count_option("bootstrap resamples and of permutations"),
    seed: int = arguments.seed_option("the bootstrap and the permutations"),
    system_score: Literal["mean", "all", "corpus"] = option(
        "mean",
        "Score of a system: the mean of its judged segments, of all its segments, or the corpus "
        "score.",
    ),
    figure: Path | None = figure_option("a bar chart"),
    distributions: Path | None = figure_option("the distributions of scores by human quality"),
    bands: int = option(3, "Number of bands of human quality to draw.", min=2, max=8),
) -> None:
    """Correlate metrics with human judgements.

    Examples:

    nlgauge correlate de-en.jsonl -m bleu chrf bertscore --confidence

    nlgauge correlate webnlg.jsonl -m bleu chrf --human Correctness --level system --level text
    --coefficient kendall --without reference --figure bars.pdf

    nlgauge correlate newstest2015/ --part de-en -m mover -f latex

    nlgauge correlate abs.pkl -m rouge --scores rouge_2_recall mover_score --distances js-2

    nlgauge correlate wmt.csv -m chrf --columns candidate=mt,reference=ref,source=src,human=score

    DATA comes first. It is a table (.jsonl, .json, .tsv, .csv, also .gz) with the columns
    candidate, references, source, system, segment and human scores (human.fluency, ...), or the
    folder of a published data set; --columns names other columns. Distances are negated, so that a
    good metric has a positive correlation. Scores that are stored with the data (scores.comet, ...)
    are named with --scores, or with --distances if lower is better. Levels: segment (all outputs),
    text (systems on one input, averaged over inputs), by_system (inputs of one system, averaged
    over systems), document (means of documents), system (means of systems). acc_eq is the
    pairwise accuracy with calibrated ties, spa the soft pairwise accuracy, pairwise_pearson r of
    the differences between systems on one input (WMT 2023 to 2025).
    """
    from nlgauge.figures.bars import metric_bars
    from nlgauge.report.study_tables import agreement_tables
    from nlgauge.study import correlate

    study = options.study()
    found = correlate(
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
    content = found.to_dict()
    rows = content["correlations"]
    shown = with_titles(rows, metric_titles(options.metrics))
    options.write(
        content,
        rows,
        agreement_tables(shown, digits=options.digits, footer=[*found.signatures.values()]),
        figures={
            figure: lambda: metric_bars(shown),
            distributions: lambda: _distributions(study, options, bands),
        },
        notes=found.notes,
    )


def _distributions(study: "Study", options: MetricStudyOptions, count: int) -> "Figure":
    from nlgauge.figures.distributions import Curve, distributions
    from nlgauge.study import quality_bands

    criteria = study.criteria(options.human)
    names = (
        [f"{k + 1} of {count}" for k in range(count)] if count != 3 else ["low", "middle", "high"]
    )
    titles = metric_titles(options.metrics)
    panels = {
        f"{criterion}: " * (len(criteria) > 1) + titles.get(metric, metric): [
            Curve(name, band.scores, band.places, band.density, band.low, band.high)
            for name, band in zip(names, found, strict=True)
        ]
        for criterion in criteria
        for metric, found in quality_bands(study, criterion, count).items()
    }
    legend = f"human judgement ({criteria[0] if len(criteria) == 1 else 'each criterion'})"
    return distributions(panels, legend=legend)
