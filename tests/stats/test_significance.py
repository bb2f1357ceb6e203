"""Williams, permutation tests, Holm and clusters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.paired_tests import rank_clusters
from nlgauge.stats.permutation_tests import permutation_test
from nlgauge.stats.significance import (
    holm,
    williams,
    williams_test,
)
from nlgauge.stats.williams_power import power_of_williams


@pytest.mark.parametrize(
    ("r12", "r13", "r23", "n"),
    [(0.5, 0.4, 0.3, 40), (0.72, 0.7, 0.95, 500), (0.9, 0.8, 0.85, 12), (0.8, 0.4, 0.5, 300)],
)
def test_williams_against_the_determinant(r12, r13, r23, n):
    """The t of Williams (1959), with numpy's determinant of the three correlations."""
    k = np.linalg.det([[1, r12, r13], [r12, 1, r23], [r13, r23, 1]])
    spread = 2 * k * (n - 1) / (n - 3) + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    want = (r12 - r13) * np.sqrt((n - 1) * (1 + r23) / spread)
    got = williams(r12, r13, r23, n)
    assert (got.t, got.df) == (pytest.approx(want, rel=1e-9), n - 3)
    assert got.p == pytest.approx(stats.t.sf(want, n - 3), rel=1e-9)


def test_williams_constants_of_the_literature():
    assert williams(0.65, 0.55, 0.30, 50).p == pytest.approx(0.209286, abs=1e-6)
    assert williams(0.743, 0.719, 0.90, 560).t == pytest.approx(1.9181, abs=1e-4)


def test_williams_is_directed():
    forth, back = williams(0.9, 0.85, 0.95, 15), williams(0.85, 0.9, 0.95, 15)
    assert forth.t == pytest.approx(-back.t)
    assert forth.p + back.p == pytest.approx(1)
    assert back.p > 0.5


def test_williams_keeps_signs():
    """A metric that points the wrong way is worse, not better, than a weak one."""
    assert williams(-0.9, 0.2, -0.1, 30).p > 0.999


def test_williams_of_a_metric_with_itself():
    assert williams(0.7, 0.7, 1.0, 20).p == 0.5


def test_williams_of_a_metric_and_its_negation_is_the_limit():
    exact, near = williams(0.6, -0.6, -1.0, 50), williams(0.6, -0.6, -1 + 1e-6, 50)
    assert exact.t == pytest.approx(near.t, rel=1e-5)
    assert exact.t == pytest.approx(0.6 * np.sqrt(47 / 0.64))
    rng = np.random.default_rng(1)
    human = rng.normal(size=50)
    metric = human + rng.normal(size=50)
    assert williams_test(metric, -metric, human).p < 1e-4
    assert williams_test(-metric, metric, human).p > 0.999
    assert williams(0.0, 0.0, -1.0, 50).p == 0.5


def test_williams_without_variance_is_certain():
    """Human judgements that are the difference of two metrics of equal variance."""
    assert williams(0.5, -0.5, 0.5, 30).t == np.inf
    assert williams(-0.5, 0.5, 0.5, 30).t == -np.inf
    assert williams(1.0, -1.0, -1.0, 30).p == 0
    assert power_of_williams(0.5, -0.5, 0.5, 30) == 1


def test_williams_refuses_impossible_input():
    with pytest.raises(DataError, match="n is 3"):
        williams(0.5, 0.4, 0.3, 3)
    with pytest.raises(DataError, match=r"r13 is 1\.2"):
        williams(0.5, 1.2, 0.3, 30)
    with pytest.raises(DataError, match=r"no data has .* < 0"):
        williams(0.9, -0.9, 0.9, 30)
    with pytest.raises(DataError, match="r12 is nan"):
        williams(float("nan"), 0.2, 0.3, 30)


def test_williams_on_matrices_uses_common_points():
    rng = np.random.default_rng(0)
    human, a, b = rng.normal(size=(3, 4, 10))
    a[0, 0] = b[1, 1] = human[2, 2] = np.nan
    live = np.isfinite(a + b + human)
    r = np.corrcoef([human[live], a[live], b[live]])
    got = williams_test(a, b, human)
    assert got.n == 37
    assert got.p == pytest.approx(williams(r[0, 1], r[0, 2], r[1, 2], 37).p, rel=1e-9)
    assert williams_test(a, b, human, "system").n == 4


def test_williams_on_constant_scores_names_them():
    human, a = np.random.default_rng(0).normal(size=(2, 1, 10))
    with pytest.raises(DataError, match=r"10 common points.*: second metric"):
        williams_test(a, np.ones((1, 10)), human)
    with pytest.raises(OptionError, match="text level"):
        williams_test(a, a, human, "text")


def exchangeable(rng, systems, inputs):
    """People and two metrics that are equally good: same quality, independent noise."""
    human = rng.normal(size=(systems, 1)) + rng.normal(size=(systems, inputs))
    return human + rng.normal(size=(2, systems, inputs)), human


@pytest.mark.parametrize(
    ("level", "over"), [("segment", "inputs"), ("system", "systems"), ("text", "both")]
)
def test_permutation_p_is_uniform_under_the_null(level, over):
    rng = np.random.default_rng(20)
    p = []
    for run in range(250):
        (a, b), human = exchangeable(rng, 10, 12)
        p.append(permutation_test(a, b, human, level, over=over, count=99, seed=run).p)
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert min(p) < 0.05
    assert max(p) > 0.95


