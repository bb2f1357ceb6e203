"""Densities within the range of their metric."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from nlgauge.core.quality_band import QualityBand
from nlgauge.figures.distributions import distributions


def gaussian(places: np.ndarray, scores: np.ndarray, width: float) -> np.ndarray:
    kernels = np.exp(-0.5 * ((places[:, None] - scores[None, :]) / width) ** 2)
    return kernels.sum(axis=1) / (scores.size * width * np.sqrt(2 * np.pi))


def test_an_unbounded_curve_is_unchanged() -> None:
    places = np.linspace(-1, 1, 50)
    curve = QualityBand("a", places, places, np.exp(-(places**2)))
    found, density = curve.within()
    assert found == pytest.approx(places)
    assert density == pytest.approx(curve.density)


@pytest.mark.parametrize("margin", [0.1, 0.02])
def test_a_bounded_curve_is_that_of_reflected_scores(margin: float) -> None:
    """Also where the places end so near the bound that the density beyond them is not known."""
    scores = np.random.default_rng(0).exponential(0.1, 400).clip(0, 1)
    width = 0.02
    places = np.linspace(-margin, 1 + margin, 400)
    curve = QualityBand("a", scores, places, gaussian(places, scores, width), low=0.0, high=1.0)
    found, density = curve.within()
    assert found[0] == 0.0
    assert found[-1] == 1.0
    reflected = np.concatenate([scores, -scores, 2 - scores])
    exact = 3 * gaussian(found, reflected, width)
    assert density == pytest.approx(exact, abs=0.04 * exact.max())
    assert np.trapezoid(density, found) == pytest.approx(1, abs=0.02)
    assert np.abs(np.diff(density)).max() < 0.08 * density.max()  # no step anywhere


def test_ends_that_no_curve_comes_near_are_not_drawn() -> None:
    places = np.linspace(0.4, 0.6, 20)
    curve = QualityBand(
        "a", places, places, np.exp(-(((places - 0.5) / 0.02) ** 2)), low=0.0, high=1.0
    )
    found, _ = curve.within()
    assert (found[0], found[-1]) == (0.4, 0.6)


def test_nothing_is_drawn_past_the_range() -> None:
    places = np.linspace(-0.2, 1.2, 60)
    scores = np.linspace(0, 1, 30)
    bands = [
        QualityBand(name, scores, places, gaussian(places, scores, 0.1), low=0.0, high=1.0)
        for name in ("low", "high")
    ]
    (axes,) = distributions({"metric": bands}).axes
    drawn = [line.get_xdata() for line in axes.lines] + [
        patch.get_xy()[:, 0] for patch in axes.patches
    ]
    for values in drawn:
        assert np.min(values) >= 0
        assert np.max(values) <= 1
