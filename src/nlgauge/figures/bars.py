"""Bars with intervals: one panel for each question, one bar for each metric and series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nlgauge.figures.canvas import style
from nlgauge.figures.scene import clipped, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, apart in any kind of colour vision.
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#000000")
_FONT = 7.0
_BAR = 0.13  # inches


@dataclass(frozen=True)
class Bar:
    """A value, and the ends of its interval if it has one; None is drawn as nothing."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Panel:
    """A title, and for each series (a criterion) a bar for each group (a metric)."""

    title: str
    groups: tuple[str, ...]
    series: Mapping[str, Sequence[Bar]]


def bars(panels: Sequence[Panel]) -> Figure:
    """Panels side by side with common groups, the first at the top; the legend below."""
    first = panels[0]
    names = list(first.series)
    label = 0.6 * _FONT / 72 * max(len(clipped(name)) for name in first.groups)
    tall = len(first.groups) * (len(names) * _BAR + 0.09) + 0.6
    rows_of_legend = -(-len(names) // 3) if len(names) > 1 else 0
    size = (label + 0.2 + 1.9 * len(panels), max(tall + 0.16 * rows_of_legend, 1.1))
    with style(_FONT):
        from matplotlib.figure import Figure  # noqa: PLC0415

        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for axes, panel in zip(grid, panels, strict=True):
            _draw(axes, panel)
        if len(names) > 1:
            handles, labels = grid[0].get_legend_handles_labels()
            columns = min(len(names), 3)
            figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
    return figure


def _draw(axes: Axes, panel: Panel) -> None:
    height = 0.82 / len(panel.series)
    for k, (name, row) in enumerate(panel.series.items()):
        colour = PALETTE[k % len(PALETTE)]
        places = [i + (k - (len(panel.series) - 1) / 2) * height for i in range(len(row))]
        values = [0.0 if bar.value is None else bar.value for bar in row]
        axes.barh(places, values, height * 0.92, color=colour, label=clipped(shown(name)))
        for place, bar in zip(places, row, strict=True):
            if bar.low is not None and bar.high is not None:
                axes.plot([bar.low, bar.high], [place, place], color="#222222", linewidth=0.8)
            elif bar.value is None:
                axes.text(0, place, " undefined", va="center", size=_FONT - 1, color="#777777")
    axes.axvline(0, color="black", linewidth=0.5)
    axes.set_yticks(range(len(panel.groups)), [clipped(shown(name)) for name in panel.groups])
    axes.set_ylim(len(panel.groups) - 0.5, -0.5)
    axes.tick_params("y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="x", color="#dddddd", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_title(shown(panel.title))
