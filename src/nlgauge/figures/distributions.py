"""Distributions of scores by human quality of the texts."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nlgauge.core.quality_band import QualityBand
from nlgauge.figures import matplotlib_setup as setup
from nlgauge.figures.colours import ramp
from nlgauge.figures.labels import legend_label, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def distributions(panels: Mapping[str, Sequence[QualityBand]], *, legend: str = "") -> "Figure":
    """Return a panel for each metric with a density for each band of quality.

    ``legend`` is the title of the legend, such as the human criterion.
    """
    columns = (
        2 if len(panels) == 4 else min(len(panels), setup.PANELS_PER_ROW)
    )  # a square, not 3 and 1
    rows = -(-len(panels) // columns)
    width = max(1.9, 2.6 / columns)
    size = (width * columns + 0.2, 1.25 * rows + 0.55)
    with setup.panels(len(panels), columns, size) as (figure, grid):
        for axes, (metric, bands) in zip(grid, panels.items(), strict=True):
            _draw(axes, bands)
            axes.set_title(setup.wrap_title(printable(metric), width))
        handles, _ = grid[0].get_legend_handles_labels()
        title = setup.wrap_title(legend, size[0])
        setup.legend_below(figure, handles, title=title, handlelength=1.0, columnspacing=1.0)
    return figure


def _draw(axes: "Axes", bands: Sequence[QualityBand]) -> None:
    colours = ramp(len(bands) + 1)[-2::-1] if len(bands) > 1 else ramp(2)[:1]
    for band, colour in zip(bands, colours, strict=True):
        name = legend_label(band.name)
        if np.isfinite(band.density).all():
            places, density = band.within()
            axes.fill_between(places, density, color=colour, alpha=0.18, linewidth=0)
            axes.plot(places, density, color=colour, linewidth=1.2, label=name)
        elif band.scores.size:  # all scores are equal
            axes.axvline(float(band.scores[0]), color=colour, linewidth=1.2, label=name)
        if band.scores.size:
            mean = float(band.scores.mean())
            axes.plot([mean], [0], marker="^", color=colour, markersize=4, clip_on=False)
    axes.set_ylim(bottom=0)
    axes.set_yticks([])
    setup.plain_axes(axes, "top", "right", "left")
