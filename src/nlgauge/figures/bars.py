"""Bars with intervals: one panel for each question, one bar for each metric and series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nlgauge.figures.alignment_layout import clipped, shown
from nlgauge.figures.matplotlib_setup import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, apart in any kind of colour vision.
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#000000")
_FONT = 7.0
_BAR = 0.1  # inches, as is
_FULL = 7.1  # the width of a page of two columns


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


def bars(panels: Sequence[Panel], *, across: int | None = None) -> Figure:
    """Panels with common groups, ``across`` of them in a row; the legend below.

    Panels share the names on the left and the range of values. All fit the width of a page.
    """
    first = panels[0]
    names = list(first.series)
    columns = min(across or len(panels), len(panels))
    rows = -(-len(panels) // columns)
    label = 0.6 * _FONT / 72 * max(len(clipped(name)) for name in first.groups)
    tall = len(first.groups) * (len(names) * _BAR + 0.09) + 0.45
    below = 0.2 + (0.2 if len(names) > 1 else 0.0)
    wide = min(1.9, max((_FULL - label) / columns, 1.1))
    size = (label + 0.2 + wide * columns, max(rows * tall + below, 1.1))
    with style(_FONT):
        from matplotlib.figure import Figure

        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
        for axes, panel in zip(grid, panels, strict=False):
            _draw(axes, panel)
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        if len(names) > 1:
            handles, labels = grid[0].get_legend_handles_labels()
            beside = min(len(names), 2 + columns)
            figure.legend(handles, labels, loc="outside lower center", ncols=beside, frameon=False)
    return figure


def _draw(axes: Axes, panel: Panel) -> None:
    from matplotlib.patheffects import withStroke
    from matplotlib.ticker import MaxNLocator

    height = 0.82 / len(panel.series)
    for k, (name, row) in enumerate(panel.series.items()):
        colour = PALETTE[k % len(PALETTE)]
        places = [i + (k - (len(panel.series) - 1) / 2) * height for i in range(len(row))]
        values = [0.0 if bar.value is None else bar.value for bar in row]
        axes.barh(places, values, height * 0.92, color=colour, label=clipped(shown(name)))
        for place, bar in zip(places, row, strict=True):
            if bar.value is None:
                axes.text(0, place, " undefined", va="center", size=_FONT - 1, color="#777777")
            elif bar.low is not None and bar.high is not None:
                (line,) = axes.plot([bar.low, bar.high], [place, place], color="#222222", lw=0.8)
                line.set_path_effects([withStroke(linewidth=1.6, foreground="white")])
    axes.axvline(0, color="black", linewidth=0.5)
    axes.set_yticks(range(len(panel.groups)), [clipped(shown(name)) for name in panel.groups])
    axes.set_ylim(len(panel.groups) - 0.5, -0.5)
    axes.tick_params("y", length=0)
    axes.tick_params("x", labelbottom=True)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(lambda value, _: _short(value))
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="x", color="#dddddd", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_title("\n".join(map(shown, panel.title.splitlines())))


def _short(value: float) -> str:
    """The number without its leading zero, as papers set them."""
    return f"{value:.6g}".replace("0.", ".", 1).replace("-", "\N{MINUS SIGN}")
