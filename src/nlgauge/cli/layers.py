"""nlgauge layers: the layers of a model that suit a metric best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import arguments, sweep
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.output import Result
from nlgauge.cli.study_options import StudyOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.report.table import Table
    from nlgauge.study import LayerTuning

app = typer.Typer(
    help="Find the layers of a model that suit a metric best.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("tune")
@with_option_groups
def tune_command(
    tuning: sweep.TuningOptions,
    options: StudyOptions,
    metrics: arguments.EmbeddingMetrics = None,
    longest: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum number of consecutive layers [default: no limit]."),
    ] = None,
    resamples: arguments.Resamples = 1000,
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
    from nlgauge.study import tune_layers

    names = metrics or ["bertscore"]
    if tuning.figure is not None:
        _check_same_kind(names)
    judged = options.judged()
    with options.running() as running:
        found = tune_layers(
            judged,
            names,
            human=options.human,
            longest=longest,
            resamples=resamples,
            **tuning.arguments,
            **running,
        )
    content = found.to_dict()
    entries = content["layers"]
    result = Result(
        content=lambda: content,
        rows=lambda: [row for entry in entries for row in _rows(entry)],
        tables=lambda: _tables(found, entries, tuning, options.digits),
        figures={tuning.figure: lambda: _figure(entries)},
        notes=found.remarks,
    )
    options.write(result, quiet=options.quiet)


def _check_same_kind(metrics: Sequence[str]) -> None:
    """Raise an error if one figure would need both curves and heat maps."""
    from nlgauge.core.errors import UsageError
    from nlgauge.core.options import options_of
    from nlgauge.metrics import metric as build_metric

    several = {"layers" in options_of(type(build_metric(spec))) for spec in metrics}
    if len(several) > 1:
        raise UsageError(
            "metrics of one layer are drawn as curves, metrics that join layers as heat maps; "
            "name one kind with --figure, and run the command twice"
        )


def _rows(entry: sweep.Entry) -> list[dict[str, Any]]:
    rows = sweep.tried_rows(entry)
    for row in rows:
        row["layers"] = row.pop(entry["option"])
        row |= {"tune": row.pop("tune"), "test": row.pop("test")}  # the last columns
    return rows


def _tables(
    found: LayerTuning, entries: Sequence[sweep.Entry], tuning: sweep.TuningOptions, digits: int
) -> list[Table]:
    from nlgauge.report.study_tables import layers_table

    groups: dict[str, list[sweep.Entry]] = {}
    signatures: dict[str, list[str]] = {}
    for tuned, entry in zip(found.entries, entries, strict=True):
        groups.setdefault(entry["criterion"], []).append(entry)
        signature = found.signatures[tuned.swept.label]
        signatures.setdefault(entry["criterion"], []).append(signature)
    return [
        layers_table(
            group, digits=digits, footer=[*tuning.footer(group[0], ""), *signatures[criterion]]
        )
        for criterion, group in groups.items()
    ]


def _figure(entries: Sequence[sweep.Entry]) -> Figure:
    several = len({entry["criterion"] for entry in entries}) > 1
    named: Mapping[str, sweep.Entry] = {
        entry["metric"] + (f", {entry['criterion']}" if several else ""): entry for entry in entries
    }
    if entries[0]["option"] == "layers":
        return sweep.heat_maps(named, ("first layer", "last layer"), _ends)
    deepest = max((entry["tried"] for entry in entries), key=len)
    title = next(iter(named)) if len(named) == 1 else ""
    return sweep.curves("layer", [row["layer"] for row in deepest], named, title=title)


def _ends(row: sweep.Entry) -> tuple[int, int]:
    """Return the first and last layer of a run written as 4 or 2-6."""
    first, _, last = str(row["layers"]).partition("-")
    return int(first), int(last or first)
