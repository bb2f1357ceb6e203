"""Bars in several rows, with intervals, within the width of a page."""

import pytest

pytest.importorskip("matplotlib")

from drawn_texts import overlapping_texts
from nlgauge.figures.bars import Bar, Panel, bars, metric_bars

GROUPS = tuple(f"metric {i}" for i in range(5))
SERIES = {name: [Bar(0.1 * i, 0.1 * i - 0.3, 0.1 * i + 0.3) for i in range(5)] for name in "rst"}


def panels(count: int) -> list[Panel]:
    return [Panel(f"kind {i}\nsystem level", GROUPS, SERIES) for i in range(count)]


@pytest.mark.parametrize("count", [1, 2, 4, 5])
def test_panels_fit_a_page_and_their_ticks_do_not_meet(count: int) -> None:
    figure = bars(panels(count))
    assert figure.get_figwidth() <= 7.4
    assert all(len(axes.get_xticklabels()) >= 3 for axes in figure.axes)
    assert overlapping_texts(figure) == []


def test_panels_wrap_and_what_is_left_over_is_blank() -> None:
    figure = bars(panels(3), across=2)
    assert [axes.axison for axes in figure.axes] == [True, True, True, False]
    assert figure.axes[0].get_xlim() == figure.axes[2].get_xlim()
    assert figure.get_figheight() > bars(panels(2)).get_figheight()


def test_titles_may_have_two_lines() -> None:
    (axes,) = bars(panels(1)).axes
    assert axes.get_title() == "kind 0\nsystem level"


def test_an_undefined_value_has_no_interval() -> None:
    lone = Panel("", ("a", "b"), {"r": [Bar(None, -0.5, 0.5), Bar(0.2, 0.1, 0.3)]})
    (axes,) = bars([lone]).axes
    assert [text.get_text() for text in axes.texts] == [" undefined"]
    assert len(axes.lines) == 1 + 1  # one interval, and zero


def test_titles_of_many_panels_are_wrapped() -> None:
    same = {"metric": "bleu", "criterion": "fluency", "value": 0.5}
    levels, coefficients = ("segment", "system", "text"), ("pearson", "kendall_b")
    rows = [{**same, "level": x, "coefficient": y} for x in levels for y in coefficients]
    figure = metric_bars(rows)
    assert figure.axes[0].get_title() == "segment level,\npearson"
    assert overlapping_texts(figure) == []
