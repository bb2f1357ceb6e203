"""Bars, heat maps and distributions: their numbers, labels and curves."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg

from drawn_texts import overlapping_texts
from nlgauge.core.quality_band import QualityBand
from nlgauge.figures.bars import Bar, bars
from nlgauge.figures.bars import Panel as BarPanel
from nlgauge.figures.distributions import distributions
from nlgauge.figures.matplotlib_setup import save
from nlgauge.figures.matrix import coefficients, directed, heat, p_values

NAMES = ("human", "bleu", "a_metric_with:a=very,long=name", "$ter$")


def written(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def symmetric(n: int, low: float) -> np.ndarray:
    rng = np.random.default_rng(2)
    values = rng.uniform(low, 1, (n, n))
    values = (values + values.T) / 2
    np.fill_diagonal(values, 1)
    return values


@pytest.mark.parametrize("n", [2, 4, 12])
@pytest.mark.parametrize("low", [0.1, -0.9])
def test_a_heat_map_writes_every_number_off_the_diagonal(n: int, low: float) -> None:
    names = [f"metric{i}" for i in range(n)]
    values = symmetric(n, low)
    p = np.full((n, n), 0.2)
    p[0, 1] = p[1, 0] = 0.012
    figure = heat([coefficients(names, values, title="segment"), p_values(names, p)])
    first, second = figure.axes
    assert len(written(first)) == n * (n - 1)
    assert f"{values[0, 1]:.2f}".replace("0.", ".") in written(first)
    assert written(second) == [".012", ".012"]
    assert overlapping_texts(figure) == []


def test_directed_panels_fade_insignificant_cells() -> None:
    p = np.array([[np.nan, 0.0001, 0.03], [0.9999, np.nan, 0.4], [0.97, 0.6, np.nan]])
    (axes,) = heat([directed(["a", "b", "c"], p, title="da")]).axes
    assert written(axes) == ["<.001", ".030", "1.000", ".400", ".970", ".600"]
    faint = [text for text in axes.texts if text.get_color() == "#999999"]
    assert len(faint) == 4
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["p<.001", "p<.01", "p<.05"]


def test_undefined_coefficients_are_left_empty() -> None:
    values = symmetric(3, 0.1)
    values[1, 2] = values[2, 1] = np.nan
    (axes,) = heat([coefficients(NAMES[:3], values)]).axes
    assert len(written(axes)) == 4


def test_bars_have_a_bar_for_each_value_and_a_line_for_each_interval() -> None:
    series = {
        "fluency": [Bar(0.5, 0.4, 0.6), Bar(-0.1, -0.2, 0.0), Bar(None)],
        "adequacy": [Bar(0.3), Bar(0.2), Bar(0.1)],
    }
    panels = [BarPanel(title, NAMES[:3], series) for title in ("segment", "system")]
    figure = bars(panels)
    for axes in figure.axes:
        assert len(axes.patches) == 6
        assert written(axes) == [" undefined"]
        assert sum(len(line.get_xdata()) == 2 for line in axes.lines) == 2 + 1  # and the axis
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["fluency", "adequacy"]
    assert overlapping_texts(figure) == []


@pytest.mark.parametrize("count", [1, 4])
def test_distributions_have_a_curve_for_each_band(count: int) -> None:
    rng = np.random.default_rng(1)
    places = np.linspace(0, 1, 50)
    curves = [
        QualityBand(f"band {k}", rng.uniform(0, 1, 30), places, np.ones(50) * (k + 1))
        for k in range(3)
    ]
    flat = QualityBand("constant", np.full(5, 0.5), places, np.full(50, np.nan))
    names = [f"metric{i}:with=a,long={i}.000,name=yes" for i in range(count)]
    figure = distributions({name: [*curves, flat] for name in names}, legend="da")
    drawn = [axes for axes in figure.axes if axes.axison]
    assert len(drawn) == count
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["band 0", "band 1", "band 2", "constant"]
    assert overlapping_texts(figure) == []


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_odd_names_are_drawn_and_equal_figures_give_equal_files(
    ending: str, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{i}.{ending}" for i in range(2)]
    for path in paths:
        save(heat([coefficients(NAMES, symmetric(4, -0.5), title="a $ b")]), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_titles_and_legends_fit_the_figure() -> None:
    names = ["a", "b"]
    panels = [coefficients(names, symmetric(2, 0.1), title="segment level, pearson")] * 3
    assert overlapping_texts(heat(panels)) == []
    curves = [
        QualityBand(f"a long name of band {k}", *[np.linspace(0, 1, 9)] * 3) for k in range(6)
    ]
    figure = distributions({"metric": curves})
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    assert figure.legends[0].get_window_extent().width < canvas.get_width_height()[0]
