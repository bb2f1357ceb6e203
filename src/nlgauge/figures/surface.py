"""A surface over two options: agreement on the tuning part as a heat map, the choice marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nlgauge.figures.alignment_layout import shown
from nlgauge.figures.colours import STOPS, is_dark
from nlgauge.figures.matplotlib_setup import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FONT = 7.0
_CELL = 0.32  # inches; nine values fill a column of a two-column paper
_LEAST = 1.5
_MARK = "#d55e00"
_ACROSS = 3


@dataclass(frozen=True, eq=False)
class Surface:
    """Numbers over the values of two options, the place that was chosen, and its test."""

    title: str
    options: tuple[str, str]
    """The option that runs downwards, and the one that runs to the right."""
    values: tuple[Sequence[float | str], Sequence[float | str]]
    tune: NDArray[np.float64]
    chosen: tuple[int, int]
    test: float | None


def surfaces(panels: Sequence[Surface]) -> Figure:
    """The panels, up to three in a row; colours span each panel's own numbers."""
    rows, columns = panels[0].tune.shape
    across = min(len(panels), _ACROSS)
    down = ceil(len(panels) / across)
    names = max(len(_named(value)) for value in panels[0].values[0])
    wide = max(columns * _CELL, _LEAST) + 0.07 * names + 0.4
    tall = max(rows * _CELL, 0.7) + 0.8
    with style(_FONT):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(across * wide, down * tall), layout="constrained")
        grid = figure.subplots(down, across, squeeze=False).ravel()
        for axes, panel in zip(grid, panels, strict=False):
            _draw(axes, panel)
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
    return figure


def _draw(axes: Axes, panel: Surface) -> None:
    from matplotlib.colors import LinearSegmentedColormap, Normalize, to_hex
    from matplotlib.patches import Rectangle

    colours = LinearSegmentedColormap.from_list("surface", STOPS[::-1])
    defined = panel.tune[np.isfinite(panel.tune)]
    norm = Normalize(float(defined.min()), float(defined.max()))
    axes.imshow(np.ma.masked_invalid(panel.tune), cmap=colours, norm=norm, aspect="auto")
    for (i, j), value in np.ndenumerate(panel.tune):
        if np.isfinite(value):
            ink = "white" if is_dark(to_hex(colours(norm(value)))) else "black"
            text = f"{value:.3f}".replace("0.", ".", 1)
            axes.text(j, i, text, ha="center", va="center", size=_FONT - 1.5, color=ink)
    i, j = panel.chosen
    box: dict[str, Any] = {"fill": False, "edgecolor": _MARK, "linewidth": 1.8, "clip_on": False}
    axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, zorder=3, **box))
    down, right = panel.options
    axes.set_yticks(range(len(panel.values[0])), [_named(value) for value in panel.values[0]])
    axes.set_xticks(range(len(panel.values[1])), [_named(value) for value in panel.values[1]])
    axes.set_ylabel(shown(down))
    axes.set_xlabel(shown(right))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(_titled(panel))


def _titled(panel: Surface) -> str:
    tested = "undefined" if panel.test is None else f"{panel.test:.3f}".replace("0.", ".", 1)
    lines = [shown(line) for line in panel.title.split("\n")]
    return "\n".join([*lines, f"box: chosen, test {tested}"])


def _named(value: float | str) -> str:
    return shown(value) if isinstance(value, str) else f"{value:g}"
