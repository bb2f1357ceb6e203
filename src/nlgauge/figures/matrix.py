"""Heat maps of metrics against metrics: coefficients, and the p-values that matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nlgauge.figures.alignment_layout import clipped, shown
from nlgauge.figures.colours import STOPS, is_dark
from nlgauge.figures.matplotlib_setup import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure

_FONT = 7.0
_CELL = 0.31  # inches; ten metrics fill a column of a two-column paper
_EMPTY = "#f2f2f2"
_LEVELS = (0.001, 0.01, 0.05)
_SHADES = ("#234da0", "#42b6c4", "#d6efb3")  # of the scale of costs: dark is sure
# ColorBrewer's PuOr: orange below nothing, purple above, apart in any kind of colour vision.
_DIVERGING = ("#b35806", "#f1a340", "#fee0b6", "#f7f7f7", "#d8daeb", "#998ec3", "#542788")


@dataclass(frozen=True, eq=False)
class Panel:
    """One square of a figure: names, numbers, what is written and how it is coloured."""

    names: tuple[str, ...]
    values: NDArray[np.float64]
    write: Callable[[float], str]
    graded: bool
    """Whether colours grow with the values; otherwise they are steps of significance."""
    title: str = ""
    across: str = ""
    down: str = ""


def coefficients(names: Sequence[str], values: ArrayLike, *, title: str = "") -> Panel:
    """A panel of coefficients with two decimals."""
    return Panel(tuple(names), np.asarray(values, dtype=np.float64), _decimal, True, title)


def p_values(names: Sequence[str], p: ArrayLike, *, title: str = "p-values") -> Panel:
    """A panel of two-sided p-values, those of .05 and above left empty."""
    values = np.asarray(p, dtype=np.float64)
    kept = np.where(values < _LEVELS[-1], values, np.nan)
    return Panel(tuple(names), kept, _p, False, title)


def directed(names: Sequence[str], p: ArrayLike, *, title: str = "") -> Panel:
    """A panel of one-sided p-values in percent: is the row's metric better than the column's?"""
    values = np.asarray(p, dtype=np.float64)
    return Panel(tuple(names), values, _percent, False, title, "than this", "this is better")


def heat(panels: Sequence[Panel]) -> Figure:
    """The panels side by side."""
    named = [k == 0 or panel.names != panels[k - 1].names for k, panel in enumerate(panels)]
    longest = max(len(clipped(name)) for panel in panels for name in panel.names)
    label = 0.6 * _FONT / 72 * longest
    sizes = [max(len(panel.names) * _CELL, 0.9) for panel in panels]
    wide = sum(sizes) + sum(named) * label + 0.35 * len(panels)
    tall = max(sizes) + label + 0.75
    with style(_FONT):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(wide, tall), layout="constrained")
        grid = figure.subplots(1, len(panels), squeeze=False, width_ratios=sizes)[0]
        for k, (axes, panel) in enumerate(zip(grid, panels, strict=True)):
            _draw(axes, panel)
            if not named[k]:
                axes.set_yticklabels([])
    return figure


def _draw(axes: Axes, panel: Panel) -> None:
    colours, norm = _graded(panel.values) if panel.graded else _stepped()
    n = len(panel.names)
    off_diagonal = np.where(np.eye(n, dtype=bool), np.nan, panel.values)
    axes.imshow(np.ma.masked_invalid(off_diagonal), cmap=colours, norm=norm, aspect="equal")
    axes.set_facecolor("white")
    for i in range(n):
        for j in range(n):
            _write(axes, panel, off_diagonal, (i, j), colours, norm)
    _name(axes, panel)
    if not panel.graded:
        _explain(axes, panel.write is _percent)


def _write(
    axes: Axes,
    panel: Panel,
    values: NDArray[np.float64],
    place: tuple[int, int],
    colours: Colormap,
    norm: Normalize,
) -> None:
    from matplotlib.colors import to_hex
    from matplotlib.patches import Rectangle

    i, j = place
    value = float(values[place])
    if not np.isfinite(value):
        if i == j:
            axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, color=_EMPTY, linewidth=0))
        return
    faint = not panel.graded and value >= _LEVELS[-1]
    ink = "white" if is_dark(to_hex(colours(norm(value)))) else "black"
    size = _FONT - 1 if len(panel.write(value)) < 5 else _FONT - 2
    colour = "#999999" if faint else ink
    axes.text(j, i, panel.write(value), ha="center", va="center", size=size, color=colour)


def _name(axes: Axes, panel: Panel) -> None:
    names = [clipped(shown(name)) for name in panel.names]
    axes.set_xticks(range(len(names)), names, rotation=90)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    edges = np.arange(len(names) + 1) - 0.5
    axes.set_xticks(edges, minor=True)
    axes.set_yticks(edges, minor=True)
    axes.grid(which="minor", color="white", linewidth=0.8)
    axes.tick_params(which="minor", length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(panel.across, style="italic", color="#555555")
    axes.set_ylabel(panel.down, style="italic", color="#555555")
    if panel.title:
        axes.set_title(shown(panel.title), pad=16)


def _explain(axes: Axes, percent: bool) -> None:
    """The three shades of significance, in one line above the panel."""
    from matplotlib.patches import Patch

    limits = [f"{100 * level:g}" if percent else f"{level:g}" for level in _LEVELS]
    names = [f"p<{limit.removeprefix('0')}{'%' if percent else ''}" for limit in limits]
    patches = [Patch(color=shade, label=n) for shade, n in zip(_SHADES, names, strict=True)]
    axes.legend(
        handles=patches,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=3,
        frameon=False,
        fontsize=_FONT - 1,
        handlelength=0.8,
        handletextpad=0.3,
        columnspacing=0.8,
        borderaxespad=0.1,
    )


def _graded(values: NDArray[np.float64]) -> tuple[Colormap, Normalize]:
    """From pale 0 to dark 1, or where a value is negative from orange -1 to purple 1."""
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    if np.nanmin(values, initial=0.0) < 0:
        return LinearSegmentedColormap.from_list("signed", _DIVERGING), Normalize(-1, 1)
    return LinearSegmentedColormap.from_list("positive", STOPS[::-1]), Normalize(0, 1)


def _stepped() -> tuple[Colormap, Normalize]:
    from matplotlib.colors import BoundaryNorm, ListedColormap

    return ListedColormap([*_SHADES, "#ffffff"]), BoundaryNorm([0, *_LEVELS, 1.0001], 4)


def _decimal(value: float) -> str:
    """Two decimals without the leading zero, as papers set them."""
    return f"{value:.2f}".replace("0.", ".", 1)


def _p(value: float) -> str:
    return "<.001" if value < 0.001 else f"{value:.3f}"[1:]


def _percent(value: float) -> str:
    if value < 0.001:
        return "<.1"
    return ">99" if value > 0.99 else f"{100 * value:.1f}" if value < 0.1 else f"{100 * value:.0f}"
