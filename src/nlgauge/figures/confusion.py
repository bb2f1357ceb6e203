"""Confusion matrix of a judge's labels and people's labels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.figures import matplotlib_setup as setup
from nlgauge.figures.heat_map import draw_cells, linear_scale
from nlgauge.figures.labels import heading, short_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CELL_INCHES = 0.36
_MIN_INCHES = 1.3  # two labels with the names of both axes


def confusion(labels: Sequence[str], counts: ArrayLike, *, across: str, down: str) -> "Figure":
    """Return counts of pairs of labels, darker where they are more frequent."""
    values = np.asarray(counts, dtype=np.float64)
    names = list(map(short_label, labels))
    longest = setup.text_inches(names)
    side = max(len(names) * _CELL_INCHES, _MIN_INCHES)
    with setup.panels(1, 1, (side + longest + 0.5, side + 0.5)) as (figure, (axes,)):
        draw_cells(
            axes,
            values,
            (names, names),
            linear_scale(0, max(float(values.max(initial=0)), 1.0)),
            write=lambda count: f"{count:,.0f}",
            size=lambda text: setup.FONT * min(1, 4 / len(text)),
        )
        setup.turn_long_ticks(axes, names, side / len(names))
        axes.set_xlabel(heading(across))
        axes.set_ylabel(heading(down))
    return figure
