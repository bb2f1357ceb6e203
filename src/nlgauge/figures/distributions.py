"""Distributions of scores by human quality of the texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.figures import matplotlib_setup as setup
from nlgauge.figures.colours import ramp
from nlgauge.figures.labels import legend_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANELS_PER_ROW = 3


@dataclass(frozen=True, eq=False)
class Curve:
    """The scores of one band of quality, and their density on a grid."""

    name: str
    scores: Floats
    places: Floats
    density: Floats
    low: float = -np.inf
    high: float = np.inf
    """The range of the metric, which limits the curve."""

    def within(self) -> tuple[Floats, Floats]:
        """Return grid points within the range, and the density there, reflected at its ends.

        Reflection keeps the curve within the range and avoids a drop at its ends.
        """
        ends = [end for end in (self.low, self.high) if np.isfinite(end)]
        inside = self.places[(self.places >= self.low) & (self.places <= self.high)]
        reached = [end for end in ends if self.places[0] <= end <= self.places[-1]]
        places = np.union1d(inside, np.asarray(reached))
        density = self._at(places)
        for end in ends:
            density = density + self._at(2 * end - places)
        return places, density

    def _at(self, places: Floats) -> Floats:
        """Return the density at any point, with exponential tails beyond the grid."""
        density = np.interp(places, self.places, self.density)
        for end, inner in ((0, 1), (-1, -2)):
            edge, inside = self.density[end], self.density[inner]
            step = self.places[inner] - self.places[end]
            away = (self.places[end] - places) / step
            falling = np.log(inside / edge) if inside > edge > 0 else np.inf
            density[away > 0] = edge * np.exp(-falling * away[away > 0])
        return np.asarray(density, dtype=np.float64)


def distributions(panels: Mapping[str, Sequence[Curve]], *, legend: str = "") -> "Figure":
    """Return a panel for each metric with a density for each band of quality.

    ``legend`` is the title of the legend, such as the human criterion.
    """
    columns = 2 if len(panels) == 4 else min(len(panels), _PANELS_PER_ROW)  # a square, not 3 and 1
    rows = -(-len(panels) // columns)
    width = max(1.9, 2.6 / columns)
    size = (width * columns + 0.2, 1.25 * rows + 0.55)
    with setup.panels(len(panels), columns, size) as (figure, grid):
        for axes, (metric, curves) in zip(grid, panels.items(), strict=True):
            _draw(axes, curves)
            axes.set_title(setup.wrap_title(metric, width))
        handles, _ = grid[0].get_legend_handles_labels()
        title = setup.wrap_title(legend, size[0])
        setup.legend_below(figure, handles, title=title, handlelength=1.0, columnspacing=1.0)
    return figure


def _draw(axes: "Axes", curves: Sequence[Curve]) -> None:
    colours = ramp(len(curves) + 1)[-2::-1] if len(curves) > 1 else ramp(2)[:1]
    for curve, colour in zip(curves, colours, strict=True):
        name = legend_label(curve.name)
        if np.isfinite(curve.density).all():
            places, density = curve.within()
            axes.fill_between(places, density, color=colour, alpha=0.18, linewidth=0)
            axes.plot(places, density, color=colour, linewidth=1.2, label=name)
        elif curve.scores.size:  # all scores are equal
            axes.axvline(float(curve.scores[0]), color=colour, linewidth=1.2, label=name)
        if curve.scores.size:
            mean = float(curve.scores.mean())
            axes.plot([mean], [0], marker="^", color=colour, markersize=4, clip_on=False)
    axes.set_ylim(bottom=0)
    axes.set_yticks([])
    setup.plain_axes(axes, "top", "right", "left")
