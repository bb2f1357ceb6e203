"""Curves and surfaces of option values: their points, axes and labels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from drawn_texts import overlapping_texts
from nlgauge.figures.curve import Line, curve
from nlgauge.figures.matplotlib_setup import save
from nlgauge.figures.surface import Surface, surfaces


def ticks(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_xticklabels()]


def test_a_curve_has_every_value_the_choice_and_its_test(tmp_path: Path) -> None:
    line = Line("da", (0.5, 0.7, None, 0.6), 1, 0.65)
    figure = curve("layer", [0, 2, 4, 6], [line], label="pearson", title="a $metric$")
    (axes,) = figure.axes
    tuned = axes.lines[0]
    np.testing.assert_array_equal(tuned.get_ydata(), [0.5, 0.7, np.nan, 0.6])
    assert [text.get_text() for text in axes.texts] == [".650"]
    diamonds = [drawn for drawn in axes.lines if drawn.get_marker() == "D"]
    assert [(d.get_xdata()[0], d.get_ydata()[0]) for d in diamonds] == [(2.0, 0.65)]
    assert ticks(axes) == ["0", "2", "4", "6"]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["tune", "chosen", "test"]
    save(figure, tmp_path / "c.svg")
    assert "a $metric$" in (tmp_path / "c.svg").read_text("utf-8")


def test_equal_factors_get_a_logarithmic_axis_and_names_an_even_one() -> None:
    line = Line("da", (0.5, 0.7, 0.6), 0, None)
    log = curve("penalty", [0.1, 1, 10], [line], label="r", logarithmic=True).axes[0]
    assert log.get_xscale() == "log"
    assert ticks(log) == ["0.1", "1", "10"]
    named = curve("weights", ["uniform", 1, float("inf")], [line], label="r", logarithmic=True)
    assert named.axes[0].get_xscale() == "linear"
    assert ticks(named.axes[0]) == ["uniform", "1", "inf"]
    assert len(named.axes[0].texts) == 0  # no test, no number


def test_unsorted_values_are_joined_in_sorted_order() -> None:
    axes = curve("x", [3, 1, 2], [Line("da", (0.3, 0.1, 0.2), 0, 0.3)], label="r").axes[0]
    assert list(axes.lines[0].get_xdata()) == [1, 2, 3]
    assert list(axes.lines[0].get_ydata()) == [0.1, 0.2, 0.3]


def test_criteria_have_different_colours() -> None:
    lines = [Line(name, (0.5, 0.6), 1, 0.5) for name in ("fluency", "adequacy")]
    figure = curve("x", [1, 2], lines, label="r")
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["fluency", "adequacy", "chosen", "test"]
    colours = {drawn.get_color() for drawn in figure.axes[0].lines if drawn.get_marker() == "D"}
    assert len(colours) == 2


def test_a_surface_writes_every_number_and_boxes_the_choice() -> None:
    tune = np.array([[0.1, 0.2, np.nan], [0.3, -0.4, 0.5]])
    panel = Surface("m, da\npearson", ("a", "b"), ([1, 2], [0.5, 1, "inf"]), tune, (1, 2), 0.45)
    (axes,) = surfaces([panel]).axes
    texts = [text.get_text() for text in axes.texts]
    assert texts == [".100", ".200", ".300", "-.400", ".500"]
    (box,) = axes.patches
    assert box.get_xy() == (1.5, 0.5)
    assert axes.get_title() == "m, da\npearson\nbox: chosen, test .450"
    assert ticks(axes) == ["0.5", "1", "inf"]
    assert axes.get_ylabel() == "a"


def test_four_surfaces_take_two_rows_and_may_be_flat() -> None:
    flat = np.full((2, 2), 0.3)
    panels = [Surface(f"{k}", ("a", "b"), ([1, 2], [1, 2]), flat, (0, 0), None) for k in range(4)]
    figure = surfaces(panels)
    assert sum(axes.axison for axes in figure.axes) == 4
    assert figure.axes[0].get_title().endswith("test undefined")


def test_equal_test_results_and_long_values_do_not_overlap() -> None:
    lines = [Line(f"criterion {k}", (0.2, 0.5, 0.9), 1, 0.45 + k / 1000) for k in range(4)]
    figure = curve("penalty", [0.1, 1, 10], lines, label="r", logarithmic=True)
    assert len(figure.axes[0].texts) == 4
    assert overlapping_texts(figure) == []
    names = [f"a long value {k}" for k in range(9)]
    assert overlapping_texts(curve("x", names, [Line("da", (0.5,) * 9, 1, 0.6)], label="r")) == []
    panel = Surface("m", ("a", "b"), (names, names), np.eye(9), (0, 0), 0.5)
    assert overlapping_texts(surfaces([panel, panel])) == []
