"""Figures of alignments: bands between two columns of tokens, and a grid of costs and masses."""

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

from nlgauge.core.plan import Plan
from nlgauge.figures import alignment_layout, matplotlib_setup
from nlgauge.figures.alignment_layout import Band, Kind, Node, is_special, labels, number
from nlgauge.figures.colours import STOPS
from nlgauge.figures.heat_map import Scale, linear_scale
from nlgauge.figures.labels import printable, shorten
from nlgauge.figures.matplotlib_setup import text_inches

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import PathPatch

_GREY, _BAR = "#999999", "#444444"
_COLUMN_INCHES = 2.7  # a column of a two-column paper without the colour bar
_NODE_WIDTH = 0.025  # width of a token's bar, relative to the length of the bands
_MAX_NUMBERED_TOKENS = 16  # circles have numbers if each side has at most this many tokens


def draw_alignment(plan: Plan, kind: Kind = "both", *, title: str | None = None) -> "Figure":
    """Return a drawing of the plan.

    ``"flow"`` joins two columns of tokens by bands; their width is the mass moved, their colour the
    cost. ``"heatmap"`` is a grid of costs with circles; their area is the mass moved.
    """
    many = max(plan.coupling.shape) > 30
    font_size = 6 if many else 8
    flow, grid = _sizes(plan, 0.15 if many else 0.24, font_size)
    sizes = {"flow": [flow], "heatmap": [grid], "both": [flow, grid]}[kind]
    width = sum(total for _, total, _ in sizes) + 0.6
    # matplotlib's own wrapping interprets dollar signs as mathematics
    heading = fill(printable(title), width=int(12 * width)) if title else ""
    height = max(high for _, _, high in sizes) + 0.2 * len(heading.splitlines())
    ratios = [inner for inner, _, _ in sizes]
    size, count = (width, max(height, 0.9)), len(sizes)
    with matplotlib_setup.panels(count, count, size, font_size=font_size, width_ratios=ratios) as (
        figure,
        axes,
    ):
        from matplotlib.cm import ScalarMappable

        scale = linear_scale(0, alignment_layout.highest_cost(plan), STOPS)
        if kind != "heatmap":
            _draw_flow(axes[0], plan, scale)
        if kind != "flow":
            _draw_heatmap(axes[-1], plan, scale)
        shrink = min(1.0, 3 / figure.get_figheight())
        bar: dict[str, Any] = {"pad": 0.02, "aspect": 25, "anchor": (0.0, 1.0), "panchor": False}
        shades = ScalarMappable(scale[1], scale[0])
        figure.colorbar(shades, ax=axes, label="cost", shrink=shrink, **bar)
        if heading:
            figure.suptitle(heading)
    return figure


def _sizes(plan: Plan, cell: float, font_size: float) -> list[tuple[float, float, float]]:
    """Return inner width, total width and height in inches of the bands and of the grid.

    Bands fill the width of a column of a paper, or more if they would be too steep.
    """
    rows, columns = plan.coupling.shape
    left, right = (text_inches(map(shorten, side), font_size) for side in labels(plan))
    bands = max(_COLUMN_INCHES - left - right, 1.2, 0.05 * max(rows, columns))
    grid = max(columns * cell, 0.7)
    return [
        (bands, left + bands + right, max(rows, columns) * cell + 0.4),
        (grid, left + grid + 0.4, rows * cell + right + 0.5),
    ]


def _draw_flow(axes: "Axes", plan: Plan, scale: Scale) -> None:
    colours, norm = scale
    layout = alignment_layout.layout(plan)
    strongest = max((band.flow.mass for band in layout.bands), default=1.0)
    for band in layout.bands:
        patch = _ribbon(band)
        alpha = 0.6 + 0.3 * band.flow.mass / strongest
        patch.set(color=colours(norm(band.flow.cost)), linewidth=0.3, alpha=alpha)
        axes.add_patch(patch)
    _draw_column(axes, layout.candidate, inner=0.0, outwards=-1)
    _draw_column(axes, layout.reference, inner=1.0, outwards=1)
    for x, side, heading in ((0.0, "right", "candidate"), (1.0, "left", "reference")):
        axes.text(x, -0.01, heading, ha=side, va="bottom", style="italic", color="#555555")
    axes.set(xlim=(-_NODE_WIDTH, 1 + _NODE_WIDTH), ylim=(1.0, 0.0))
    axes.set_axis_off()


def _ribbon(band: Band) -> "PathPatch":
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    (top, bottom), (far_top, far_bottom) = band.left, band.right
    points = [(0, top), (0.5, top), (0.5, far_top), (1, far_top)]
    points += [(1, far_bottom), (0.5, far_bottom), (0.5, bottom), (0, bottom), (0, top)]
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    return PathPatch(Path(points, codes), label="band")


def _draw_column(axes: "Axes", nodes: Sequence[Node], *, inner: float, outwards: int) -> None:
    """Draw labels and bars: the outline shows the mass of a token, the filled part is moved."""
    left = inner if outwards > 0 else inner - _NODE_WIDTH
    centres = [node.centre for node in nodes]
    axes.barh(centres, _NODE_WIDTH, [n.moved for n in nodes], left=left, color=_BAR, clip_on=False)
    outline: dict[str, Any] = {"height": [node.own for node in nodes], "color": "none", "lw": 0.5}
    axes.barh(centres, _NODE_WIDTH, left=left, edgecolor=_BAR, clip_on=False, **outline)
    for node in nodes:
        axes.text(
            inner + outwards * 2.2 * _NODE_WIDTH,
            node.centre,
            shorten(node.label),
            ha="left" if outwards > 0 else "right",
            va="center_baseline",
            color=_GREY if node.special else "black",
        )


def _draw_heatmap(axes: "Axes", plan: Plan, scale: Scale) -> None:
    from matplotlib.collections import EllipseCollection

    colours, norm = scale
    flows = alignment_layout.visible_flows(plan)
    axes.imshow(plan.cost, cmap=colours, norm=norm, aspect="equal")
    axes.set_anchor("N")
    diameters = [0.92 * (flow.mass / flows[0].mass) ** 0.5 for flow in flows]
    offsets = [(flow.reference, flow.candidate) for flow in flows]
    style: dict[str, Any] = {"units": "xy", "offsets": offsets, "offset_transform": axes.transData}
    style |= {"facecolors": "white", "edgecolors": "#222222", "linewidths": 0.4, "alpha": 0.9}
    axes.add_collection(EllipseCollection(diameters, diameters, [0.0] * len(flows), **style))
    for flow, diameter in zip(flows, diameters, strict=True):
        if diameter > 0.75 and max(plan.cost.shape) <= _MAX_NUMBERED_TOKENS:
            text = number(flow.mass)
            axes.text(flow.reference, flow.candidate, text, ha="center", va="center", size=5)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.tick_params("x", rotation=90)
    axis_names = ("candidate", axes.yaxis), ("reference", axes.xaxis)
    for tokens, (side, axis) in zip(labels(plan), axis_names, strict=True):
        axis.set_ticks(range(len(tokens)), [shorten(token) for token in tokens])
        axis.set_label_text(side, style="italic", color="#555555")
        for tick, token in zip(axis.get_ticklabels(), tokens, strict=True):
            tick.set_color(_GREY if is_special(token) else "black")
