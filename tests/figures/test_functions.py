"""Lines with bands: their values, marks and titles."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from drawn_texts import overlapping_texts
from nlgauge.figures.functions import Function, Panel, functions


def test_lines_bands_marks_and_levels_are_drawn() -> None:
    one = Function("one", [1, 10, 100], [0.1, 0.5, 0.9], mark=(10, 0.5))
    other = Function("other", [1, 10, 100], [0.2, 0.3, 0.4], [0.1, 0.2, 0.3], [0.3, 0.4, 0.5])
    panel = Panel("", "n", [one, other])
    figure = functions([panel], ylabel="power", levels=[0.8], logarithmic=True)
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    level, first, mark, second = axes.lines
    assert level.get_ydata() == [0.8, 0.8]
    np.testing.assert_array_equal(first.get_ydata(), [0.1, 0.5, 0.9])
    assert (mark.get_xdata(), mark.get_ydata()) == ([10], [0.5])
    np.testing.assert_array_equal(second.get_xdata(), [1, 10, 100])
    assert len(axes.collections) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "other"]


def test_panels_with_one_line_have_titles_and_no_legend() -> None:
    line = Function("one", [0, 1], [0.5, 1.0])
    panels = [Panel(f"panel {k}", "x", [line]) for k in range(4)]
    figure = functions(panels, ylabel="p", limits=(0.5, 1.0))
    shown = [axes for axes in figure.axes if axes.get_visible() and axes.axison]
    assert [axes.get_title() for axes in shown] == ["panel 0", "panel 1", "panel 2", "panel 3"]
    assert [axes.get_ylabel() for axes in shown] == ["p", "", "", "p"]
    assert shown[0].get_ylim() == (0.5, 1.0)
    assert figure.legends == []


@pytest.mark.parametrize("last", [40, 100_000])
def test_a_logarithmic_axis_has_several_numbers(last: int) -> None:
    panel = Panel("", "n", [Function("one", [8, last], [0.2, 0.9])])
    figure = functions([panel], ylabel="power", logarithmic=True)
    assert overlapping_texts(figure) == []
    (axes,) = figure.axes
    numbers = [
        tick.get_text() for tick in axes.get_xticklabels() if 8 <= tick.get_position()[0] <= last
    ]
    assert len(numbers) >= 2
    assert all(numbers)


def test_a_function_of_one_place_is_a_point() -> None:
    (axes,) = functions([Panel("", "n", [Function("one", [10], [0.5])])], ylabel="power").axes
    assert axes.lines[0].get_marker() == "o"
