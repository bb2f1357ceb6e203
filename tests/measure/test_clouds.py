"""Depth, trimmed regions, sliced Wasserstein, MMD and the Sinkhorn divergence."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.core.errors import NotConverged, OptionError, ShapeError
from nlgauge.measure import depth as depths
from nlgauge.measure import sinkhorn
from nlgauge.measure.cost import squared_euclid
from nlgauge.measure.depth import mmd, sliced_wasserstein
from nlgauge.measure.problem import Problem, normalised
from nlgauge.measure.sinkhorn import sinkhorn_divergences


def cloud(seed, n=7, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def regions(points, **options):
    return next(depths.regions_of([points], **options))


def depth_distance(x, y, *, p=5.0, **options):
    return depths.region_distance(regions(x, **options), regions(y, **options), p=p)


def naive_depth(points, along):
    n = len(points)
    found = []
    for x in points:
        values = []
        for u in along:
            shadows, here = points @ u, x @ u
            upto = sum(s <= here + 1e-12 for s in shadows) / n
            below = sum(s < here - 1e-12 for s in shadows) / n
            values.append(min(upto, 1 - below))
        found.append(np.mean(values))
    return np.array(found)


def naive_distance(x, y, along, p, eps, levels):
    along = np.vstack([along, -along])
    total = 0.0
    dx, dy = naive_depth(x, along), naive_depth(y, along)
    for alpha in np.linspace(eps, 1, levels):
        inner_x = x[dx >= np.quantile(dx, alpha) - 1e-12]
        inner_y = y[dy >= np.quantile(dy, alpha) - 1e-12]
        gaps = [abs((inner_x @ u).max() - (inner_y @ u).max()) for u in along]
        total += max(gaps) ** p
    return (total / levels) ** (1 / p)


class TestDepth:
    def test_against_loops(self):
        x = np.vstack([cloud(0), cloud(0)[:2]])  # with duplicates
        along = depths.directions(3, 40, 1)
        found = depths.irw(x, count=40, seed=1)
        np.testing.assert_allclose(found, naive_depth(x, along), atol=1e-12)
        np.testing.assert_allclose(found[:2], found[7:], atol=1e-12)

    def test_points_on_a_line_are_deep_in_the_middle(self):
        line = np.arange(5.0)[:, None]
        np.testing.assert_allclose(depths.irw(line, count=4), [0.2, 0.4, 0.6, 0.4, 0.2])

    def test_equal_points_have_the_largest_depth(self):
        same = np.ones((4, 3))
        np.testing.assert_allclose(depths.irw(same, count=9), 1)
        np.testing.assert_allclose(depths.ai_irw(same, count=9), 1)

    def test_whitened_clouds_have_unit_covariance_in_their_span(self):
        flat = cloud(2, n=30, d=2) @ np.array([[3.0, 1.0, 0.0, 2.0], [0.0, 0.1, 1.0, 1.0]])
        white = depths.whiten(flat + 100)
        assert white.shape == (30, 2)
        np.testing.assert_allclose(white.T @ white / 30, np.eye(2), atol=1e-9)
        np.testing.assert_allclose(white.mean(axis=0), 0, atol=1e-9)

    def test_the_span_leaves_out_directions_that_are_rounding(self):
        """Corners (+-a, +-b) have the singular values 2a and 2b."""
        corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        # The eigenvalue of the second direction is 4e-8 of the first, then 2.5e-9.
        assert depths.whiten(corners * [1000, 0.2]).shape == (4, 2)
        assert depths.whiten(corners * [1000, 0.05]).shape == (4, 1)
        # A millionth of a millionth of the coordinates is no extent at all.
        assert depths.whiten(1e6 + corners * 1e-5).shape == (4, 2)
        assert depths.whiten(1e6 + corners * 1e-7).shape == (4, 0)

    def test_affine_invariance(self):
        x = cloud(3, n=40, d=2)
        bent = x @ np.array([[5.0, 1.0], [0.3, 0.2]]) + 7
        plain = depths.ai_irw(x, count=4000)
        np.testing.assert_allclose(depths.ai_irw(bent, count=4000), plain, atol=0.02)
        assert np.abs(depths.irw(bent, count=4000) - depths.irw(x, count=4000)).max() > 0.05

    def test_rounding_does_not_become_variance(self):
        x = cloud(4, n=12, d=30)
        noise = 1e-12 * cloud(5, n=12, d=30)
        close = depths.ai_irw(x + noise, count=500) - depths.ai_irw(x, count=500)
        assert np.abs(close).max() < 1e-9


class TestRegions:
    def test_there_are_5000_directions(self):
        assert regions(cloud(6)).support.shape == (2, 5, 5000)

    @pytest.mark.parametrize("p", [1.0, 2.0, 5.0])
    @pytest.mark.parametrize("eps", [0.0, 0.29, 0.58])
    def test_against_loops(self, p, eps):
        x, y = cloud(6), cloud(7, n=9) + 0.5
        along = depths.directions(3, 30, 2)
        found = depth_distance(x, y, p=p, eps=eps, levels=4, count=30, seed=2)
        assert found == pytest.approx(naive_distance(x, y, along, p, eps, 4), abs=1e-12)

    @given(seed=st.integers(0, 9999), p=st.floats(1, 6), kind=st.sampled_from(["irw", "ai_irw"]))
    @settings(max_examples=25, deadline=None)
    def test_symmetric_and_zero_on_itself(self, seed, p, kind):
        x, y = cloud(seed), cloud(seed + 1, n=5)
        there = depth_distance(x, y, p=p, depth=kind, count=50)
        assert there == depth_distance(y, x, p=p, depth=kind, count=50)
        assert there > 0
        assert depth_distance(x, x, p=p, depth=kind, count=50) == 0

    @pytest.mark.parametrize("p", [1e3, 1e6, math.inf])
    def test_large_exponents_approach_the_largest_distance(self, p):
        x, y = cloud(6), cloud(7, n=9) + 0.5
        largest = np.abs(regions(x).support - regions(y).support).max()
        for scale in (1.0, 1e-4):
            found = depth_distance(scale * x, scale * y, p=p)
            assert found == pytest.approx(scale * largest, rel=2e-3)

    def test_distances_of_the_size_of_rounding_errors_are_0(self):
        assert depth_distance(cloud(6), cloud(6) + 1e-15) == 0

    @pytest.mark.parametrize("p", [1, 2, 3, 5])
    def test_a_cloud_inside_another_is_away_from_it(self, p):
        outer = cloud(8, n=40, d=2)
        assert depth_distance(outer, 0.05 * outer, p=p) > 0.3
        assert depth_distance(0.05 * outer, outer, p=p) > 0.3

    def test_moving_a_cloud_moves_the_distance(self):
        x = cloud(9, n=20)
        shifts = [depth_distance(x, x + s, count=2000) for s in (0.1, 0.5, 2.0)]
        lengths = [s * math.sqrt(3) for s in (0.1, 0.5, 2.0)]
        np.testing.assert_allclose(shifts, lengths, rtol=0.01)

    def test_the_seed_decides_and_global_state_is_left_alone(self):
        x, y = cloud(10), cloud(11)
        np.random.seed(5)
        before = np.random.get_state()[1].copy()
        first = depth_distance(x, y, seed=1, count=20)
        assert np.array_equal(np.random.get_state()[1], before)
        depths.nlg_eval_distance(x, y, p=5.0, count=20)
        assert np.array_equal(np.random.get_state()[1], before)
        assert first == depth_distance(x, y, seed=1, count=20)
        assert first != depth_distance(x, y, seed=2, count=20)

    def test_invalid_arguments_are_refused(self):
        x = cloud(12)
        with pytest.raises(OptionError, match="eps"):
            regions(x, eps=1.0)
        with pytest.raises(OptionError, match="'tukey'"):
            regions(x, depth="tukey")
        with pytest.raises(ShapeError, match=r"\(0, 3\)"):
            depths.irw(np.ones((0, 3)))


class TestNlgEval:
    """Values of nlg_eval's dr_distance on RandomState(1) clouds, 500 directions."""

    @pytest.mark.parametrize(
        ("p", "inward", "outward"),
        [
            (1, -0.3082106711, 0.9265476707),
            (2, 1.026464802, 1.026464802),
            (3, math.nan, 1.115718189),
            (4, 1.191228716, 1.191228716),
            (5, math.nan, 1.253515001),
        ],
    )
    def test_reproduces_its_numbers(self, p, inward, outward):
        source = np.random.RandomState(1)
        outer, inner = source.normal(size=(40, 2)), 0.05 * source.normal(size=(40, 2))
        found = depths.nlg_eval_distance(inner, outer, p=p, count=500)
        assert found == pytest.approx(inward, abs=1e-9, nan_ok=True)
        found = depths.nlg_eval_distance(outer, inner, p=p, count=500)
        assert found == pytest.approx(outward, abs=1e-9)
        found = depths.nlg_eval_distance(outer / 8, inner / 8, p=p, count=500)
        assert found == pytest.approx(outward / 8, abs=1e-9)


