"""nlgauge darr: judged texts or ranked pairs in, the metrics' Kendall-like tau out.

It is a verb of its own and no level of `correlate`: its unit is a pair of outputs that people told
apart, it knows one coefficient, and what it asks (a threshold, a file of pairs) means nothing to
the levels and coefficients there.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import study_output
from nlgauge.cli.output import deliver
from nlgauge.cli.study_options import AskedMetrics, asking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.study import DarrResult

_EPILOG = """Examples:

nlgauge darr cs-en.jsonl -m bleu chrf bertscore --human da_raw --confidence

nlgauge darr cs-en.jsonl -m bleu --pairs RR-seglevel.csv --pairs-part cs-en

nlgauge darr newstest2019/ --part de-en --human wmt-raw --scores YiSi-1-refA -f latex

Two outputs for one segment whose direct assessments (raw, 0 to 100) differ by 25 points or more are
a ranked pair, as at WMT 2017-2019, or the pairs come from a file with the columns segment, better
and worse. tau = (C - D) / (C + D); a pair that the metric ties is discordant. Intervals are drawn
over segments. Leave human references out with --without."""


@asking
def darr_command(
    asked: AskedMetrics,
    pairs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Ranked pairs [default: made of --human's judgements]."),
    ] = None,
    pairs_part: Annotated[
        str | None, typer.Option(help="A language pair, where the file of pairs has several.")
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Points by which the outputs of a pair differ at least.")
    ] = 25.0,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="95% intervals by bootstrap over segments.")
    ] = False,
    count: Annotated[int, typer.Option(min=1, help="Resamples of the bootstrap.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap.")] = 0,
    figure: Annotated[
        Path | None, typer.Option("--figure", help="Also draw bars: .svg, .png or .pdf.")
    ] = None,
) -> None:
    """Rank pairs of outputs with metrics as people did (daRR, Kendall-like tau)."""
    from nlgauge.data.wmt import read_pairs
    from nlgauge.report.study_tables import ranking_table, tidy
    from nlgauge.study import darr

    chosen = study_output.format_of(asked.output, asked.format)
    study_output.only_figure(figure)
    human = _only(asked, pairs, pairs_part)
    judged = asked.texts()
    with asked.scoring() as how:
        found = darr(
            judged,
            asked.metrics,
            pairs=None if pairs is None else read_pairs(str(pairs), part=pairs_part),
            human=human,
            threshold=threshold,
            confidence=0.95 if confidence else None,
            count=count,
            seed=seed,
            **asked.came_along,
            **how,
        )
    content = found.to_dict()
    rows = content["metrics"]
    footer = [_about(found), *found.signatures.values()]
    tables = [ranking_table(rows, digits=asked.digits, footer=footer)]
    text = study_output.written(
        chosen, content, [tidy(rows)], tables, to_file=asked.output is not None
    )
    deliver(text, asked.output)
    if figure is not None:
        study_output.draw(_bars(found), figure)
    study_output.tell(found.notes, quiet=asked.quiet)


darr_command.__doc__ = f"{darr_command.__doc__}\n\n{_EPILOG}"


def _only(asked: AskedMetrics, pairs: Path | None, pairs_part: str | None) -> str | None:
    """The criterion that pairs are made of; refuses what would be ignored."""
    from nlgauge.core.errors import UsageError

    if pairs is not None and asked.human:
        raise UsageError("--pairs names the ranked pairs, so --human would mean nothing; drop one")
    if pairs is None and pairs_part is not None:
        raise UsageError("--pairs-part chooses from a file of pairs; name it with --pairs")
    if len(asked.human or ()) > 1:
        raise UsageError("ranked pairs are made of one criterion; name --human once")
    return asked.human[0] if asked.human else None


def _about(found: DarrResult) -> str:
    pairs = found.pairs
    said = f"{len(pairs):,} pairs of {len(pairs.systems)} systems, {len(pairs.segments):,} segments"
    resampled = any(entry.interval for entry in found.entries)
    return said + ("; intervals: bootstrap over segments" if resampled else "")


def _bars(found: DarrResult) -> Figure:
    from nlgauge.figures.bars import Bar, Panel, bars

    rows = found.to_dict()["metrics"]
    series = [Bar(row["tau"], row.get("low"), row.get("high")) for row in rows]
    groups = tuple(row["metric"] for row in rows)
    return bars([Panel("Kendall-like tau (daRR)", groups, {"tau": series})])
