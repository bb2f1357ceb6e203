"""Unbalanced transport: plans whose optimality is proved by duality, with ties and without."""

import math

import numpy as np
import pytest

from nlgauge.kernels.duality import Workspace
from nlgauge.kernels.support import Forest, solve_on_support
from nlgauge.measure import unbalanced
from nlgauge.measure.problem import Problem
from nlgauge.measure.transport import match, match_many

INF = math.inf
PENALTIES = [(0.23, 0.31), (0.018, 0.97), (0.009, 0.95), (INF, 0.3), (0.3, INF), (50.0, 1e4)]


def weights(rng, n, kind):
    drawn = {
        "drawn": rng.gamma(1, size=n),
        "equal": np.ones(n),
        "tiny": 10.0 ** -rng.integers(0, 8, size=n),
    }[kind]
    return drawn / drawn.sum()


def problem(rng, n, m, kind="drawn"):
    x, y = rng.normal(size=(n, 6)), rng.normal(size=(m, 6))
    y[: min(n, m)] += x[: min(n, m)]
    x, y = (z / np.linalg.norm(z, axis=1, keepdims=True) for z in (x, y))
    return np.maximum(1 - x @ y.T, 0), weights(rng, n, kind), weights(rng, m, kind)


def draw(seed, kind, count=40):
    rng = np.random.default_rng(seed)
    shapes = [(1, 1), (1, 9), (9, 1), *rng.integers(1, 30, size=(count, 2)).tolist()]
    return [problem(rng, n, m, kind) for n, m in shapes]


def parts(problems):
    return [list(part) for part in zip(*problems, strict=True)]


def lower_bound(plan, penalty_a, penalty_b):
    """The better of the dual values that follow from the marginals of a plan."""

    def bound(cost, a, b, marginal, pa, pb):
        f = -pa * np.log(marginal / a)
        g = (cost - f[:, None]).min(axis=0)  # the largest with f + g <= C
        value = -pa * (a @ np.expm1(-f / pa))
        return value + (b @ g if pb == INF else -pb * (b @ np.expm1(-g / pb)))

    sides = [
        (plan.cost, plan.a, plan.b, plan.marginal_a, penalty_a, penalty_b),
        (plan.cost.T, plan.b, plan.a, plan.marginal_b, penalty_b, penalty_a),
    ]
    return max(bound(*side) for side in sides if side[4] < INF)


@pytest.mark.parametrize("kind", ["drawn", "equal", "tiny"])
@pytest.mark.parametrize("penalties", PENALTIES)
def test_dual_values_prove_the_objective(penalties, kind):
    """To 1e-10, or to what the conditioning of ln(marginal / weight) leaves of it."""
    given = parts(draw(1, kind))
    plans = match_many(*given, penalty_a=penalties[0], penalty_b=penalties[1])
    rounding = 1e-12 * max(p for p in penalties if p < INF)
    for plan in plans:
        gap = plan.objective - lower_bound(plan, *penalties)
        assert -1e-10 <= gap <= 1e-10 + rounding
        assert plan.converged
        assert plan.residual <= 1e-10 * max(plan.cost.max(), 1e-4 * max(penalties[0], 1))


def test_the_fast_method_solves_all_of_them():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unbalanced, "ROBUST", unbalanced.FAST._replace(steps=0))
        for kind in ("drawn", "equal"):
            for penalties in PENALTIES:
                problems = [Problem(*given) for given in draw(2, kind)]
                solutions = unbalanced.solve(problems, *penalties)
                assert all(one.converged for one in solutions)
                assert all(one.iterations <= unbalanced.FAST.steps for one in solutions)


@pytest.mark.parametrize("kind", ["drawn", "equal", "tiny"])
def test_the_first_order_condition_holds_to_the_last_digits(kind):
    """At the optimum P -> tP is stationary: objective = (pa + pb) (1 - mass)."""
    for plan in match_many(*parts(draw(3, kind)), penalty_a=0.23, penalty_b=0.31):
        assert plan.objective == pytest.approx(0.54 * (1 - plan.mass), abs=1e-14)


def test_marginals_prove_the_plan_optimal():
    """With f from the rows' marginals, f + g <= C and equality where something is moved."""
    for cost, a, b in draw(4, "drawn"):
        plan = match(cost, a, b, penalty_a=0.23, penalty_b=0.31)
        f = -0.23 * np.log(plan.marginal_a / plan.a)
        g = -0.31 * np.log(plan.marginal_b / plan.b)
        slack = cost - f[:, None] - g
        assert slack.min() > -1e-11
        assert np.abs(slack[plan.coupling > 0]).max() < 1e-11


def test_an_infinite_penalty_is_met():
    for cost, a, b in draw(5, "tiny"):
        np.testing.assert_allclose(match(cost, a, b, penalty_b=0.3).marginal_a, a, rtol=1e-9)
        np.testing.assert_allclose(match(cost, a, b, penalty_a=0.3).marginal_b, b, rtol=1e-9)


