"""Heat maps over two options: agreement on the tuning part, with the chosen values marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.figures import matplotlib_setup as setup
from nlgauge.figures.heat_map import draw_cells, linear_scale
from nlgauge.figures.labels import heading, short_number, tick_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CELL_INCHES = 0.32  # nine values fill a column of a two-column paper
_MARK = "#d55e00"


@dataclass(frozen=True, eq=False)
class Surface:
    """Results over the values of two options, the chosen cell, and its test."""

    title: str
    options: tuple[str, str]
    """The option of the rows, and the one of the columns."""
    values: tuple[Sequence[float | str], Sequence[float | str]]
    tune: Floats
    chosen: tuple[int, int]
    test: float | None


def surfaces(panels: Sequence[Surface]) -> "Figure":
    """Return the panels, up to three in a row, each with its own range of colours."""
    rows, columns = panels[0].tune.shape
    per_row = min(len(panels), setup.PANELS_PER_ROW)
    label = setup.text_inches(map(tick_label, panels[0].values[0]))
    width = max(columns * _CELL_INCHES, 1.5)
    height = max(rows * _CELL_INCHES, 0.7) + 0.5
    size = (per_row * (width + label + 0.4), -(-len(panels) // per_row) * height)
    with setup.panels(len(panels), per_row, size) as (figure, grid):
        for axes, panel in zip(grid, panels, strict=True):
            _draw(axes, panel, width)
    return figure


def _draw(axes: "Axes", panel: Surface, width: float) -> None:
    from matplotlib.patches import Rectangle

    rows, columns = ([tick_label(value) for value in side] for side in panel.values)
    draw_cells(
        axes,
        panel.tune,
        (rows, columns),
        linear_scale(float(np.nanmin(panel.tune)), float(np.nanmax(panel.tune))),
        write=short_number,
        size=lambda _: setup.FONT - 1.5,
        aspect="auto",
    )
    i, j = panel.chosen
    box = Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=_MARK, linewidth=1.8, zorder=3)
    box.set_clip_on(False)
    axes.add_patch(box)
    axes.set_ylabel(heading(panel.options[0]))
    axes.set_xlabel(heading(panel.options[1]))
    setup.turn_long_ticks(axes, columns, width / len(columns))
    test = "undefined" if panel.test is None else short_number(panel.test)
    axes.set_title(setup.wrap_title(f"{panel.title}\nbox: chosen, test {test}", width + 0.4))
