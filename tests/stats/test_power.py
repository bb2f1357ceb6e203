"""Power, against scipy's noncentral t, closed forms and simulated tests."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.power import (
    Pilot,
    contributions,
    critical_value,
    detectable_difference,
    pilot_of,
    power_of_difference,
    segments_needed,
    solve_increasing,
    t_power,
)
from nlgauge.stats.significance import williams_statistic
from nlgauge.stats.williams_power import detectable_correlation, points_needed, power_of_williams

DRAWS = 6000  # the simulation's standard error is at most .0065


def mean(totals, counts):
    return totals[:, 0] / counts


def ratio(totals, _):
    return totals[..., 0] / totals[..., 1]


@pytest.mark.parametrize("df", [1, 2, 7, 40, 1e5])
@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-4])
def test_power_is_scipys_noncentral_t(df, alpha):
    limit = critical_value(alpha, df)
    assert limit == pytest.approx(stats.t.isf(alpha / 2, df), rel=1e-8)
    for shift in (0.3, 1.0, 2.8, 5.0):
        exact = stats.nct.sf(limit, df, shift) + stats.nct.cdf(-limit, df, shift)
        assert t_power(shift, df, alpha) == pytest.approx(exact, abs=1e-9)
        assert t_power(-shift, df, alpha) == t_power(shift, df, alpha)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_power_without_a_difference_is_alpha(alpha):
    pilot = Pilot(1.0, 2.0, 50, 10, 1.7, 0.0)
    assert power_of_difference(pilot, 0.0, 80, alpha) == pytest.approx(alpha, abs=1e-9)
    assert power_of_williams(0.4, 0.4, 0.2, 30, alpha) == pytest.approx(alpha, abs=1e-9)


def test_large_samples_follow_the_normal_formula():
    pilot = Pilot(0.0, 30.0, 1000, 1000, 1.0)
    z = stats.norm.isf(0.025) + stats.norm.isf(0.2)
    needed = segments_needed(pilot, 0.5)
    assert needed == pytest.approx((z * 30 / 0.5) ** 2, rel=1e-3)
    assert detectable_difference(pilot, needed) == pytest.approx(0.5, rel=1e-4)
    assert segments_needed(pilot, -0.5) == needed


@pytest.mark.parametrize("clusters", [60, 12])
def test_the_needed_segments_are_the_first_that_suffice(clusters):
    pilot = Pilot(0.0, 2.0, 60, clusters, 1.4)
    needed = segments_needed(pilot, 1.3, 0.9, 0.01)
    powers = [power_of_difference(pilot, 1.3, n, 0.01) for n in (needed - 1, needed)]
    assert powers[0] < 0.9 <= powers[1]


def test_contributions_to_a_mean_are_differences_of_segments():
    a, b = np.random.default_rng(0).normal(size=(2, 20, 1))
    assert contributions(a, b, mean) == pytest.approx((a - b)[:, 0], abs=1e-12)


def test_contributions_of_two_segments_by_hand():
    assert contributions([3.0, 5.0], [1.0, 1.0], mean).tolist() == [2.0, 4.0]


def test_contributions_to_a_ratio_have_the_variance_of_the_delta_method():
    rng = np.random.default_rng(1)
    length = rng.integers(5, 30, 2000)
    a, b = (np.stack([rng.binomial(length, p), length], 1) for p in (0.5, 0.45))
    found = pilot_of(contributions(a, b, ratio))
    theta = [rows[:, 0].sum() / rows[:, 1].sum() for rows in (a, b)]
    influence = [
        (rows[:, 0] - t * rows[:, 1]) / length.mean() for rows, t in zip((a, b), theta, strict=True)
    ]
    assert found.deviation == pytest.approx(np.std(influence[0] - influence[1], ddof=1), rel=1e-3)
    assert found.difference == pytest.approx(theta[0] - theta[1], abs=1e-4)


def test_design_effect_of_equal_clusters_is_the_textbook_one():
    """1 + (m - 1) rho with the analysis of variance's intraclass correlation, up to 1/G."""
    rng = np.random.default_rng(2)
    groups, size = 400, 5
    x = rng.normal(size=(groups, 1)) * 0.8 + rng.normal(size=(groups, size))
    between = size * x.mean(1).var(ddof=1)
    within = x.var(axis=1, ddof=1).mean()
    rho = (between - within) / (between + (size - 1) * within)
    labels = np.repeat(np.arange(groups), size).tolist()
    found = pilot_of(x.ravel(), labels)
    assert found.design_effect == pytest.approx(1 + (size - 1) * rho, rel=0.005)
    assert (found.clusters, found.cluster_size) == (groups, size)


