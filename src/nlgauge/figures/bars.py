"""Bar charts with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nlgauge.figures import matplotlib_setup as setup
from nlgauge.figures.colours import PALETTE
from nlgauge.figures.labels import legend_label, short_label, short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BAR_INCHES = 0.1
_PAGE_INCHES = 7.1  # width of a page of two columns


@dataclass(frozen=True)
class Bar:
    """A value (None if undefined), and the ends of its interval, if any."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Panel:
    """A title, and for each series (a criterion) a bar for each group (a metric)."""

    title: str
    groups: tuple[str, ...]
    series: Mapping[str, Sequence[Bar]]


def bars(panels: Sequence[Panel], *, across: int | None = None) -> "Figure":
    """Return panels with common groups, ``across`` in a row, within the width of a page."""
    first = panels[0]
    names = list(first.series)
    columns = min(across or len(panels), len(panels))
    label = setup.text_inches(map(short_label, first.groups))
    panel_height = len(first.groups) * (len(names) * _BAR_INCHES + 0.09) + 0.45
    height = -(-len(panels) // columns) * panel_height + (0.4 if len(names) > 1 else 0.2)
    panel_width = min(1.9, max((_PAGE_INCHES - label) / columns, 1.1))
    size = (label + 0.2 + panel_width * columns, max(height, 1.1))
    with setup.panels(len(panels), columns, size, sharex=True, sharey=True) as (figure, grid):
        for axes, panel in zip(grid, panels, strict=True):
            _draw(axes, panel)
            axes.set_title(setup.wrap_title(panel.title, panel_width))
        if len(names) > 1:
            handles, _ = grid[0].get_legend_handles_labels()
            setup.legend_below(figure, handles)
    return figure


def metric_bars(rows: Sequence[Mapping[str, Any]], title: str = "") -> "Figure":
    """Draw rows of a study in a panel for each level and coefficient, or in one with the title.

    A row has metric, criterion, value, level and coefficient, and optionally low and high.
    """
    groups = tuple(dict.fromkeys(row["metric"] for row in rows))
    bars_by_panel: dict[str, dict[str, list[Bar]]] = {}
    for row in rows:
        panel = bars_by_panel.setdefault(title or f"{row['level']} level, {row['coefficient']}", {})
        bar = Bar(row["value"], row.get("low"), row.get("high"))
        panel.setdefault(row["criterion"], []).append(bar)
    return bars([Panel(name, groups, series) for name, series in bars_by_panel.items()])


def _draw(axes: "Axes", panel: Panel) -> None:
    from matplotlib.patheffects import withStroke
    from matplotlib.ticker import MaxNLocator

    height = 0.82 / len(panel.series)
    for k, (name, row) in enumerate(panel.series.items()):
        colour = PALETTE[k % len(PALETTE)]
        places = [i + (k - (len(panel.series) - 1) / 2) * height for i in range(len(row))]
        values = [bar.value or 0.0 for bar in row]
        axes.barh(places, values, height * 0.92, color=colour, label=legend_label(name))
        for place, bar in zip(places, row, strict=True):
            if bar.value is None:
                axes.text(0, place, " undefined", va="center", size=setup.FONT - 1, color="#777777")
            elif bar.low is not None and bar.high is not None:
                (line,) = axes.plot([bar.low, bar.high], [place, place], color="#222222", lw=0.8)
                line.set_path_effects([withStroke(linewidth=1.6, foreground="white")])
    axes.axvline(0, color="black", linewidth=0.5)
    axes.set_yticks(range(len(panel.groups)), list(map(short_label, panel.groups)))
    axes.set_ylim(len(panel.groups) - 0.5, -0.5)
    axes.tick_params("y", length=0)
    axes.tick_params("x", labelbottom=True)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(lambda x, _: short_number(x, ".6g").replace("-", "\u2212"))
    setup.plain_axes(axes, "top", "right", "left", grid="x")
