"""Line plots of functions, with uncertainty bands and marked points."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nlgauge.core.arrays import Floats
from nlgauge.figures import matplotlib_setup as setup
from nlgauge.figures.colours import PALETTE
from nlgauge.figures.labels import heading, legend_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SMALL = (2.3, 1.8)  # inches; one of several panels


@dataclass(frozen=True)
class Function:
    """Values of one function, the limits of their intervals, and a point to mark."""

    name: str
    places: Sequence[float] | Floats
    values: Sequence[float] | Floats
    low: Sequence[float] | Floats = ()
    high: Sequence[float] | Floats = ()
    mark: tuple[float, float] | None = None


@dataclass(frozen=True)
class Panel:
    """Functions of the same variable, with a title."""

    title: str
    xlabel: str
    functions: Sequence[Function]


def functions(
    panels: Sequence[Panel],
    *,
    ylabel: str,
    levels: Sequence[float] = (),
    limits: tuple[float, float] = (0.0, 1.0),
    logarithmic: bool = False,
) -> "Figure":
    """Return lines with their bands in panels, and dotted lines at ``levels``.

    There is a legend if a panel has several functions.
    """
    per_row = min(len(panels), setup.PANELS_PER_ROW)
    width, height = setup.COLUMN_SIZE if len(panels) == 1 else _SMALL
    size = (per_row * width, -(-len(panels) // per_row) * height)
    with setup.panels(len(panels), per_row, size, sharey=True) as (figure, grid):
        from matplotlib.ticker import LogLocator

        for k, (axes, panel) in enumerate(zip(grid, panels, strict=True)):
            for level in levels:
                axes.axhline(level, color="#777777", linewidth=0.6, linestyle=":")
            for number, line in enumerate(panel.functions):
                _draw(axes, line, PALETTE[number % len(PALETTE)])
            if logarithmic:
                axes.set_xscale("log")
                low, high = axes.get_xlim()
                axes.xaxis.set_major_locator(
                    LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,))
                )
                axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
                axes.minorticks_off()
            axes.margins(x=0.01)
            axes.set_ylim(*limits)
            axes.set_title(setup.wrap_title(panel.title, width))
            axes.set_xlabel(heading(panel.xlabel))
            axes.set_ylabel(heading(ylabel) if k % per_row == 0 else "")
            setup.plain_axes(axes, "top", "right", grid="y")
        if any(len(panel.functions) > 1 for panel in panels):
            handles, _ = grid[0].get_legend_handles_labels()
            setup.legend_below(figure, handles, columnspacing=1.2)
    return figure


def _draw(axes: "Axes", line: Function, colour: str) -> None:
    label = legend_label(line.name)
    style = "o" if len(line.places) == 1 else "-"
    axes.plot(line.places, line.values, style, color=colour, linewidth=1.1, label=label)
    if len(line.low):
        axes.fill_between(line.places, line.low, line.high, color=colour, alpha=0.18, linewidth=0)
    if line.mark is not None:
        axes.plot(*([end] for end in line.mark), "o", color=colour, markersize=4)
