"""Tables of metrics against metrics and people."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from nlgauge.core.errors import DataError, MissingExtra, OptionError
from nlgauge.stats import validation
from nlgauge.stats.judgements import Grid, Judgements, MetricScores
from nlgauge.stats.levels import per_input
from nlgauge.stats.matrix import coefficient_matrix, permutation_matrix, williams_matrix
from nlgauge.stats.named_coefficients import choose_coefficient
from nlgauge.stats.permutation_tests import permutation_test
from nlgauge.stats.significance import holm, williams_test

SYSTEMS, SEGMENTS = 5, 12


def grid_of(human, /, **metrics):
    rows = [
        (f"s{i}", f"t{j}", {"quality": human[i, j]})
        for i in range(human.shape[0])
        for j in range(human.shape[1])
    ]
    judged = Judgements.from_rows(rows)
    measured = [MetricScores.like(judged, name, values) for name, values in metrics.items()]
    return Grid.align(judged, "quality", measured, missing="keep")


@pytest.fixture
def grid():
    rng = np.random.default_rng(0)
    human = rng.normal(size=(SYSTEMS, SEGMENTS))
    good, bad = human + 0.5 * rng.normal(size=human.shape), human + 2 * rng.normal(size=human.shape)
    bad[0, 0] = np.nan
    return grid_of(human, good=good, bad=bad)


@pytest.mark.parametrize(
    ("name", "scipy"),
    [
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall_b", stats.kendalltau),
        ("kendall_c", lambda x, y: stats.kendalltau(x, y, variant="c")),
    ],
)
def test_flat_values_and_p_values_are_scipys_on_common_cells(grid, name, scipy):
    got = coefficient_matrix(grid, "segment", name)
    assert got.names == ("human", "good", "bad")
    live = np.isfinite(grid.metric("bad"))
    columns = [grid.human[live], grid.metric("good")[live], grid.metric("bad")[live]]
    for i in range(3):
        for j in range(3):
            if i != j:
                want = scipy(columns[i], columns[j])
                assert got.values[i, j] == pytest.approx(want.statistic, abs=1e-12)
                assert got.p[i, j] == pytest.approx(want.pvalue, rel=1e-9)
    np.testing.assert_allclose(np.diag(got.values), 1.0)
    assert np.isnan(np.diag(got.p)).all()
    assert (got.cells, got.cells_dropped) == (59, 1)


def test_system_level_points_are_systems(grid):
    got = coefficient_matrix(grid, "system")
    live = np.isfinite(grid.metric("bad"))
    means = [
        np.nanmean(np.where(live, m, np.nan), axis=1) for m in (grid.human, grid.metric("good"))
    ]
    want = stats.pearsonr(*means)
    assert got.values[0, 1] == pytest.approx(want.statistic)
    assert got.p[0, 1] == pytest.approx(want.pvalue)


@pytest.mark.parametrize("name", ["spearman", "kendall_b", "kendall_c"])
def test_p_of_few_points_are_exact(name):
    def p_of(human, metric):
        return coefficient_matrix(grid_of(np.array(human)[:, None], m=metric), "system", name).p

    for n in range(3, 9):  # the order and its reverse, of n! orders
        order = np.arange(float(n))
        assert p_of(order, order[:, None])[0, 1] == pytest.approx(2 / math.factorial(n))
    tied = [1.0, 1, 2, 2]  # 2 of the 6 ways to choose the larger two
    assert p_of(tied, np.array(tied)[:, None])[0, 1] == pytest.approx(1 / 3)
    metric = [2.0, 1, 5, 5, 4, 3]
    human = [1.0, 2, 3, 4, 4, 6]
    scipys = {"spearman": stats.spearmanr, "kendall_b": stats.kendalltau}
    statistic = scipys.get(name, lambda x, y: stats.kendalltau(x, y, variant="c"))
    null = np.array([statistic(order, human).statistic for order in permutations(metric)])
    want = (np.abs(null) >= abs(null[0]) - 1e-9).mean()
    assert p_of(human, np.array(metric)[:, None])[0, 1] == pytest.approx(want)


def test_p_of_equal_ranks_is_not_0():
    order = np.arange(10.0)
    got = coefficient_matrix(grid_of(order[:, None], m=order[:, None]), "system", "spearman")
    assert got.p[0, 1] == pytest.approx(2 / math.factorial(10))


@pytest.mark.parametrize(
    ("name", "scipy"), [("spearman", stats.spearmanr), ("kendall_b", stats.kendalltau)]
)
def test_p_of_many_points(name, scipy):
    human = np.random.default_rng(1).normal(size=(2, 200))
    metric = 0.1 * human + np.random.default_rng(2).normal(size=human.shape)
    got = coefficient_matrix(grid_of(human, m=metric), "segment", name)
    assert got.p[0, 1] == pytest.approx(scipy(human.ravel(), metric.ravel()).pvalue, rel=1e-9)


def test_text_level_tests_the_inputs(grid):
    got = coefficient_matrix(grid, "text", "spearman")
    live = np.isfinite(grid.metric("bad"))
    rows = per_input(np.where(live, grid.metric("good"), np.nan), grid.human, "spearman")
    assert got.values[0, 1] == pytest.approx(rows.mean())
    assert got.p[0, 1] == pytest.approx(stats.ttest_1samp(rows, 0).pvalue)


def test_accuracy_has_no_p_value(grid):
    got = coefficient_matrix(grid, "text", "accuracy")
    assert np.isnan(got.p).all()
    assert np.isfinite(got.values).all()


def test_constant_metric_is_undefined_not_zero():
    human = np.random.default_rng(0).normal(size=(3, 4))
    got = coefficient_matrix(grid_of(human, flat=np.ones((3, 4))))
    assert np.isnan(got.values[0, 1])
    assert np.isnan(got.p[0, 1])
    assert got.values[0, 0] == 1


def test_williams_matrix(grid):
    got = williams_matrix(grid)
    assert got.names == ("good", "bad")
    assert np.isnan(np.diag(got.p)).all()
    assert got.p[0, 1] == pytest.approx(
        williams_test(grid.metric("good"), grid.metric("bad"), grid.human).p
    )
    assert got.p[0, 1] < 0.05
    assert got.p[0, 1] + got.p[1, 0] == pytest.approx(1)
    flat = coefficient_matrix(grid)
    np.testing.assert_allclose(got.correlations, flat.values[0, 1:])
    assert (got.n, got.cells_dropped) == (59, 1)
    assert (got.ranks(), got.ranks(alpha=got.p[0, 1] / 2)) == ([1, 2], [1, 1])
    assert williams_matrix(grid, "system").n == SYSTEMS
    with pytest.raises(OptionError, match="text level"):
        williams_matrix(grid, "text")


def test_small_p_of_williams_matrix_do_not_depend_on_the_order():
    rng = np.random.default_rng(0)
    human, noise, more = rng.normal(size=(3, 1, 200))
    metrics = {"good": human + 0.01 * noise, "bad": human + more}
    one = williams_matrix(grid_of(human, **metrics)).p
    other = williams_matrix(grid_of(human, **dict(reversed(metrics.items())))).p
    assert 0 < one[0, 1] < 1e-50
    np.testing.assert_allclose(one, other[::-1, ::-1])


@pytest.mark.parametrize("level", ["segment", "text", "system"])
@pytest.mark.parametrize("coefficient", ["pearson", "kendall_b"])
def test_permutation_matrix_is_the_test_of_every_pair(grid, level, coefficient):
    got = permutation_matrix(grid, level, coefficient, count=80, seed=1)
    good, bad = grid.metric("good"), grid.metric("bad")
    options = {"level": level, "coefficient": coefficient, "count": 80, "seed": 1}
    for i, j, pair in ((0, 1, (good, bad)), (1, 0, (bad, good))):
        assert got.p[i, j] == pytest.approx(permutation_test(*pair, grid.human, **options).p)
    assert np.isnan(np.diag(got.p)).all()
    np.testing.assert_array_equal(got.p_holm, holm(got.p))
    flat = coefficient_matrix(grid, level, coefficient)
    np.testing.assert_allclose(got.correlations, flat.values[0, 1:])
    assert got.smallest == pytest.approx(2 / 81)
    assert (got.cells, got.cells_dropped, got.over) == (59, 1, "both")


def test_both_directions_of_a_permutation_test(grid):
    good, bad = grid.metric("good"), grid.metric("bad")
    one = permutation_test(good, bad, grid.human, count=99)
    assert one.p < 0.05
    assert one.p + one.p_reverse >= 1
    two = permutation_test(good, bad, grid.human, count=99, alternative="two-sided")
    assert two.p == two.p_reverse


@pytest.mark.parametrize("inputs", [1, 4])
def test_equal_coefficients_of_inputs_have_no_p_value(inputs):
    human = np.arange(3.0)[:, None] + np.arange(inputs)
    got = coefficient_matrix(grid_of(human, same=human), "text")
    assert got.values[0, 1] == pytest.approx(1)
    assert np.isnan(got.p[0, 1])


def test_no_common_cell_is_an_error():
    human = np.arange(4.0).reshape(2, 2)
    left, right = human.copy(), human.copy()
    left[:, 0] = right[:, 1] = np.nan
    with pytest.raises(DataError, match="no cell is judged and scored by all 2 metrics"):
        coefficient_matrix(grid_of(human, left=left, right=right))


def test_a_metric_may_not_take_the_name_of_people():
    human = np.arange(4.0).reshape(2, 2)
    with pytest.raises(DataError, match="called 'human'"):
        coefficient_matrix(grid_of(human, human=human))


def test_a_coefficient_that_is_not_symmetric_has_no_matrix(grid):
    with pytest.raises(OptionError, match=r"acc_eq calibrates the ties .*has no matrix"):
        coefficient_matrix(grid, "text", "acc_eq")


def test_a_coefficient_of_matrices_has_no_value_for_vectors():
    with pytest.raises(OptionError, match=r"spa compares .* not defined for two vectors"):
        choose_coefficient("spa").rowwise(np.ones((1, 2)), np.ones((1, 2)))


def test_p_values_need_scipy(grid, monkeypatch):
    monkeypatch.setattr(validation, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"a matrix with p-values .*scipy"):
        coefficient_matrix(grid)
