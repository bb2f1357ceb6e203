"""nlgauge tune: choose options on one part of the data and test them on the other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nlgauge.cli import arguments
from nlgauge.cli.arguments import argument, option
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.study_options import StudyOptions
from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.report.table import Table

Entry = Mapping[str, Any]  # the result for one criterion, as in the JSON output
_MOST_ROWS = 40  # maximum number of combinations in a text table


@dataclass(frozen=True, kw_only=True)
class TuningOptions:
    """Options for splitting the data and for the test."""

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


@with_option_groups
def tune_command(
    tuning: TuningOptions,
    options: StudyOptions,
    metric: str = argument(..., "METRIC", "NAME[:OPTION=VALUE,...]."),
    values: list[str] | None = argument(None, "OPTION=VALUES", "Options to try [default: layers]."),
    resamples: int = arguments.resamples_option("bootstrap resamples"),
) -> None:
    """Tune options on half of the data, test them on the rest.

    Examples:

    nlgauge tune de-en.jsonl bertscore

    nlgauge tune de-en.jsonl mover:model=my/model layers=runs:5 ngram=1..3

    nlgauge tune de-en.jsonl infolm:measure=ab alpha=-1..2:7 beta=-1..2:7 --figure surface.pdf

    nlgauge tune de-en.jsonl lazy_emd penalty_candidate=.1,1,10 penalty_reference=.01..10:log4

    DATA comes first, then the metric, then its options (see nlgauge metrics NAME) with the values
    to try: 0..6 integers, .5..3 eleven numbers, -1..2:7 seven numbers, .01..10:log4 four numbers
    with equal ratios, .1,1,inf a list; for layers also all (each of them), runs (all runs of
    consecutive layers) and runs:3 (runs of at most 3). All combinations are scored in one pass.
    Values are selected on a random half of the inputs (tune) and compared with the defaults on the
    other half (test); the gain is the difference, with a bootstrap interval over inputs. Report the
    test result: the tune results are biased by the selection.
    """
    from nlgauge.metrics import metric_names
    from nlgauge.study import tune

    name = str(options.data).partition(":")[0]
    if not options.data.exists() and name in metric_names():
        raise UsageError(f"the data comes before the metric: nlgauge tune DATA {options.data} ...")
    named = _parse_values(values or [])
    if tuning.figure is not None and len(named) > 2:
        raise UsageError(f"a figure shows one or two options, not {len(named)}")
    judged = options.judged()
    with options.running() as running:
        result = tune(
            *(judged, metric, named),
            **{"human": options.human, "resamples": resamples, **tuning.arguments, **running},
        )
    content = result.to_dict()
    entries = content["tuned"]
    kept = {
        entry["criterion"]: each.swept.label
        for entry, each in zip(entries, result.entries, strict=True)
    }
    options.write(
        content,
        [row for entry in entries for row in _tried_rows(entry)],
        [
            _tuned_table(entry, tuning, options.digits, result.signatures[kept[entry["criterion"]]])
            for entry in entries
        ],
        figures={tuning.figure: lambda: _draw(entries)},
        notes=result.notes,
    )


def _tuned_table(entry: Entry, tuning: TuningOptions, digits: int, signature: str) -> "Table":
    from nlgauge.report.study_tables import interval, sweep_table

    rows = entry["tried"]
    footer = []
    if len(rows) > _MOST_ROWS:
        defined = [row for row in rows if row["tune"] is not None]
        rows = sorted(defined, key=lambda row: -row["tune"])[:_MOST_ROWS]
        footer = [
            f"the best {len(rows)} of {len(entry['tried'])} combinations on the tuning part; "
            "JSON and TSV have all"
        ]
    shown, default = (
        ", ".join(f"{name}={value}" for name, value in entry[key].items())
        for key in ("chosen", "default")
    )
    footer.append(f"{entry['metric']}: {shown} chosen on {entry['tuned_on']}, then tested on ")
    footer[-1] += f"{entry['tested_on']}; seed {tuning.seed}"
    if entry["gain"] is not None and entry["default_test"] is not None:
        ends = interval(entry["low"], entry["high"], digits)
        footer.append(
            f"default {default}: test {entry['default_test']:.{digits}f}; gain "
            f"{entry['gain']:+.{digits}f}, {entry['confidence']:.0%} {ends}"
        )
    footer.append(f"human: {entry['criterion']}; {entry['level']} level; {entry['coefficient']}")
    return sweep_table([*entry["chosen"]], rows, digits=digits, footer=[*footer, signature])


def _parse_values(words: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for word in words:
        name, equals, values = word.partition("=")
        if not (name and equals and values):
            raise UsageError(f"{word!r} is not of the form option=values: temperature=.5..3")
        if name in options:
            raise UsageError(f"option {name!r} is named twice; join its values with commas")
        options[name] = values
    return options


def _tried_rows(entry: Entry) -> list[dict[str, Any]]:
    """Return a mapping for each combination tried."""
    kind = {key: entry[key] for key in ("metric", "criterion", "level", "coefficient")}
    return [kind | row for row in entry["tried"]]


def _draw(entries: Sequence[Entry]) -> "Figure":
    from nlgauge.figures.curve import Line, curve
    from nlgauge.study.option_ranges import is_geometric

    names = list(entries[0]["chosen"])
    values = tuple(row[names[0]] for row in entries[0]["tried"])
    titled = {f"{each['metric']}, {each['criterion']}": each for each in entries}
    if len(names) == 2:
        return _heat_maps(
            titled, (names[0], names[1]), lambda row: tuple(row[name] for name in names)
        )
    if names == ["layers"] and any("-" in str(value) for value in values):
        return _heat_maps(titled, ("first layer", "last layer"), _ends)
    lines = []
    for each in entries:
        tune = tuple(row["tune"] for row in each["tried"])
        lines.append(Line(each["criterion"], tune, _chosen(each), each["test"]))
    looks = {"title": entries[0]["metric"], "logarithmic": is_geometric(values)}
    return curve(names[0], values, lines, label=_label(entries[0]), **looks)


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
    chosen = entry["chosen"].items()
    return next(i for i, row in enumerate(entry["tried"]) if chosen <= row.items())


def _ends(row: Entry) -> tuple[int, int]:
    """Return the first and last layer of a run written as 4 or 2-6."""
    first, _, last = str(row["layers"]).partition("-")
    return int(first), int(last or first)