@pytest.mark.parametrize("penalties", PENALTIES)
def test_halves_of_the_same_tokens_cost_nothing(penalties):
    """19 tokens against 38 of half their weight: a degenerate optimum."""
    x = np.random.default_rng(6).normal(size=(19, 6))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    cost = 1 - x @ np.repeat(x, 2, axis=0).T
    cost[cost < 1e-12] = 0
    plan = match(cost, np.ones(19), np.ones(38), penalty_a=penalties[0], penalty_b=penalties[1])
    assert plan.value == 0
    assert plan.mass == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("penalties", PENALTIES)
def test_ties_leave_many_optima_of_one_value(penalties):
    """Words that occur twice close cycles in the support, and costs of few values many more."""
    rng = np.random.default_rng(7)
    options = dict(zip(("penalty_a", "penalty_b"), penalties, strict=True))
    problems = []
    for n, m in rng.integers(2, 20, size=(10, 2)):
        cost = rng.integers(0, 3, size=(n, m)) / 2.0
        cost[-1], cost[:, -1] = cost[0], cost[:, 0]
        problems.append((cost, np.ones(n), np.ones(m)))
    for plan in match_many(*parts(problems), **options):
        assert plan.objective == pytest.approx(lower_bound(plan, *penalties), abs=1e-9)


def test_long_texts():
    (plan,) = match_many(
        *parts([problem(np.random.default_rng(8), 130, 90)]), penalty_a=0.23, penalty_b=0.31
    )
    assert plan.objective == pytest.approx(lower_bound(plan, 0.23, 0.31), abs=1e-12)
    assert plan.residual <= 1e-12


def test_the_robust_method_solves_what_the_fast_one_does_not(monkeypatch):
    given = problem(np.random.default_rng(9), 12, 14)
    right = match(*given, penalty_a=0.23, penalty_b=0.31)
    monkeypatch.setattr(unbalanced, "FAST", unbalanced.FAST._replace(steps=1))
    plan = match(*given, penalty_a=0.23, penalty_b=0.31)
    assert plan.converged
    assert plan.iterations > 1 + right.iterations
    assert plan.value == pytest.approx(right.value, abs=1e-9)
    monkeypatch.setattr(unbalanced, "ROBUST", unbalanced.FAST)
    assert not match(*given, penalty_a=0.23, penalty_b=0.31, strict=False).converged


class TestSupport:
    """Two tokens against two, with supports of our own."""

    def solve(self, cost, matched):
        n, m = cost.shape
        work = Workspace(n, m)
        work.a, work.b = np.full(n, 1 / n), np.full(m, 1 / m)
        work.rate_a, work.rate_b = 1 / 0.2, 1 / 0.3
        work.cost, work.f = cost.ravel(), np.zeros(n)
        work.slack_change = np.where(matched, -1.0, 0.0).ravel()
        work.plan_change = -1.0 - np.asarray(work.slack_change)
        found = solve_on_support(Forest(n + m), work)
        f, g, plan = (np.asarray(x) for x in (work.next_f, work.next_g, work.coupling))
        return found, f, g, plan.reshape(n, m)

    def test_pairs_keep_what_a_lone_pair_keeps(self):
        found, f, g, plan = self.solve(np.array([[0.1, 1.0], [1.0, 0.4]]), np.eye(2, dtype=bool))
        assert found
        np.testing.assert_allclose(np.diag(plan), np.exp(-np.array([0.1, 0.4]) / 0.5) / 2)
        np.testing.assert_allclose(f + g, [0.1, 0.4])

    @pytest.mark.parametrize(
        "matched",
        [
            [[True, True], [True, True]],  # a cycle
            [[True, False], [True, False]],  # a column alone
            [[True, True], [False, False]],  # a row alone
            [[False, False], [False, False]],
        ],
    )
    def test_other_supports_have_no_such_optimum(self, matched):
        assert not self.solve(np.array([[0.1, 1.0], [1.0, 0.4]]), np.array(matched))[0]

    def test_a_negative_flow_is_refused(self):
        """The expensive column would need a negative flow from the expensive row."""
        cost = np.array([[0.1, 1.9], [0.1, 0.1]])
        chain = np.array([[True, True], [False, True]])
        assert not self.solve(cost, chain)[0]


@pytest.mark.parametrize("penalty", [1e-5, 1e-8])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (150, 130)])
def test_tiny_penalties_leave_the_pairs_without_cost(penalty, shape):
    """Between equal tokens, the mass is the weighted geometric mean of their weights."""
    rng = np.random.default_rng(shape)
    cost = rng.uniform(0.8, 2, shape)
    cost[0, 0] = 0
    a, b = (rng.dirichlet(np.ones(n)) for n in shape)
    plan = match(cost, a, b, penalty_a=penalty, penalty_b=3 * penalty)
    expected = np.zeros(shape)
    expected[0, 0] = a[0] ** 0.25 * b[0] ** 0.75
    np.testing.assert_allclose(plan.coupling, expected, atol=1e-9)
    assert plan.value == 0
    assert plan.objective == pytest.approx(4 * penalty * (1 - expected[0, 0]), rel=1e-9)
