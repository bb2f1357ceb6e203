"""nlgauge sweep: judged texts and values of an option in, the best value and its test out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import study_output
from nlgauge.cli.output import deliver
from nlgauge.cli.study_options import Asked, asking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from nlgauge.report.table import Table
    from nlgauge.study import OptionSweep, SweepResult

_EPILOG = """Examples:

nlgauge sweep de-en.jsonl bertscore layer=0..6

nlgauge sweep de-en.jsonl infolm:measure=ab alpha=-1..2:7 beta=-1..2:7 --figure surface.pdf

nlgauge sweep de-en.jsonl lazy_emd penalty_candidate=.1,1,10 penalty_reference=.01..10:log4

DATA comes first, then the metric, then one or two of its options (see nlgauge metrics NAME) with
the values to try: 0..6 integers, .5..3 eleven numbers, -1..2:7 seven, .01..10:log4 four with equal
factors, .1,1,inf a list. All are scored in one pass. A random half of the inputs chooses the value
(tune); only the chosen one is tested on the other half (test). Quote the test number: the tune
numbers have seen the judgements they were chosen by."""


class Axis(StrEnum):
    """What is split into a tuning and a test part."""

    INPUTS = "inputs"
    SYSTEMS = "systems"


Level = Annotated[str, typer.Option("--level", help="segment, text or system.")]
Coefficient = Annotated[
    str, typer.Option("--coefficient", help="pearson, spearman, kendall, accuracy.")
]
Fraction = Annotated[float, typer.Option(help="Share of the data that chooses; the rest tests.")]
Split = Annotated[Axis, typer.Option(help="What is split in two.")]
Seed = Annotated[int, typer.Option(min=0, help="Of the split.")]


@asking
def sweep_command(
    asked: Asked,
    metric: Annotated[
        str, typer.Argument(metavar="METRIC", help="NAME[:OPTION=VALUE,...].", show_default=False)
    ],
    values: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="OPTION=VALUES...", help="One or two options to try.", show_default=False
        ),
    ] = None,
    level: Level = "segment",
    coefficient: Coefficient = "pearson",
    fraction: Fraction = 0.5,
    split: Split = Axis.INPUTS,
    seed: Seed = 0,
    figure: Annotated[
        Path | None,
        typer.Option("--figure", help="Also draw a curve or a surface: .svg, .png or .pdf."),
    ] = None,
) -> None:
    """Try values of a metric's options: choose on one half of the data, test on the other."""
    from nlgauge.report.study_tables import tidy
    from nlgauge.study import sweep

    chosen = study_output.format_of(asked.output, asked.format)
    study_output.only_figure(figure)
    study_output.check([level], [coefficient])
    _data_first(asked.data)
    options = _options(values or [])
    judged = asked.judged()
    with asked.scoring() as how:
        found = sweep(
            *(judged, metric, options),
            human=asked.human,
            level=level,
            coefficient=coefficient,
            fraction=fraction,
            seed=seed,
            axis=split.value,
            **how,
        )
    long = [_long(each) for each in found.entries]
    tables = [_table(each, asked.digits, seed, found.signatures) for each in found.entries]
    text = study_output.written(
        *(chosen, found.to_dict(), [tidy([row for rows in long for row in rows])], tables),
        to_file=asked.output is not None,
    )
    deliver(text, asked.output)
    if figure is not None:
        study_output.draw(_surface(found) if len(options) == 2 else _curve(found), figure)
    study_output.tell(found.notes, quiet=asked.quiet)


sweep_command.__doc__ = f"{sweep_command.__doc__}\n\n{_EPILOG}"


def _data_first(data: Path) -> None:
    """Say so if the metric was named where the data should be."""
    from nlgauge.core.errors import UsageError
    from nlgauge.metrics import metric_names

    name = str(data).partition(":")[0]
    if not data.exists() and name in metric_names():
        raise UsageError(f"the data comes before the metric: nlgauge sweep DATA {data} ...")


def _options(words: list[str]) -> dict[str, str]:
    from nlgauge.core.errors import UsageError
    from nlgauge.study.sweep import read_options

    options: dict[str, str] = {}
    for word in words:
        name, equals, values = word.partition("=")
        if not (name and equals and values):
            raise UsageError(f"{word!r} is not of the form option=values, as in temperature=.5..3")
        if name in options:
            raise UsageError(f"option {name!r} is named twice; join its values with commas")
        options[name] = values
    read_options(options)
    return options


def _table(swept: OptionSweep, digits: int, seed: int, signatures: Mapping[str, str]) -> Table:
    from nlgauge.core.options import format_value
    from nlgauge.report.study_tables import sweep_table

    content = swept.to_dict()
    named = ", ".join(f"{name}={format_value(value)}" for name, value in swept.chosen.items())
    said = [
        f"{swept.metric}: {named} chosen on {content['tuned_on']}, then tested on "
        f"{content['tested_on']}; seed {seed}",
        f"human: {swept.criterion}; {content['level']} level; {content['coefficient']}",
        signatures[swept.label],
    ]
    return sweep_table(list(swept.options), content["tried"], digits=digits, footer=said)


def _long(swept: OptionSweep) -> list[dict[str, Any]]:
    content = swept.to_dict()
    keys = ("metric", "criterion", "level", "coefficient")
    return [{**{key: content[key] for key in keys}, **row} for row in content["tried"]]


def about(swept: OptionSweep) -> str:
    """What the numbers of a figure are."""
    tested = swept.found.tested
    return f"{tested.level}-level {tested.coefficient}"


def _curve(found: SweepResult) -> Figure:
    from nlgauge.figures.curve import Line, curve
    from nlgauge.study.option_ranges import is_geometric

    first = found.entries[0]
    ((option, values),) = first.options.items()
    lines = []
    for each in found.entries:
        rows = each.tried()
        at = each.found.tried.index(each.found.chosen)
        tune = tuple(row["tune"] for row in rows)
        lines.append(Line(each.criterion, tune, at, rows[at]["test"]))
    return curve(
        *(option, values, lines),
        label=about(first),
        title=first.metric,
        logarithmic=is_geometric(values),
    )


def _surface(found: SweepResult) -> Figure:
    import numpy as np

    from nlgauge.figures.surface import Surface, surfaces

    panels = []
    for each in found.entries:
        (down, rows), (right, columns) = each.options.items()
        numbers = [tried.tuned.value for tried in each.found.tried]
        at = each.found.tried.index(each.found.chosen)
        tried = each.tried()
        panels.append(
            Surface(
                f"{each.metric}, {each.criterion}\n{about(each)} (tune)",
                (down, right),
                (rows, columns),
                np.array(numbers).reshape(len(rows), len(columns)),
                divmod(at, len(columns)),
                tried[at]["test"],
            )
        )
    return surfaces(panels)
