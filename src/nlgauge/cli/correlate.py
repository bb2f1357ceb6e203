"""nlgauge correlate: judged texts in, the metrics' correlations with people out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import study_output
from nlgauge.cli.output import deliver
from nlgauge.cli.study_options import AskedMetrics, asking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.study import Correlations, Study

_EPILOG = """Examples:

nlgauge correlate de-en.jsonl -m bleu chrf bertscore --confidence

nlgauge correlate webnlg.jsonl -m bleu chrf --human Correctness --level system --level text
--coefficient kendall --without reference --figure bars.pdf

nlgauge correlate newstest2015/ --part de-en -m mover -f latex

nlgauge correlate abs.pkl -m rouge --scores rouge_2_recall mover_score --distances js-2

DATA comes first. It is a table (.jsonl, .tsv, .csv, also .gz) with candidate, references, system,
segment and human scores (human.fluency, ...), or the folder of a published set. Distances are
negated, so that a good metric is positive. Scores that came with the data (scores.comet, ...) are
named with --scores, or with --distances where lower is better. Levels: segment (all outputs), text
(systems on one input, then the mean), system (means of systems). Coefficients: pearson, spearman,
kendall_b, kendall_c, accuracy. Levels, coefficients and criteria may be repeated."""


class Over(StrEnum):
    """What a bootstrap draws anew."""

    INPUTS = "inputs"
    SYSTEMS = "systems"
    BOTH = "both"


class SystemScore(StrEnum):
    """What a system's score is."""

    MEAN = "mean"
    CORPUS = "corpus"


@asking
def correlate_command(
    asked: AskedMetrics,
    level: Annotated[
        list[str] | None,
        typer.Option(
            "--level",
            metavar="LEVEL",
            help="segment, text, system [default: segment, and system where 3 are judged].",
        ),
    ] = None,
    coefficient: Annotated[
        list[str] | None,
        typer.Option("--coefficient", metavar="NAME", help="[default: pearson]"),
    ] = None,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="95% intervals by bootstrap.")
    ] = False,
    over: Annotated[Over, typer.Option(help="What the bootstrap draws.")] = Over.INPUTS,
    count: Annotated[int, typer.Option(min=1, help="Resamples of the bootstrap.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap.")] = 0,
    system_score: Annotated[
        SystemScore, typer.Option(help="At the system level: mean of segments, or corpus score.")
    ] = SystemScore.MEAN,
    figure: Annotated[
        Path | None, typer.Option("--figure", help="Also draw bars: .svg, .png or .pdf.")
    ] = None,
    distributions: Annotated[
        Path | None,
        typer.Option("--distributions", help="Also draw scores by human quality, per metric."),
    ] = None,
    bands: Annotated[int, typer.Option(min=2, max=8, help="Of human quality.")] = 3,
) -> None:
    """Correlate metrics with human judgements."""
    from nlgauge.report.study_tables import agreement_tables, tidy
    from nlgauge.study import correlate

    chosen = study_output.format_of(asked.output, asked.format)
    study_output.only_figure(figure)
    study_output.only_figure(distributions)
    study_output.check(level or [], coefficient or [])
    study = asked.study()
    found = correlate(
        study,
        human=asked.human,
        levels=level,
        coefficients=coefficient or "pearson",
        confidence=0.95 if confidence else None,
        over=over.value,
        count=count,
        seed=seed,
        system_score=system_score.value,
    )
    content = found.to_dict()
    rows = content["correlations"]
    footer = list(found.signatures.values())
    tables = agreement_tables(rows, digits=asked.digits, footer=footer)
    text = study_output.written(
        chosen, content, [tidy(rows)], tables, to_file=asked.output is not None
    )
    deliver(text, asked.output)
    if figure is not None:
        study_output.draw(_bars(found), figure)
    if distributions is not None:
        study_output.draw(_distributions(study, asked.human, bands), distributions)
    study_output.tell(found.notes, quiet=asked.quiet)


correlate_command.__doc__ = f"{correlate_command.__doc__}\n\n{_EPILOG}"


def _bars(found: Correlations) -> Figure:
    from nlgauge.figures.bars import Bar, Panel, bars

    rows = found.to_dict()["correlations"]
    manners = dict.fromkeys((row["level"], row["coefficient"]) for row in rows)
    groups = tuple(dict.fromkeys(row["metric"] for row in rows))
    panels = []
    for level, coefficient in manners:
        series: dict[str, list[Bar]] = {}
        for row in rows:
            if (row["level"], row["coefficient"]) == (level, coefficient):
                bar = Bar(row["value"], row.get("low"), row.get("high"))
                series.setdefault(row["criterion"], []).append(bar)
        panels.append(Panel(f"{level} level, {coefficient}", groups, series))
    return bars(panels)


def _distributions(study: Study, human: list[str] | None, count: int) -> Figure:
    from nlgauge.figures.distributions import Curve, distributions
    from nlgauge.study import quality_bands

    criteria = study.criteria(human)
    panels = {
        metric if len(criteria) == 1 else f"{criterion}: {metric}": [
            Curve(_named(k, count), band.scores, band.places, band.density, band.low, band.high)
            for k, band in enumerate(found)
        ]
        for criterion in criteria
        for metric, found in quality_bands(study, criterion, count).items()
    }
    legend = f"human judgement ({criteria[0] if len(criteria) == 1 else 'each criterion'})"
    return distributions(panels, legend=legend)


def _named(k: int, count: int) -> str:
    """The name of a band, from the lowest of people's scores to the highest."""
    if count == 3:
        return ("low", "middle", "high")[k]
    return f"{k + 1} of {count}"
