"""nlgauge sweep and layers: options tuned on one part of the data and tested on the other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from nlgauge.cli import arguments
from nlgauge.cli.arguments import argument, option
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.study_options import StudyOptions
from nlgauge.cli.titles import metric_titles, with_titles
from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.report.table import Table
    from nlgauge.study import LayerTuning

Entry = Mapping[str, Any]  # a sweep for one criterion, as in the JSON output

layers_app = typer.Typer(
    help="Find the layers of a model that suit a metric best.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@dataclass(frozen=True, kw_only=True)
class TuningOptions:
    """How values are chosen on one part of the data and tested on the other."""

    level: str = arguments.LEVEL
    coefficient: str = arguments.COEFFICIENT
    fraction: float = option(0.5, "Share of the data for tuning; the rest is for the test.")
    axis: Literal["inputs", "systems"] = option(
        "inputs", "What is split into two parts.", "--split"
    )
    seed: int = arguments.seed_option("the split")
    figure: Path | None = arguments.figure_option("all values tried, as curves or heat maps")

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the library's functions."""
        return {name: value for name, value in vars(self).items() if name != "figure"}

    def footer(self, entry: Entry, chosen: str) -> list[str]:
        """Return the lines below a table of this criterion."""
        return [
            f"{chosen}chosen on {entry['tuned_on']}, then tested on {entry['tested_on']}; "
            f"seed {self.seed}",
            f"human: {entry['criterion']}; {entry['level']} level; {entry['coefficient']}",
        ]


@with_option_groups
def sweep_command(
    tuning: TuningOptions,
    options: StudyOptions,
    metric: str = argument(..., "METRIC", "NAME[:OPTION=VALUE,...].", show_default=False),
    values: list[str] | None = argument(
        None, "OPTION=VALUES...", "One or two options to try.", show_default=False
    ),
) -> None:
    """Tune options of a metric on one half of the data and test them on the other.

    Examples:

    nlgauge sweep de-en.jsonl bertscore layer=0..6

    nlgauge sweep de-en.jsonl infolm:measure=ab alpha=-1..2:7 beta=-1..2:7 --figure surface.pdf

    nlgauge sweep de-en.jsonl lazy_emd penalty_candidate=.1,1,10 penalty_reference=.01..10:log4

    DATA comes first, then the metric, then one or two of its options (see nlgauge metrics NAME)
    with the values to try: 0..6 integers, .5..3 eleven numbers, -1..2:7 seven numbers, .01..10:log4
    four numbers with equal ratios, .1,1,inf a list. All are scored in one pass. A random half of
    the inputs selects the value (tune); only the selected one is tested on the other half (test).
    Report the test number: the tune numbers are biased by the selection.
    """
    from nlgauge.core.options import format_value
    from nlgauge.metrics import metric_names
    from nlgauge.report.study_tables import sweep_table
    from nlgauge.study import sweep

    name = str(options.data).partition(":")[0]
    if not options.data.exists() and name in metric_names():
        raise UsageError(f"the data comes before the metric: nlgauge sweep DATA {options.data} ...")
    swept = _parse_values(values or [])
    judged = options.judged()
    with options.running() as running:
        found = sweep(judged, metric, swept, human=options.human, **tuning.arguments, **running)
    content, tables = found.to_dict(), []
    entries = content["sweeps"]
    for entry, each in zip(entries, found.entries, strict=True):
        chosen = ", ".join(f"{name}={format_value(value)}" for name, value in each.chosen.items())
        footer = [*tuning.footer(entry, f"{metric}: {chosen} "), found.signatures[each.label]]
        tables.append(sweep_table([*swept], entry["tried"], digits=options.digits, footer=footer))
    options.write(
        content,
        [row for each in entries for row in _tried_rows(each)],
        tables,
        figures={tuning.figure: lambda: _draw_sweep(entries, list(swept))},
        notes=found.notes,
    )


def _parse_values(words: list[str]) -> dict[str, str]:
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


def _tried_rows(entry: Entry) -> list[dict[str, Any]]:
    """Return a mapping for each value tried; one layer, or a run of them, has the key layers."""
    kind = {key: entry[key] for key in ("metric", "criterion", "level", "coefficient")}
    renamed = {entry.get("option"): "layers"}
    return [
        kind | {renamed.get(key, key): value for key, value in row.items()}
        for row in entry["tried"]
    ]


def _draw_sweep(entries: Sequence[Entry], names: list[str]) -> "Figure":
    if len(names) == 1:
        from nlgauge.study.option_ranges import is_geometric

        values = tuple(row[names[0]] for row in entries[0]["tried"])
        lines = {each["criterion"]: each for each in entries}
        title, logarithmic = entries[0]["metric"], is_geometric(values)
        return _curves(names[0], values, lines, title=title, logarithmic=logarithmic)
    named = {f"{each['metric']}, {each['criterion']}": each for each in entries}
    return _heat_maps(named, (names[0], names[1]), lambda row: tuple(row[name] for name in names))


def _curves(
    option: str, values: Sequence[float | str], entries: Mapping[str, Entry], **looks: Any
) -> "Figure":
    """Return a curve over the values for each named entry."""
    from nlgauge.figures.curve import Line, curve

    lines = []
    for name, entry in entries.items():
        tune = [row["tune"] for row in entry["tried"]]
        tune += [None] * (len(values) - len(tune))
        lines.append(Line(name, tuple(tune), _chosen(entry), entry["test"]))
    return curve(option, values, lines, label=_label(next(iter(entries.values()))), **looks)


