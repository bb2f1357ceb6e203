"""Curves over the values of an option: agreement on the tuning part, and the test result."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from nlgauge.figures import matplotlib_setup as setup
from nlgauge.figures.colours import PALETTE
from nlgauge.figures.labels import heading, legend_label, short_number, tick_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 2.5, 1.2  # inches; the axes without labels
_MAX_TICKS = 12
_RING: dict[str, Any] = {"marker": "o", "markersize": 7.5, "markerfacecolor": "none"}
_DIAMOND: dict[str, Any] = {"marker": "D", "markersize": 4.5, "markeredgecolor": "black"}


@dataclass(frozen=True)
class Line:
    """The results of one criterion by value of the option, the chosen index, and its test."""

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
) -> "Figure":
    """Return the lines over the values of an option; names and infinities are spaced evenly."""
    numeric = all(isinstance(value, int | float) and isfinite(value) for value in values)
    places = [float(v) for v in values] if numeric else [float(i) for i in range(len(values))]
    with setup.panels(1, 1, setup.COLUMN_SIZE) as (figure, (axes,)):
        for k, line in enumerate(lines):
            name = "tune" if len(lines) == 1 else legend_label(line.name)
            _draw(axes, places, line, name, PALETTE[k % len(PALETTE)])
        if numeric and logarithmic:
            axes.set_xscale("log")
        if not numeric or len(places) <= _MAX_TICKS:
            names = [tick_label(value) for value in values]
            axes.set_xticks(places, names)
            axes.minorticks_off()
            gaps = np.diff(np.sort(np.log(places) if axes.get_xscale() == "log" else places))
            share = gaps.min() / gaps.sum() if len(gaps) else 1.0
            setup.turn_long_ticks(axes, names, share * _WIDTH)
        axes.set_xlabel(heading(option))
        axes.set_ylabel(heading(label))
        axes.set_title(setup.wrap_title(title, setup.COLUMN_SIZE[0]))
        setup.plain_axes(axes, "top", "right", grid="y")
        axes.margins(y=0.12)
        _separate_numbers(axes)
        _add_legend(figure, axes, "#555555" if len(lines) > 1 else PALETTE[0])
    return figure


def _draw(axes: "Axes", places: Sequence[float], line: Line, name: str, colour: str) -> None:
    from matplotlib.patheffects import withStroke

    numbers = [nan if value is None else value for value in line.tune]
    xs, ys = zip(*sorted(zip(places, numbers, strict=True), key=lambda pair: pair[0]), strict=True)
    axes.plot(xs, ys, color=colour, linewidth=1.1, marker="o", markersize=3, label=name)
    at, tuned = places[line.chosen], numbers[line.chosen]
    axes.plot([at], [tuned], linestyle="none", markeredgecolor=colour, **_RING)
    if line.test is None:
        return
    axes.plot([at, at], [tuned, line.test], ":", color=colour, linewidth=0.8)
    axes.plot([at], [line.test], linestyle="none", color=colour, **_DIAMOND)
    label_on_left = at > (min(places) + max(places)) / 2
    axes.annotate(
        short_number(line.test),
        (at, line.test),
        xytext=(-6 if label_on_left else 6, 0),
        textcoords="offset points",
        ha="right" if label_on_left else "left",
        va="center",
        path_effects=[withStroke(linewidth=2, foreground="white")],
    )


def _add_legend(figure: "Figure", axes: "Axes", colour: str) -> None:
    from matplotlib.lines import Line2D

    handles, _ = axes.get_legend_handles_labels()
    styles = {"chosen": {**_RING, "markeredgecolor": colour}, "test": {**_DIAMOND, "color": colour}}
    handles += [
        Line2D([], [], linestyle="none", label=name, **style) for name, style in styles.items()
    ]
    setup.legend_below(figure, handles, handletextpad=0.4, columnspacing=1.2)


def _separate_numbers(axes: "Axes") -> None:
    """Move the numbers of test results at the same value of the option apart."""
    low, high = axes.get_ylim()
    numbers: list[Any] = sorted(axes.texts, key=lambda text: text.xy)
    for _, same in groupby(numbers, key=lambda text: text.xy[0]):
        group = list(same)
        heights = np.array([text.xy[1] for text in group]) / (high - low) * _HEIGHT * 72
        lines = (setup.FONT + 1) * np.arange(len(group))
        shifts = np.maximum.accumulate(heights - lines) + lines - heights
        for text, shift in zip(group, shifts - shifts.mean(), strict=True):
            text.xyann = (text.xyann[0], shift)
