"""Cells of a heat map: coloured, with their numbers and names."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.figures.colours import STOPS, is_dark
from nlgauge.figures.matplotlib_setup import plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize

Scale = tuple["Colormap", "Normalize"]


def linear_scale(low: float, high: float, stops: Sequence[str] = STOPS[::-1]) -> Scale:
    """Return colours that change evenly from ``low`` to ``high``."""
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    return LinearSegmentedColormap.from_list("linear", stops), Normalize(low, high, clip=True)


def draw_cells(
    axes: "Axes",
    values: Floats,
    names: tuple[Sequence[str], Sequence[str]],
    scale: Scale,
    *,
    write: Callable[[float], str],
    size: Callable[[str], float],
    faint: float = np.inf,
    aspect: Literal["equal", "auto"] = "equal",
) -> None:
    """Draw the finite values; numbers of at least ``faint`` are grey."""
    from matplotlib.colors import to_hex

    colours, norm = scale
    axes.imshow(np.ma.masked_invalid(values), cmap=colours, norm=norm, aspect=aspect)
    for (i, j), value in np.ndenumerate(values):
        if np.isfinite(value):
            contrast = "white" if is_dark(to_hex(colours(norm(float(value))))) else "black"
            colour = "#999999" if value >= faint else contrast
            text = write(float(value))
            axes.text(j, i, text, ha="center", va="center", size=size(text), color=colour)
    axes.set_yticks(range(len(names[0])), names[0])
    axes.set_xticks(range(len(names[1])), names[1])
    axes.tick_params(length=0)
    plain_axes(axes, "top", "right", "bottom", "left")