def _heat_maps(
    entries: Mapping[str, Entry],
    names: tuple[str, str],
    place: Callable[[Entry], tuple[float | str, ...]],
) -> "Figure":
    """Return a heat map for each named entry; ``place`` gives the row and column of a value."""
    import numpy as np

    from nlgauge.figures.surface import Surface, surfaces

    panels = []
    for name, entry in entries.items():
        places = [place(row) for row in entry["tried"]]
        rows, columns = (list(dict.fromkeys(side)) for side in zip(*places, strict=True))
        index = [(rows.index(row), columns.index(column)) for row, column in places]
        tune = np.full((len(rows), len(columns)), np.nan)
        for at, tried in zip(index, entry["tried"], strict=True):
            tune[at] = tried["tune"]  # None becomes NaN
        title = f"{name}\n{_label(entry)} (tune)"
        chosen = index[_chosen(entry)]
        panels.append(Surface(title, names, (rows, columns), tune, chosen, entry["test"]))
    return surfaces(panels)


def _label(entry: Entry) -> str:
    return f"{entry['level']}-level {entry['coefficient']}"


def _chosen(entry: Entry) -> int:
    """Return the index of the chosen value among those tried."""
    chosen = entry["chosen"]
    named = chosen if isinstance(chosen, dict) else {entry["option"]: chosen}
    return next(i for i, row in enumerate(entry["tried"]) if named.items() <= row.items())


@layers_app.command("tune")
@with_option_groups
def tune_command(
    tuning: TuningOptions,
    options: StudyOptions,
    metrics: list[str] | None = arguments.EMBEDDING_METRICS,
    longest: int | None = option(
        None, "Maximum number of consecutive layers [default: no limit].", min=1
    ),
    resamples: int = arguments.count_option("bootstrap resamples"),
) -> None:
    """Tune layers on one half of the data and test them on the other.

    Examples:

    nlgauge layers tune de-en.jsonl -m bertscore

    nlgauge layers tune de-en.jsonl -m mover:model=my/model bary:model=my/model --longest 5

    nlgauge layers tune de-en.jsonl -m bertscore --figure layers.svg -o layers.json

    For a metric of one layer each layer is tried; for a metric that joins layers, all runs of
    consecutive layers. A random half of the inputs selects the layers (tune). The selected layers
    and the metric's default are tested on the other half; the gain is their difference, with a
    bootstrap interval over inputs. Report the test number: the tune numbers are biased by the
    selection.
    """
    from nlgauge.core.options import options_of
    from nlgauge.metrics import metric as build_metric
    from nlgauge.study import tune_layers

    names = metrics or ["bertscore"]
    kinds = {"layers" in options_of(type(build_metric(name))) for name in names}
    if tuning.figure is not None and len(kinds) > 1:
        raise UsageError(
            "metrics of one layer are drawn as curves, metrics that join layers as heat maps; "
            "name one kind with --figure, and run the command twice"
        )
    judged = options.judged()
    with options.running() as running:
        chosen: dict[str, Any] = {
            "human": options.human,
            "longest": longest,
            "resamples": resamples,
        }
        found = tune_layers(judged, names, **chosen, **tuning.arguments, **running)
    content = found.to_dict()
    entries = content["layers"]
    options.write(
        content,
        [row for entry in entries for row in _tried_rows(entry)],
        _layer_tables(found, entries, tuning, options.digits),
        figures={tuning.figure: lambda: _draw_layers(entries)},
        notes=found.notes,
    )


def _layer_tables(
    found: "LayerTuning", entries: Sequence[Entry], tuning: TuningOptions, digits: int
) -> "list[Table]":
    from nlgauge.report.study_tables import layers_table

    groups: dict[str, tuple[list[Entry], list[str]]] = {}
    shown = with_titles(entries, metric_titles(dict.fromkeys(each["metric"] for each in entries)))
    for tuned, entry in zip(found.entries, shown, strict=True):
        group, signatures = groups.setdefault(entry["criterion"], ([], []))
        group.append(entry)
        signatures.append(found.signatures[tuned.swept.label])
    return [
        layers_table(group, digits=digits, footer=[*tuning.footer(group[0], ""), *signatures])
        for group, signatures in groups.values()
    ]


def _draw_layers(entries: Sequence[Entry]) -> "Figure":
    several = len({entry["criterion"] for entry in entries}) > 1
    named = {
        entry["metric"] + (f", {entry['criterion']}" if several else ""): entry for entry in entries
    }
    if entries[0]["option"] == "layers":
        return _heat_maps(named, ("first layer", "last layer"), _ends)
    deepest = max((entry["tried"] for entry in entries), key=len)
    title = next(iter(named)) if len(named) == 1 else ""
    return _curves("layer", [row["layer"] for row in deepest], named, title=title)


def _ends(row: Entry) -> tuple[int, int]:
    """Return the first and last layer of a run written as 4 or 2-6."""
    first, _, last = str(row["layers"]).partition("-")
    return int(first), int(last or first)
