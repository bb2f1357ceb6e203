"""Curves of an option: agreement on the tuning part, the chosen value, and its test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from nlgauge.figures.alignment_layout import clipped, shown
from nlgauge.figures.bars import PALETTE
from nlgauge.figures.matplotlib_setup import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FONT = 7.0
_SIZE = (3.3, 2.1)  # inches; a column of a two-column paper
_MANY = 12
"""More values than these are not all named below the axis."""
_WIDE = 30
"""Letters of a legend that fit the width of the figure beside five marks."""


@dataclass(frozen=True)
class Line:
    """The numbers of one criterion by value of the option, which was chosen, and its test."""

    name: str
    tune: tuple[float | None, ...]
    chosen: int
    test: float | None


def curve(
    option: str,
    values: Sequence[float | str],
    lines: Sequence[Line],
    *,
    label: str,
    title: str = "",
    logarithmic: bool = False,
) -> Figure:
    """The lines over the values of an option; names and infinities are spaced evenly."""
    measured = all(isinstance(value, int | float) and isfinite(value) for value in values)
    places = [float(v) for v in values] if measured else [float(i) for i in range(len(values))]
    with style(_FONT):
        from matplotlib.figure import Figure

        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.subplots()
        for k, line in enumerate(lines):
            colour, beside = PALETTE[k % len(PALETTE)], _label_beside(line, lines)
            _draw(axes, places, line, colour, beside, alone=len(lines) == 1)
        if measured and logarithmic:
            axes.set_xscale("log")
        if not measured or len(places) <= _MANY:
            axes.set_xticks(places, [_named(value) for value in values])
            axes.minorticks_off()
        axes.set_xlabel(shown(option))
        axes.set_ylabel(shown(label))
        axes.set_title(shown(title) if title else "")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#dddddd", linewidth=0.5)
        axes.set_axisbelow(True)
        axes.margins(y=0.12)
        _explain(figure, axes, several=len(lines) > 1)
    return figure


def _label_beside(line: Line, lines: Sequence[Line]) -> str:
    """Where the number of a test stands, so that those of one chosen value keep apart."""
    others = [o.test for o in lines if o.chosen == line.chosen and o.test is not None]
    if line.test is None or len(others) < 2:
        return "center"
    return {max(others): "bottom", min(others): "top"}.get(line.test, "center")


def _draw(
    axes: Axes, places: Sequence[float], line: Line, colour: str, beside: str, *, alone: bool
) -> None:
    from matplotlib.patheffects import withStroke

    order = sorted(range(len(places)), key=lambda i: places[i])
    numbers = [nan if value is None else value for value in line.tune]
    axes.plot(
        [places[i] for i in order],
        [numbers[i] for i in order],
        color=colour,
        linewidth=1.1,
        marker="o",
        markersize=3,
        label="tune" if alone else clipped(shown(line.name)),
    )
    at = places[line.chosen]
    ring: dict[str, Any] = {"markersize": 7.5, "markerfacecolor": "none", "linestyle": "none"}
    axes.plot([at], [numbers[line.chosen]], "o", markeredgecolor=colour, **ring)
    if line.test is None:
        return
    axes.plot([at, at], [numbers[line.chosen], line.test], ":", color=colour, linewidth=0.8)
    axes.plot([at], [line.test], "D", color=colour, markeredgecolor="black", markersize=4.5)
    text = f"{line.test:.3f}".replace("0.", ".", 1)
    left = at > (min(places) + max(places)) / 2
    axes.annotate(
        text,
        (at, line.test),
        xytext=(-6 if left else 6, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va=beside,
        path_effects=[withStroke(linewidth=2, foreground="white")],
    )


def _explain(figure: Figure, axes: Axes, *, several: bool) -> None:
    """What the marks mean, below the curve."""
    from matplotlib.lines import Line2D

    handles, _ = axes.get_legend_handles_labels()
    grey = "#555555" if several else PALETTE[0]
    handles += [
        Line2D(
            *([], []),
            marker="o",
            markersize=7,
            markerfacecolor="none",
            markeredgecolor=grey,
            linestyle="none",
            label="chosen",
        ),
        Line2D(
            *([], []),
            marker="D",
            markersize=4.5,
            color=grey,
            markeredgecolor="black",
            linestyle="none",
            label="test",
        ),
    ]
    letters = sum(len(str(handle.get_label())) for handle in handles)
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(len(handles), 5 if letters <= _WIDE else 3),
        frameon=False,
        handletextpad=0.4,
        columnspacing=1.2,
    )


def _named(value: float | str) -> str:
    return shown(value) if isinstance(value, str) else f"{value:g}"
