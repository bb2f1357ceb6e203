"""Heat maps of metrics against metrics: coefficients and p-values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.figures import matplotlib_setup as setup
from nlgauge.figures.colours import DIVERGING
from nlgauge.figures.heat_map import Scale, draw_cells, linear_scale
from nlgauge.figures.labels import printable, short_label, short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CELL_INCHES = 0.31  # ten metrics fill a column of a two-column paper
_LEVELS = (0.001, 0.01, 0.05)
_SHADES = ("#234da0", "#42b6c4", "#d6efb3")


@dataclass(frozen=True, eq=False)
class Panel:
    """A panel of a figure: names, values and their text."""

    names: tuple[str, ...]
    values: Floats
    write: Callable[[float], str]
    p_values: bool
    """Whether colours show levels of significance instead of values."""
    title: str = ""
    across: str = ""
    down: str = ""


def coefficients(names: Sequence[str], values: ArrayLike, *, title: str = "") -> Panel:
    """Return a panel of coefficients with two decimals."""
    array = np.asarray(values, dtype=np.float64)
    return Panel(tuple(names), array, lambda value: short_number(value, ".2f"), False, title)


def p_values(names: Sequence[str], p: ArrayLike, *, title: str = "p-values") -> Panel:
    """Return a panel of two-sided p-values; those of .05 and above are left empty."""
    values = np.asarray(p, dtype=np.float64)
    significant = np.where(values < _LEVELS[-1], values, np.nan)
    return Panel(tuple(names), significant, _p, True, title)


def directed(names: Sequence[str], p: ArrayLike, *, title: str = "") -> Panel:
    """Return a panel of one-sided p-values for "the row's metric is better"."""
    values = np.asarray(p, dtype=np.float64)
    return Panel(tuple(names), values, _p, True, title, "than this", "this is better")


def heat(panels: Sequence[Panel]) -> "Figure":
    """Return the panels side by side."""
    shows_names = [k == 0 or panel.names != panels[k - 1].names for k, panel in enumerate(panels)]
    label = setup.text_inches(short_label(name) for panel in panels for name in panel.names)
    sizes = [max(len(panel.names) * _CELL_INCHES, 0.9) for panel in panels]
    size = (sum(sizes) + sum(shows_names) * label + 0.35 * len(panels), max(sizes) + label + 0.75)
    with setup.panels(len(panels), len(panels), size, width_ratios=sizes) as (figure, grid):
        for axes, panel, width, with_names in zip(grid, panels, sizes, shows_names, strict=True):
            _draw(axes, panel)
            if panel.title:
                axes.set_title(setup.wrap_title(printable(panel.title), width + 0.35), pad=16)
            if not with_names:
                axes.set_yticklabels([])
    return figure


def _draw(axes: "Axes", panel: Panel) -> None:
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Rectangle

    scale: Scale = linear_scale(0, 1)
    if panel.p_values:
        scale = ListedColormap([*_SHADES, "#ffffff"]), BoundaryNorm([0, *_LEVELS, 1.0001], 4)
    elif np.nanmin(panel.values, initial=0.0) < 0:
        scale = linear_scale(-1, 1, DIVERGING)
    n = len(panel.names)
    names = list(map(short_label, panel.names))
    off_diagonal = np.where(np.eye(n, dtype=bool), np.nan, panel.values)
    draw_cells(
        axes,
        off_diagonal,
        (names, names),
        scale,
        write=panel.write,
        size=lambda text: setup.FONT - (1 if len(text) < 5 else 2),
        faint=_LEVELS[-1] if panel.p_values else np.inf,
    )
    for i in range(n):
        axes.add_patch(Rectangle((i - 0.5, i - 0.5), 1, 1, color="#f2f2f2", linewidth=0))
    axes.tick_params("x", rotation=90)
    edges = np.arange(n + 1) - 0.5
    axes.set_xticks(edges, minor=True)
    axes.set_yticks(edges, minor=True)
    axes.grid(which="minor", color="white", linewidth=0.8)
    axes.tick_params(which="minor", length=0)
    axes.set_xlabel(panel.across, style="italic", color="#555555")
    axes.set_ylabel(panel.down, style="italic", color="#555555")
    if panel.p_values:
        _add_legend(axes)


def _add_legend(axes: "Axes") -> None:
    """Add the three shades of significance, in one line above the panel."""
    from matplotlib.patches import Patch

    names = [f"p<{level:g}".replace("0.", ".") for level in _LEVELS]
    patches = [Patch(color=shade, label=name) for shade, name in zip(_SHADES, names, strict=True)]
    style: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 3}
    style |= {"handlelength": 0.8, "handletextpad": 0.3, "columnspacing": 0.8}
    style |= {"borderaxespad": 0.1, "frameon": False, "fontsize": setup.FONT - 1}
    axes.legend(handles=patches, **style)


def _p(value: float) -> str:
    return "<.001" if value < 0.001 else short_number(value)
