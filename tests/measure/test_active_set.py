"""Unbalanced transport of large problems: the same optima as the interior-point method finds."""

import math

import numpy as np
import pytest

import uncompiled_kernels
from nlgauge.kernels import active_set
from nlgauge.measure import unbalanced
from nlgauge.measure.problem import Problem, solve_concatenated
from nlgauge.measure.transport import match

INF = math.inf
PENALTIES = [(0.23, 0.31), (0.018, 0.97), (0.009, 0.95), (INF, 0.3), (0.3, INF), (50.0, 1e4)]


def draw(seed, shape, weights="drawn", costs="drawn"):
    rng = np.random.default_rng(seed)
    x, y = (rng.normal(size=(n, 6)) for n in shape)
    y[: min(shape)] += x[: min(shape)]
    x, y = (z / np.linalg.norm(z, axis=1, keepdims=True) for z in (x, y))
    cost = np.maximum(1 - x @ y.T, 0)
    if costs == "tied":
        cost = np.round(3 * cost) / 3
    elif costs == "zero":
        cost = np.where(cost < 0.4, 0.0, cost)
    made = {
        "drawn": lambda n: rng.gamma(1, size=n),
        "equal": np.ones,
        "tiny": lambda n: 10.0 ** -rng.integers(0, 8, size=n),
    }[weights]
    a, b = made(shape[0]), made(shape[1])
    return Problem(cost, a / a.sum(), b / b.sum())


def solve(problem, penalties, kernel=active_set):
    scale = max(1e-4 * p for p in penalties if p < INF)
    rates = 1 / penalties[0], 1 / penalties[1]
    return solve_concatenated([problem], kernel.solve_all, *rates, scale)[0]


def objective(problem, plan, penalties):
    """The objective by its definition."""
    total = (problem.cost * plan).sum()
    sides = (plan.sum(axis=1), problem.a), (plan.sum(axis=0), problem.b)
    for (x, y), penalty in zip(sides, penalties, strict=True):
        if penalty < INF:
            total += penalty * (x * np.log(np.where(x > 0, x, 1) / y) - x + y).sum()
    return total


@pytest.mark.parametrize("penalties", PENALTIES)
@pytest.mark.parametrize("weights", ["drawn", "equal", "tiny"])
@pytest.mark.parametrize("costs", ["drawn", "tied", "zero"])
def test_no_other_method_finds_less(penalties, weights, costs):
    rng = np.random.default_rng(1)
    for seed, (n, m) in enumerate([(1, 1), (1, 7), (8, 1), *rng.integers(2, 40, size=(6, 2))]):
        problem = draw(seed, (n, m), weights, costs)
        found = solve(problem, penalties)
        assert found.converged
        assert found.residual <= 1e-11 * max(1.0, *(p for p in penalties if p < INF))
        assert found.coupling.min() >= 0
        assert np.count_nonzero(found.coupling) <= n + m - 1
        (other,) = unbalanced.solve([problem], *penalties)  # the interior point: few pairs
        least = objective(problem, other.coupling, penalties)
        size = max(1.0, *(p for p in penalties if p < INF))
        assert objective(problem, found.coupling, penalties) == pytest.approx(
            least, abs=1e-11 * size
        )


@pytest.mark.parametrize("penalties", PENALTIES)
def test_potentials_prove_a_long_pair_optimal(penalties):
    """Any f + g <= C bounds the optimum: here f from the marginals, and the largest g."""
    problem = draw(3, (310, 260))
    options = dict(zip(("penalty_a", "penalty_b"), penalties, strict=True))
    assert problem.cost.size >= unbalanced.LARGE
    plan = match(*problem, **options)
    assert plan.converged
    cost, a, b, marginal = problem.cost, problem.a, problem.b, plan.marginal_a
    pa, pb = penalties
    if pa == INF:
        cost, a, b, marginal, pa, pb = cost.T, b, a, plan.marginal_b, pb, pa
    f = -pa * np.log(marginal / a)
    g = (cost - f[:, None]).min(axis=0)
    bound = -pa * (a @ np.expm1(-f / pa))
    bound += b @ g if pb == INF else -pb * (b @ np.expm1(-g / pb))
    assert plan.objective == pytest.approx(bound, abs=1e-9)


def test_equal_long_texts_cost_nothing():
    x = np.random.default_rng(5).normal(size=(140, 8))
    x[100:] = x[:40]  # words that occur twice
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    cost = 1 - x @ x.T
    cost[cost < 1e-12] = 0
    assert cost.size >= unbalanced.LARGE
    plan = match(cost, np.ones(140), np.ones(140), penalty_a=0.23, penalty_b=0.31)
    assert plan.value == 0
    assert plan.mass == pytest.approx(1, abs=1e-12)


def test_problems_that_underflow_are_solved_by_the_interior_point_method():
    problem = draw(4, (6, 7))
    tiny = 1e-3, 1e-3
    rng = np.random.default_rng(8)
    problems = [draw(seed, rng.integers(4, 12, size=2)) for seed in range(60)]
    failed = [each for each in problems if not solve(each, tiny).converged]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unbalanced, "LARGE", 1)
        for found in unbalanced.solve([problem, *problems], *tiny):
            assert found.converged
            assert found.iterations >= 0
    assert len(failed) < len(problems) / 2


def test_many_zero_weights_and_a_single_row():
    problem = draw(6, (150, 120), "equal")
    a = problem.a.copy()
    a[10:140] = 0
    plan = match(problem.cost, a, problem.b, penalty_a=0.23, penalty_b=0.31)
    kept = match(problem.cost[a > 0], a[a > 0], problem.b, penalty_a=0.23, penalty_b=0.31)
    assert plan.value == pytest.approx(kept.value, abs=1e-15)
    assert not plan.coupling[10:140].any()


def test_nan_costs_are_reported_as_not_solved():
    problem = Problem(np.full((5, 4), np.nan), np.full(5, 0.2), np.full(4, 0.25))
    assert not solve(problem, (0.2, 0.3)).converged


@pytest.mark.parametrize("penalties", [(0.23, 0.31), (0.009, 0.95), (INF, 0.3)])
def test_the_uncompiled_source_gives_the_same_plan(penalties):
    plain = uncompiled_kernels.load()["active_set"]
    for seed, shape in enumerate([(1, 1), (3, 5), (12, 9)]):
        problem = draw(seed, shape)
        ours, other = solve(problem, penalties), solve(problem, penalties, plain)
        np.testing.assert_allclose(ours.coupling, other.coupling, atol=1e-13)
        assert other.converged
