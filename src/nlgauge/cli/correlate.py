"""nlgauge correlate: correlations of metrics with human judgements."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from nlgauge.cli import arguments
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.output import Result
from nlgauge.cli.study_options import MetricStudyOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.study import Study


@with_option_groups
def correlate_command(
    options: MetricStudyOptions,
    level: arguments.Levels = None,
    coefficient: arguments.Coefficients = None,
    confidence: arguments.Confidence = False,
    over: Annotated[arguments.Resampled, typer.Option(help="What the bootstrap draws.")] = "inputs",
    count: arguments.Resamples = 1000,
    seed: arguments.Seed = 0,
    system_score: Annotated[
        Literal["mean", "corpus"],
        typer.Option(help="Score of a system: the mean of its segments, or the corpus score."),
    ] = "mean",
    figure: arguments.BarChart = None,
    distributions: Annotated[
        Path | None, arguments.figure_option("the distributions of scores by human quality")
    ] = None,
    bands: Annotated[
        int, typer.Option(min=2, max=8, help="Number of bands of human quality to draw.")
    ] = 3,
) -> None:
    """Correlate metrics with human judgements.

    Examples:

    nlgauge correlate de-en.jsonl -m bleu chrf bertscore --confidence

    nlgauge correlate webnlg.jsonl -m bleu chrf --human Correctness --level system --level text
    --coefficient kendall --without reference --figure bars.pdf

    nlgauge correlate newstest2015/ --part de-en -m mover -f latex

    nlgauge correlate abs.pkl -m rouge --scores rouge_2_recall mover_score --distances js-2

    DATA comes first. It is a table (.jsonl, .tsv, .csv, also .gz) with the columns candidate,
    references, system, segment and human scores (human.fluency, ...), or the folder of a published
    data set. Distances are negated, so that a good metric has a positive correlation. Scores that
    are stored with the data (scores.comet, ...) are named with --scores, or with --distances if
    lower is better. Levels: segment (all outputs), text (systems on one input, averaged over
    inputs), system (means of systems).
    """
    from nlgauge.report.study_tables import agreement_tables
    from nlgauge.study import correlate

    study = options.study()
    found = correlate(
        study,
        human=options.human,
        levels=level,
        coefficients=coefficient or "pearson",
        confidence=0.95 if confidence else None,
        over=over,
        count=count,
        seed=seed,
        system_score=system_score,
    )
    content = found.to_dict()
    rows = content["correlations"]
    result = Result(
        content=lambda: content,
        rows=lambda: rows,
        tables=lambda: agreement_tables(
            rows, digits=options.digits, footer=list(found.signatures.values())
        ),
        figures={
            figure: lambda: _bars(rows),
            distributions: lambda: _distributions(study, options.human, bands),
        },
        notes=found.notes,
    )
    options.write(result, quiet=options.quiet)


def _bars(rows: Sequence[Mapping[str, Any]]) -> "Figure":
    from nlgauge.figures.bars import Bar, Panel, bars

    groups = tuple(dict.fromkeys(row["metric"] for row in rows))
    panels: dict[str, dict[str, list[Bar]]] = {}
    for row in rows:
        panel = panels.setdefault(f"{row['level']} level, {row['coefficient']}", {})
        bar = Bar(row["value"], row.get("low"), row.get("high"))
        panel.setdefault(row["criterion"], []).append(bar)
    return bars([Panel(title, groups, series) for title, series in panels.items()])


def _distributions(study: "Study", human: list[str] | None, count: int) -> "Figure":
    from nlgauge.figures.distributions import Curve, distributions
    from nlgauge.study import quality_bands

    criteria = study.criteria(human)
    names = (
        ("low", "middle", "high") if count == 3 else [f"{k + 1} of {count}" for k in range(count)]
    )
    panels = {
        metric if len(criteria) == 1 else f"{criterion}: {metric}": [
            Curve(name, band.scores, band.places, band.density, band.low, band.high)
            for name, band in zip(names, found, strict=True)
        ]
        for criterion in criteria
        for metric, found in quality_bands(study, criterion, count).items()
    }
    legend = f"human judgement ({criteria[0] if len(criteria) == 1 else 'each criterion'})"
    return distributions(panels, legend=legend)