def test_clusters_of_one_segment_are_no_clusters():
    x = np.random.default_rng(3).normal(size=30)
    plain, single = pilot_of(x), pilot_of(x, list(range(30)))
    assert single.design_effect == pytest.approx(1.0, abs=1e-12)
    assert (single.deviation, single.clusters) == (plain.deviation, plain.clusters)


def t_tests(x, groups=None):
    """The share of rows whose (cluster-robust) t test of the mean has p < .05."""
    n = x.shape[1]
    centre = x.mean(1, keepdims=True)
    if groups is None:
        variance, df = x.var(axis=1, ddof=1) / n, n - 1
    else:
        count = groups.max() + 1
        sums = (x - centre) @ np.eye(count)[groups]
        variance, df = count / (count - 1) * (sums**2).sum(1) / n**2, count - 1
    t = centre[:, 0] / np.sqrt(variance)
    return float((np.abs(t) > stats.t.isf(0.025, df)).mean())


def assert_near(pilot, n, simulate):
    """The powers of small, middle and large differences are those of simulated tests."""
    for power in (0.25, 0.55, 0.85):
        effect = detectable_difference(pilot, n, power)
        found = power_of_difference(pilot, effect, n)
        assert found == pytest.approx(power, abs=1e-6)
        assert found == pytest.approx(simulate(effect), abs=0.02)


def test_power_of_independent_segments_is_that_of_simulated_tests():
    rng = np.random.default_rng(4)
    n, pilot = 25, pilot_of(rng.normal(size=100_000) * 3)
    assert_near(pilot, n, lambda effect: t_tests(rng.normal(size=(DRAWS, n)) * 3 + effect))


def test_power_of_a_corpus_metric_is_that_of_simulated_tests():
    """A ratio of sums whose segments have lengths of a skewed distribution."""
    rng = np.random.default_rng(5)

    def rows(shape, shift):
        length = rng.geometric(0.08, shape) + 3
        easy = rng.beta(2, 4, shape)
        matches = [rng.binomial(length, np.clip(easy + s, 0, 1)) for s in (0.1 + shift, 0.1)]
        return [np.stack([m, length], -1).astype(float) for m in matches]

    def draw(shift):
        parts = []
        for table in rows((DRAWS, n), shift):
            total = table.sum(1, keepdims=True)
            without = ratio(total - table, None)
            parts.append(n * ratio(total, None) - (n - 1) * without)
        return t_tests(parts[0] - parts[1])

    n = 100
    assert_near(pilot_of(contributions(*rows(40_000, 0.03), ratio)), n, draw)


@pytest.mark.parametrize("direction", [1, -1])
def test_power_of_skewed_clusters_is_that_of_simulated_tests(direction):
    """Clusters of 2 to 8 segments with a common part of skewness 1."""
    rng = np.random.default_rng(6)

    def draw(draws, groups, effect):
        common = (rng.gamma(4, size=(draws, groups.max() + 1)) - 4) * 0.5
        return common[:, groups] + rng.normal(size=(draws, groups.size)) + effect

    sizes = np.tile([2, 4, 4, 5, 8], 32)
    groups = np.repeat(np.arange(sizes.size), sizes)
    many = np.repeat(np.arange(16_000), np.tile(sizes, 100))
    pilot = pilot_of(draw(1, many, direction)[0], many.tolist())
    assert pilot.design_effect > 2
    assert pilot.skewness > 0.8
    assert_near(pilot, groups.size, lambda effect: t_tests(draw(DRAWS, groups, effect), groups))


@pytest.mark.parametrize(("r12", "r13", "r23", "n"), [(0.5, 0.4, 0.8, 150), (0.6, 0.2, 0.1, 40)])
def test_power_of_williams_test_is_that_of_simulated_tests(r12, r13, r23, n):
    root = np.linalg.cholesky([[1, r12, r13], [r12, 1, r23], [r13, r23, 1]])
    z = np.einsum("ij,bjn->bin", root, np.random.default_rng(7).normal(size=(DRAWS, 3, n)))
    z -= z.mean(axis=2, keepdims=True)
    z /= np.sqrt((z**2).sum(axis=2, keepdims=True))
    r = np.einsum("bin,bjn->ijb", z, z)
    t = [williams_statistic(*each, n) for each in zip(r[0, 1], r[0, 2], r[1, 2], strict=True)]
    found = float((np.abs(t) > stats.t.isf(0.025, n - 3)).mean())
    assert power_of_williams(r12, r13, r23, n) == pytest.approx(found, abs=0.02)