class TestSliced:
    @pytest.mark.parametrize(("n", "m"), [(6, 6), (6, 4), (1, 5), (7, 5)])
    def test_on_a_line_it_is_the_wasserstein_distance(self, n, m):
        x, y = cloud(13, n=n, d=1), cloud(14, n=m, d=1)
        quantiles = np.sort(np.repeat(x, m)), np.sort(np.repeat(y, n))
        wanted = np.sqrt(((quantiles[0] - quantiles[1]) ** 2).mean())
        assert sliced_wasserstein(x, y, count=3) == pytest.approx(wanted)

    def test_symmetric_zero_on_itself_and_invariant_under_repetition(self):
        x, y = cloud(15), cloud(16, n=4)
        assert sliced_wasserstein(x, y) == pytest.approx(sliced_wasserstein(y, x))
        assert sliced_wasserstein(x, x) == 0
        doubled = np.repeat(y, 2, axis=0)
        assert sliced_wasserstein(x, doubled) == pytest.approx(sliced_wasserstein(x, y))

    def test_a_shift_of_length_s_is_s_over_root_d(self):
        x = cloud(17, n=9)
        shift = np.array([0.0, 2.0, 0.0])
        found = sliced_wasserstein(x, x + shift, count=20_000)
        assert found == pytest.approx(2 / math.sqrt(3), rel=0.02)


