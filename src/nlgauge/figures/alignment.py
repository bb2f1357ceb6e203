"""Pictures of a plan: bands between two columns of tokens, and costs with masses on a grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING

from rich.cells import cell_len

from nlgauge.core.plan import Plan
from nlgauge.figures.alignment_layout import (
    Band,
    Kind,
    Node,
    clipped,
    dearest,
    flows,
    is_special,
    labels,
    number,
    shown,
    stage,
)
from nlgauge.figures.colours import STOPS
from nlgauge.figures.matplotlib_setup import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure
    from matplotlib.patches import PathPatch

_GREY = "#999999"
_COLUMN = 2.7  # inches: a column of a two-column paper without the scale of colours
_NODE = 0.025  # width of a token's bar, where the bands are 1 long
_NUMBERED = 16  # tokens a side may have for the circles to carry numbers


def flow(plan: Plan, *, title: str | None = None) -> Figure:
    """Two columns of tokens joined by bands: as wide as the mass moved, coloured by its cost."""
    return _figure(plan, "flow", title)


def heatmap(plan: Plan, *, title: str | None = None) -> Figure:
    """A grid of tokens: the background is the cost, the area of a circle the mass moved."""
    return _figure(plan, "heatmap", title)


def both(plan: Plan, *, title: str | None = None) -> Figure:
    """The bands and, beside them, the grid, with one scale of colours."""
    return _figure(plan, "both", title)


@dataclass(frozen=True)
class _Sheet:
    """How large a drawing gets, in inches: its inner part, and all with the labels around it."""

    inner: float
    width: float
    height: float


def _sheets(plan: Plan, cell: float, font_size: float) -> dict[str, _Sheet]:
    """The sheet of each drawing, where a token takes ``cell``.

    Bands fill a column of a paper, or more where they are so many that they would be too steep.
    """
    rows, columns = plan.coupling.shape
    letter = 0.62 * font_size / 72
    left, right = (letter * max(cell_len(clipped(x)) for x in side) for side in labels(plan))
    reach = max(_COLUMN - left - right, 1.2, 0.05 * max(rows, columns))
    grid = max(columns * cell, 0.7)
    return {
        "flow": _Sheet(reach, left + reach + right, max(rows, columns) * cell + 0.4),
        "heatmap": _Sheet(grid, left + grid + 0.4, rows * cell + right + 0.5),
    }


def _figure(plan: Plan, kind: Kind, title: str | None) -> Figure:
    many = max(plan.coupling.shape) > 30
    font_size = 6 if many else 8
    sheets = _sheets(plan, 0.15 if many else 0.24, font_size)
    wanted = [sheets[name] for name in sheets if kind in {name, "both"}]
    width = sum(sheet.width for sheet in wanted) + 0.6
    # matplotlib's own wrapping reads dollar signs as mathematics
    heading = fill(shown(title), width=int(12 * width)) if title else ""
    height = max(sheet.height for sheet in wanted) + 0.2 * len(heading.splitlines())
    with style(font_size):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, max(height, 0.9)), layout="constrained")
        ratios = [sheet.inner for sheet in wanted]
        grid = figure.subplots(1, len(wanted), squeeze=False, width_ratios=ratios)[0]
        if kind != "heatmap":
            _draw_flow(grid[0], plan)
        if kind != "flow":
            _draw_heatmap(grid[-1], plan)
        _draw_scale(figure, list(grid), plan)
        if heading:
            figure.suptitle(heading)
    return figure


def _draw_scale(figure: Figure, beside: list[Axes], plan: Plan) -> None:
    from matplotlib.cm import ScalarMappable

    colours, norm = _scale(plan)
    figure.colorbar(
        ScalarMappable(norm, colours),
        ax=beside,
        label="cost",
        pad=0.02,
        shrink=min(1.0, 3 / figure.get_figheight()),
        aspect=25,
        anchor=(0.0, 1.0),
        panchor=False,
    )


def _scale(plan: Plan) -> tuple[Colormap, Normalize]:
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    colours = LinearSegmentedColormap.from_list("cost", STOPS)
    return colours, Normalize(0, dearest(plan), clip=True)


def _draw_flow(axes: Axes, plan: Plan) -> None:
    scene, (colours, norm) = stage(plan), _scale(plan)
    strongest = max((band.flow.mass for band in scene.bands), default=1.0)
    for band in scene.bands:
        share = band.flow.mass / strongest
        patch = _ribbon(band)
        patch.set(color=colours(norm(band.flow.cost)), linewidth=0.3, alpha=0.6 + 0.3 * share)
        axes.add_patch(patch)
    _draw_column(axes, scene.candidate, inner=0.0, outwards=-1)
    _draw_column(axes, scene.reference, inner=1.0, outwards=1)
    for x, side, heading in ((0.0, "right", "candidate"), (1.0, "left", "reference")):
        axes.text(x, -0.01, heading, ha=side, va="bottom", style="italic", color="#555555")
    axes.set(xlim=(-_NODE, 1 + _NODE), ylim=(1.0, 0.0))
    axes.set_axis_off()


def _ribbon(band: Band) -> PathPatch:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    (top, bottom), (far_top, far_bottom) = band.left, band.right
    points = [(0, top), (0.5, top), (0.5, far_top), (1, far_top)]
    points += [(1, far_bottom), (0.5, far_bottom), (0.5, bottom), (0, bottom), (0, top)]
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    return PathPatch(Path(points, codes), label="band")


def _draw_column(axes: Axes, nodes: Sequence[Node], *, inner: float, outwards: int) -> None:
    """Bars and labels of one side; a bar's outline is the token's mass, its filling what moved."""
    left = inner if outwards > 0 else inner - _NODE
    middles = [node.centre for node in nodes]
    inks = [_GREY if node.special else "black" for node in nodes]
    axes.barh(middles, _NODE, [n.moved for n in nodes], left=left, color="#444444", clip_on=False)
    axes.barh(
        middles,
        _NODE,
        [node.own for node in nodes],
        left=left,
        color="none",
        edgecolor="#444444",
        linewidth=0.5,
        clip_on=False,
    )
    for node, ink in zip(nodes, inks, strict=True):
        axes.text(
            inner + outwards * 2.2 * _NODE,
            node.centre,
            clipped(node.label),
            ha="left" if outwards > 0 else "right",
            va="center_baseline",
            color=ink,
        )


def _draw_heatmap(axes: Axes, plan: Plan) -> None:
    from matplotlib.collections import EllipseCollection

    (colours, norm), seen = _scale(plan), flows(plan)
    axes.imshow(plan.cost, cmap=colours, norm=norm, aspect="equal")
    axes.set_anchor("N")
    strongest = max((flow.mass for flow in seen), default=1.0)
    across = [0.92 * (flow.mass / strongest) ** 0.5 for flow in seen]
    circles = EllipseCollection(
        across,
        across,
        [0.0] * len(seen),
        units="xy",
        offsets=[(flow.reference, flow.candidate) for flow in seen],
        offset_transform=axes.transData,
        facecolors="white",
        edgecolors="#222222",
        linewidths=0.4,
        alpha=0.9,
    )
    axes.add_collection(circles)
    if max(plan.cost.shape) <= _NUMBERED:
        for flow, wide in zip(seen, across, strict=True):
            if wide > 0.75:
                place = (flow.reference, flow.candidate)
                axes.text(*place, number(flow.mass), ha="center", va="center", size=5)
    _name_axes(axes, plan)


def _name_axes(axes: Axes, plan: Plan) -> None:
    candidate, reference = labels(plan)
    axes.set_yticks(range(len(candidate)), [clipped(label) for label in candidate])
    axes.set_xticks(range(len(reference)), [clipped(label) for label in reference])
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.tick_params("x", rotation=90)
    axes.set_xlabel("reference", style="italic", color="#555555")
    axes.set_ylabel("candidate", style="italic", color="#555555")
    sides = ((axes.get_yticklabels(), candidate), (axes.get_xticklabels(), reference))
    for texts, names in sides:
        for text, name in zip(texts, names, strict=True):
            text.set_color(_GREY if is_special(name) else "black")


DRAWINGS: Mapping[Kind, Callable[..., Figure]] = {"flow": flow, "heatmap": heatmap, "both": both}
