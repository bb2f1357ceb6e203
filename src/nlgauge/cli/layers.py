"""nlgauge layers: judged texts in, the layers of a model that suit a metric best out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import study_output, sweep
from nlgauge.cli.output import deliver
from nlgauge.cli.study_options import Asked, asking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from nlgauge.report.table import Table
    from nlgauge.study import LayerTuning, TunedLayers

app = typer.Typer(
    help="Find the layers of a model that suit a metric.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_EPILOG = """Examples:

nlgauge layers tune de-en.jsonl -m bertscore

nlgauge layers tune de-en.jsonl -m mover:model=my/model bary:model=my/model --longest 5

nlgauge layers tune de-en.jsonl -m bertscore --figure layers.svg -o layers.json

A metric of one layer tries each; a metric that joins layers tries all runs of neighbours. A random
half of the inputs chooses (tune). The chosen layers and the metric's own (default) are tested on
the other half; the gain between the two has a bootstrap interval over inputs. Quote the test: tune
has seen the judgements that it was chosen by."""


@app.command("tune")
@asking
def tune_command(
    asked: Asked,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--metric",
            metavar="NAME[:OPTION=VALUE,...]",
            help="Metrics of embedded texts [default: bertscore].",
        ),
    ] = None,
    level: sweep.Level = "segment",
    coefficient: sweep.Coefficient = "pearson",
    fraction: sweep.Fraction = 0.5,
    split: sweep.Split = sweep.Axis.INPUTS,
    seed: sweep.Seed = 0,
    longest: Annotated[
        int | None, typer.Option(min=1, help="Layers of a run, at most [default: any].")
    ] = None,
    resamples: Annotated[int, typer.Option(min=1, help="Of the interval.")] = 1000,
    figure: Annotated[
        Path | None, typer.Option("--figure", help="Also draw what was tried: .svg, .png or .pdf.")
    ] = None,
) -> None:
    """Choose layers on one half of the data, and test them against the default on the other."""
    from nlgauge.report.study_tables import tidy
    from nlgauge.study import tune_layers

    metrics = metric or ["bertscore"]
    chosen = study_output.format_of(asked.output, asked.format)
    study_output.only_figure(figure)
    study_output.check([level], [coefficient])
    if figure is not None:
        _refuse_mixed(metrics)
    judged = asked.judged()
    with asked.scoring() as how:
        found = tune_layers(
            *(judged, metrics),
            human=asked.human,
            level=level,
            coefficient=coefficient,
            fraction=fraction,
            seed=seed,
            axis=split.value,
            longest=longest,
            resamples=resamples,
            **how,
        )
    long = [row for each in found.entries for row in _long(each)]
    text = study_output.written(
        *(chosen, found.to_dict(), [tidy(long)], _tables(found, asked.digits, seed)),
        to_file=asked.output is not None,
    )
    deliver(text, asked.output)
    if figure is not None:
        study_output.draw(_figure(found), figure)
    study_output.tell(found.notes, quiet=asked.quiet)


tune_command.__doc__ = f"{tune_command.__doc__}\n\n{_EPILOG}"


def _refuse_mixed(metrics: Sequence[str]) -> None:
    """One figure cannot hold curves over layers and maps of runs of them."""
    from nlgauge.core.errors import UsageError
    from nlgauge.core.options import options_of
    from nlgauge.metrics import metric as build_metric

    several = {"layers" in options_of(type(build_metric(spec))) for spec in metrics}
    if len(several) > 1:
        raise UsageError(
            "metrics of one layer are drawn as curves, those that join layers as maps; name one "
            "kind with --figure, and call twice"
        )


def _tables(found: LayerTuning, digits: int, seed: int) -> list[Table]:
    from nlgauge.report.study_tables import layers_table

    tables = []
    for criterion in dict.fromkeys(each.swept.criterion for each in found.entries):
        entries = [each for each in found.entries if each.swept.criterion == criterion]
        rows = [each.to_dict() for each in entries]
        first = rows[0]
        said = [
            f"chosen on {first['tuned_on']}, then tested on {first['tested_on']}; seed {seed}",
            f"human: {criterion}; {first['level']} level; {first['coefficient']}",
            *(found.signatures[each.swept.label] for each in entries),
        ]
        tables.append(layers_table(rows, digits=digits, footer=said))
    return tables


def _long(tuned: TunedLayers) -> list[dict[str, Any]]:
    content = tuned.to_dict()
    same = {key: content[key] for key in ("metric", "criterion", "level", "coefficient")}
    option = tuned.layered.option
    return [
        {**same, "layers": row[option], "tune": row["tune"], "test": row["test"]}
        for row in content["tried"]
    ]


def _figure(found: LayerTuning) -> Figure:
    about = sweep.about(found.entries[0].swept)
    if found.entries[0].layered.option == "layer":
        return _curves(found, about)
    return _maps(found, about)


def _name(tuned: TunedLayers, found: LayerTuning) -> str:
    criteria = {each.swept.criterion for each in found.entries}
    return tuned.swept.metric + (f", {tuned.swept.criterion}" if len(criteria) > 1 else "")


def _curves(found: LayerTuning, about: str) -> Figure:
    from nlgauge.figures.curve import Line, curve

    deepest = max((each.layered.values for each in found.entries), key=len)
    lines = []
    for each in found.entries:
        rows = each.swept.tried()
        tune = [row["tune"] for row in rows] + [None] * (len(deepest) - len(rows))
        at = each.layered.values.index(each.chosen)
        lines.append(Line(_name(each, found), tuple(tune), at, rows[at]["test"]))
    title = lines[0].name if len(lines) == 1 else ""
    return curve("layer", deepest, lines, label=about, title=title)


def _maps(found: LayerTuning, about: str) -> Figure:
    import numpy as np

    from nlgauge.figures.surface import Surface, surfaces

    panels = []
    for each in found.entries:
        ends = [_ends(value) for value in each.layered.values]
        depth = max(last for _, last in ends)
        tune = np.full((depth, depth), np.nan)
        for (first, last), tried in zip(ends, each.swept.found.tried, strict=True):
            tune[first - 1, last - 1] = tried.tuned.value
        first, last = _ends(each.chosen)
        layers = tuple(range(1, depth + 1))
        panels.append(
            Surface(
                f"{_name(each, found)}\n{about} (tune)",
                ("first layer", "last layer"),
                (layers, layers),
                tune,
                (first - 1, last - 1),
                each.to_dict()["test"],
            )
        )
    return surfaces(panels)


def _ends(value: float | str) -> tuple[int, int]:
    """The first and last layer of a run written as 4 or 2-6."""
    first, _, last = str(value).partition("-")
    return int(first), int(last or first)