def test_points_and_detectable_correlations_are_inverse():
    needed = points_needed(0.55, 0.45, 0.7, 0.9)
    assert power_of_williams(0.55, 0.45, 0.7, needed - 1) < 0.9
    assert detectable_correlation(0.5, 0.7, needed, 0.9) == pytest.approx(0.1, rel=0.01)
    assert points_needed(0.5, 0.5, 0.7) is None
    assert points_needed(0.5, 0.5, 1.0) is None
    assert np.isnan(detectable_correlation(0.95, 0.1, 50))  # no such three correlations
    assert np.isnan(detectable_correlation(0.9, 0.9, 4))
    assert np.isnan(detectable_correlation(0.0, -1.0, 50))  # then the test has no value


@pytest.mark.parametrize("name", ["alpha", "power"])
@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, float("nan")])
def test_levels_lie_between_0_and_1(name, value):
    pilot = Pilot(1.0, 2.0, 50, 50, 1.0)
    with pytest.raises(OptionError, match=f"{name} is .* between 0 and 1"):
        segments_needed(pilot, 1.0, **{name: value})
    with pytest.raises(OptionError, match=f"{name} is .* between 0 and 1"):
        points_needed(0.5, 0.4, 0.8, **{name: value})


def test_invalid_input_is_refused():
    pilot = Pilot(1.0, 2.0, 50, 50, 1.0)
    with pytest.raises(OptionError, match=r"power 0\.05 is not above alpha 0\.05"):
        detectable_difference(pilot, 10, 0.05, 0.05)
    for zero in (0.0, float("nan")):
        with pytest.raises(OptionError, match="finite number other than 0"):
            segments_needed(pilot, zero)
    with pytest.raises(DataError, match="1 segment has no variance"):
        contributions([1.0], [2.0], mean)
    with pytest.raises(DataError, match="1 of 2 rows of the second system have NaN"):
        contributions([1.0, 2.0], [2.0, np.nan], mean)
    with pytest.raises(ShapeError, match=r"3 segments .* second 2"):
        contributions([1.0, 2.0, 3.0], [2.0, 4.0], mean)
    with pytest.raises(DataError, match="difference is 2 on each of the 5 segments"):
        pilot_of([2.0] * 5)
    with pytest.raises(DataError, match="no variance"):
        pilot_of([0.0] * 5)
    with pytest.raises(DataError, match="1 of 3 segments have no defined score"):
        pilot_of([1.0, np.nan, 2.0])
    with pytest.raises(DataError, match=r"shape \(1,\)"):
        pilot_of([1.0])
    with pytest.raises(DataError, match="all 3 segments are in 1 cluster"):
        pilot_of([1.0, 2.0, 4.0], ["a"] * 3)
    with pytest.raises(DataError, match="2 clusters have equal means"):
        pilot_of([1.0, 2.0, 1.0, 2.0], ["a", "a", "b", "b"])
    with pytest.raises(ShapeError, match="3 segments need 3 cluster labels, but there are 2"):
        pilot_of([1.0, 2.0, 4.0], ["a", "b"])


def test_less_than_two_clusters_have_no_power():
    pilot = Pilot(1.0, 2.0, 50, 5, 1.5)
    for segments in (10, 11, 19):
        assert np.isnan(power_of_difference(pilot, 1.0, segments))
        assert np.isnan(detectable_difference(pilot, segments))
    assert power_of_difference(pilot, 1.0, 20) > 0.05
    assert segments_needed(pilot, 100.0) > 10


def test_hopeless_differences_have_no_sample_size():
    assert segments_needed(Pilot(0.0, 1.0, 50, 50, 1.0), 1e-6) is None


def test_sample_sizes_up_to_a_thousand_millions_are_found():
    pilot, z = Pilot(0.0, 1.0, 50, 50, 1.0), stats.norm.isf(0.025) + stats.norm.isf(0.2)
    assert segments_needed(pilot, z / np.sqrt(0.99e9)) == pytest.approx(0.99e9, rel=1e-3)
    assert segments_needed(pilot, z / np.sqrt(1.01e9)) is None


def test_a_small_variance_is_one():
    found = pilot_of([1.00001, 0.99999])
    assert found.deviation == pytest.approx(np.sqrt(2) * 1e-5, rel=1e-9)


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_the_unit_of_a_pilot_does_not_matter(unit):
    values, clusters = np.array([1.0, 2, 4, 5]), list("aabb")
    for labels in (None, clusters):
        one, other = pilot_of(values, labels), pilot_of(values * unit, labels)
        assert other.deviation == pytest.approx(one.deviation * unit)
        assert (other.design_effect, other.skewness) == pytest.approx(
            (one.design_effect, one.skewness)
        )
        assert segments_needed(other, unit) == segments_needed(one, 1)


def test_a_function_that_does_not_reach_the_target():
    assert solve_increasing(lambda x: x / (1 + x), 2.0) == np.inf
    assert solve_increasing(lambda x: x / (1 + x), 0.75) == pytest.approx(3, rel=1e-9)
