"""nlgauge card: the properties of a metric on judged data, on one page."""

from pathlib import Path

from nlgauge.cli import arguments
from nlgauge.cli.arguments import argument, option, resamples_option
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.output import print_notes, write_text
from nlgauge.cli.study_options import StudyOptions
from nlgauge.core.errors import MissingExtra, UsageError


@with_option_groups
def card_command(
    metric: str = argument(..., "METRIC", "Metric, or with --stored the name of stored scores."),
    *,
    options: StudyOptions,
    beside: list[str] | None = arguments.metric_option(
        None, "Metrics to compare it with [default: bleu chrf]."
    ),
    stored: bool = option(False, "METRIC names scores that are stored with the data.", "--stored"),
    lower_is_better: bool = option(False, "Stored scores are distances.", "--lower-is-better"),
    count: int = resamples_option("resamples and trials", 500),
    seed: int = arguments.seed_option("the sample, the bootstrap and the tests"),
) -> None:
    """Write a metric card: the properties of a metric on a page.

    Examples:

    nlgauge card gauge judged.jsonl -o card.html

    nlgauge card comet judged.jsonl --stored -m bleu chrf bertscore -o card.md

    The card shows correlations with intervals and ranks by significance at all levels that the data
    supports, scores by human quality, the bias towards long or copied texts, the response to
    corrupted texts (dropped, shuffled and repeated words, negations, changed numbers), error spans
    if the data has annotated ones, the smallest detectable difference, the cost, and the signature.
    The .html output is a single page without scripts or external files.
    """
    from nlgauge.report import metric_card as report
    from nlgauge.study.metric_card import card

    if lower_is_better and not stored:
        raise UsageError(
            "--lower-is-better is for stored scores; the direction of a metric is known"
        )
    if not options.data.exists() and Path(metric).exists():
        raise UsageError(f"the metric comes before the data: nlgauge card {options.data} {metric}")
    human = options.one_criterion("a card is about")
    judged = options.judged([metric] if stored else [])
    with options.running() as running:
        result = card(
            judged,
            metric,
            beside=beside or ["bleu", "chrf"],
            human=human,
            stored=metric if stored else None,
            lower_is_better=lower_is_better,
            count=count,
            seed=seed,
            **running,
        )
    content = {**result.to_dict(), "data": options.data.name}
    drawn: list[str] = []
    if options.chosen == "html":
        figures = {}
        try:
            from nlgauge.figures.distributions import distributions
            from nlgauge.figures.matplotlib_setup import to_svg

            if result.bands:
                picture = distributions({result.title: result.bands}, legend=result.criterion)
                figures["Scores by human quality"] = to_svg(picture)
        except MissingExtra as error:
            drawn.append(f"no figure was drawn: {error}")
        write_text(report.page(content, figures, digits=options.digits), options.output)
    elif options.chosen == "markdown":
        write_text(report.markdown_page(content, digits=options.digits), options.output)
    else:
        tables = report.tables(content, digits=options.digits)
        options.write(content, content["agreement"], tables, text=content["signature"])
    print_notes([*result.notes, *drawn], quiet=options.quiet)