class TestMmd:
    def test_against_loops(self):
        x, y = cloud(18, n=3), cloud(19, n=4)
        points, signed = np.vstack([x, y]), np.r_[np.full(3, 1 / 3), np.full(4, -1 / 4)]
        total = 0.0
        for i, p in enumerate(points):
            for j, q in enumerate(points):
                total += signed[i] * signed[j] * math.exp(-((p - q) ** 2).sum() / (2 * 0.7**2))
        scale = depths.BANDWIDTH / 0.7
        assert mmd(scale * x, scale * y) == pytest.approx(total)

    def test_zero_on_itself(self):
        x = cloud(20)
        assert mmd(x, x) == mmd(x, x.copy()) == 0
        assert mmd(x, x + 1) > 0.1


class TestDivergence:
    def value(self, x, y, a, b, epsilon):
        a, b = normalised(a, len(a)), normalised(b, len(b))
        sides = (x, y, a, b), (x, x, a, a), (y, y, b, b)
        triple = [Problem(squared_euclid(p, q, normalise=False), *w) for p, q, *w in sides]
        return float(sinkhorn_divergences([triple], epsilon=epsilon)[0])

    def test_zero_on_itself_positive_elsewhere_and_symmetric(self):
        x, y = cloud(21), cloud(22, n=5)
        a, b = np.arange(1.0, 8.0), np.ones(5)
        assert self.value(x, x, a, a, 0.3) == pytest.approx(0, abs=1e-8)
        there = self.value(x, y, a, b, 0.3)
        assert there > 0.1
        assert self.value(y, x, b, a, 0.3) == pytest.approx(there, abs=1e-8)

    def test_a_shift_costs_its_square_at_every_epsilon(self):
        """For squared distances the debiased divergence of a translate is exact."""
        x, a = cloud(23), np.ones(7)
        for epsilon in (0.05, 0.5, 5.0, 500.0):
            shifted = x + np.array([0.3, -0.4, 0.0])
            assert self.value(x, shifted, a, a, epsilon) == pytest.approx(0.25, abs=1e-7)

    def test_invalid_arguments_and_no_convergence(self, monkeypatch):
        x, a = cloud(24), np.ones(7)
        with pytest.raises(OptionError, match="epsilon"):
            self.value(x, x, a, a, 0.0)
        one, zero = np.ones(1), np.zeros((1, 1))
        for epsilon in (1e-12, 0.5):
            triple = [Problem(zero + cost, one, one) for cost in (0.25, 0, 0)]
            assert sinkhorn_divergences([triple], epsilon=epsilon) == pytest.approx(0.25)
        monkeypatch.setattr(sinkhorn, "ROUNDS", 1)
        with pytest.raises(NotConverged, match="larger epsilon"):
            self.value(cloud(24, n=40), cloud(25, n=40), np.ones(40), np.ones(40), 1e-3)