@pytest.mark.parametrize("over", ["inputs", "systems", "both"])
def test_permutation_detects_a_better_metric_and_its_direction(over):
    rng = np.random.default_rng(1)
    human = rng.normal(size=(15, 40))
    good, bad = human + 0.3 * rng.normal(size=(15, 40)), human + 3 * rng.normal(size=(15, 40))
    forth = permutation_test(good, bad, human, over=over, count=199)
    assert forth.p == pytest.approx(1 / 200)
    assert permutation_test(bad, good, human, over=over, count=199).p > 0.99
    assert permutation_test(
        bad, good, human, over=over, count=199, alternative="two-sided"
    ).p == pytest.approx(1 / 200)


def test_permutation_does_not_depend_on_the_scales_of_metrics():
    rng = np.random.default_rng(2)
    (a, b), human = exchangeable(rng, 8, 20)
    plain = permutation_test(a, b, human, count=200)
    scaled = permutation_test(100 * a + 7, b / 1000, human, count=200)
    assert scaled.p == plain.p
    assert scaled.difference == pytest.approx(plain.difference)


def test_a_metric_against_itself_has_p_one():
    rng = np.random.default_rng(2)
    (a, _), human = exchangeable(rng, 8, 20)
    assert permutation_test(a, a, human, count=50).p == 1.0


def test_permutation_drops_and_counts_cells_not_in_all():
    rng = np.random.default_rng(3)
    (a, b), human = exchangeable(rng, 6, 10)
    a[0, 0] = b[1, 1] = human[2, 2] = np.nan
    got = permutation_test(a, b, human, count=20)
    assert (got.cells, got.cells_dropped, got.count, got.undefined) == (57, 3, 20, 0)


def test_permutation_of_a_constant_metric_is_undefined():
    rng = np.random.default_rng(3)
    (a, _), human = exchangeable(rng, 6, 10)
    got = permutation_test(a, np.ones_like(a), human, count=20)
    assert np.isnan(got.second)
    assert np.isnan(got.p)


def test_invalid_permutation_tests_are_refused():
    x = np.arange(6.0).reshape(1, 6)
    with pytest.raises(OptionError, match="at least 2 systems"):
        permutation_test(x, x, x)
    with pytest.raises(OptionError, match="'less'"):
        permutation_test(x, x, x, over="inputs", alternative="smaller")
    with pytest.raises(DataError, match="none of the 6 cells"):
        permutation_test(x, x, x * np.nan, over="inputs")


def test_holm_by_hand():
    got = holm([0.01, 0.04, 0.03, 0.005])
    np.testing.assert_allclose(got, [0.03, 0.06, 0.06, 0.02])


def test_holm_keeps_shape_and_does_not_count_nan():
    got = holm([[np.nan, 0.01], [0.4, np.nan]])
    np.testing.assert_allclose(got, [[np.nan, 0.02], [0.4, np.nan]])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]
    with pytest.raises(DataError, match=r"range from 0.1 to 1.5"):
        holm([0.1, 1.5])


def test_clusters_need_all_above_to_beat_all_below():
    names = ["w", "x", "y", "z"]
    scores = [1.0, 4.0, 3.0, 2.0]
    p = np.full((4, 4), 0.5)
    beats = [("x", "z"), ("x", "w"), ("y", "w"), ("z", "w"), ("x", "y")]
    for better, worse in beats:
        p[names.index(better), names.index(worse)] = 0.01
    got = rank_clusters(names, scores, p)
    # x beats everyone; y and z are not separable; everyone beats w.
    assert [c.names for c in got] == [("x",), ("y", "z"), ("w",)]
    assert [(c.best_rank, c.worst_rank) for c in got] == [(1, 1), (2, 3), (4, 4)]
    # A single undecided pair (y, w) erases the line above w, though x and z still beat it.
    p[names.index("y"), names.index("w")] = np.nan
    assert [c.names for c in rank_clusters(names, scores, p)] == [("x",), ("y", "z", "w")]
    assert len(rank_clusters(names, scores, p, alpha=0.001)) == 1


def test_invalid_clusters_are_refused():
    with pytest.raises(ShapeError, match=r"2 names need 2 scores.*\(3,\)"):
        rank_clusters(["a", "b"], [1, 2, 3], np.ones((2, 2)))
    with pytest.raises(DataError, match="1 of 2 scores"):
        rank_clusters(["a", "b"], [1, np.nan], np.ones((2, 2)))


def test_less_is_the_reverse_of_greater():
    rng = np.random.default_rng(2)
    human = rng.normal(size=(4, 12))
    good, bad = human + rng.normal(0, 0.5, human.shape), human + rng.normal(0, 2, human.shape)
    greater = permutation_test(good, bad, human, count=199)
    less = permutation_test(good, bad, human, alternative="less", count=199)
    swapped = permutation_test(bad, good, human, count=199)
    assert (less.p, less.p_reverse) == (greater.p_reverse, greater.p)
    assert less.difference == greater.difference > 0
    assert less.p > 0.9
    assert greater.p < 0.1
    assert swapped.p == pytest.approx(less.p, abs=0.05)
