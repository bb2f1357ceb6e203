"""Transport with one free side: the closed form with entropy, its limits and its range."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from nlgauge.measure.cost import cosine
from nlgauge.measure.transport import match

INF = math.inf


def problem(seed, n, m):
    rng = np.random.default_rng(seed)
    cost = cosine(rng.normal(size=(n, 5)), rng.normal(size=(m, 5)))
    return cost, rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))


def by_convex_programming(cost, a, b, penalty, epsilon, reference):
    """Return the plan from SLSQP on the documented objective: no transport code involved."""
    measure = np.outer(a, b) if reference == "product" else np.ones_like(cost)

    def divergence(x, y):
        return float((x * np.log(x / y) - x + y).sum())

    def objective(flat):
        plan = flat.reshape(cost.shape)
        value = float((cost * plan).sum()) + epsilon * divergence(plan, measure)
        return value + (0 if math.isinf(penalty) else penalty * divergence(plan.sum(axis=1), a))

    rows = {"type": "eq", "fun": lambda flat: flat.reshape(cost.shape).sum(axis=1) - a}
    found = minimize(
        objective,
        np.outer(a, b).ravel(),
        method="SLSQP",
        bounds=[(1e-12, None)] * cost.size,
        constraints=[rows] if math.isinf(penalty) else [],
        options={"maxiter": 2000, "ftol": 1e-15},
    )
    return found.x.reshape(cost.shape)


@pytest.mark.parametrize("reference", ["product", "ones"])
@pytest.mark.parametrize("penalty", [INF, 0.4, 0.0])
@pytest.mark.parametrize("epsilon", [0.05, 0.3, 2.0])
def test_equals_an_independent_convex_solver(penalty, epsilon, reference):
    cost, a, b = problem(1, 4, 3)
    expected = by_convex_programming(cost, a, b, penalty, epsilon, reference)
    options = {"epsilon": epsilon, "reference": reference}
    rows = match(cost, a, b, penalty_a=penalty, penalty_b=0, **options)
    np.testing.assert_allclose(rows.coupling, expected, atol=1e-5)
    columns = match(cost.T, b, a, penalty_a=0, penalty_b=penalty, **options)
    np.testing.assert_allclose(columns.coupling, rows.coupling.T, atol=1e-15)


def test_is_a_softmax_of_every_row_weighted_by_the_other_side():
    cost, a, b = problem(2, 6, 4)
    powers = b * np.exp(-cost / 0.1)
    expected = a[:, None] * powers / powers.sum(axis=1, keepdims=True)
    found = match(cost, a, b, penalty_b=0, epsilon=0.1)
    np.testing.assert_allclose(found.coupling, expected, rtol=1e-12)
    np.testing.assert_allclose(found.marginal_a, a, rtol=1e-12)
    uniform = match(cost, np.ones(6), np.ones(4), penalty_b=0, epsilon=0.1)
    plain = np.exp(-cost / 0.1)
    np.testing.assert_allclose(uniform.coupling, plain / plain.sum(axis=1)[:, None] / 6, rtol=1e-12)


@pytest.mark.parametrize("penalty", [INF, 0.4])
def test_a_small_epsilon_is_greedy_and_a_large_one_ignores_the_cost(penalty):
    cost, a, b = problem(3, 7, 5)
    greedy = match(cost, a, b, penalty_a=penalty, penalty_b=0)
    for epsilon in (1e-12, 1e-6):
        soft = match(cost, a, b, penalty_a=penalty, penalty_b=0, epsilon=epsilon)
        np.testing.assert_allclose(soft.coupling, greedy.coupling, atol=1e-5)
    blurred = match(cost, a, b, penalty_a=penalty, penalty_b=0, epsilon=1e6)
    np.testing.assert_allclose(blurred.coupling, np.outer(a, b), rtol=1e-5)
    assert blurred.value == pytest.approx(a @ cost @ b, rel=1e-5)


def test_ties_share_their_mass():
    plan = match([[0.0, 0.0, 1.0]], [1], [1, 3, 4], penalty_b=0, epsilon=1e-12)
    np.testing.assert_allclose(plan.coupling, [[0.25, 0.75, 0.0]], atol=1e-15)


def test_tokens_without_weight_are_no_partners():
    cost, a, b = problem(4, 5, 4)
    a[1], b[2] = 0, 0
    plan = match(cost, a, b, penalty_b=0, epsilon=0.2)
    assert plan.coupling[1].sum() == plan.coupling[:, 2].sum() == 0
    np.testing.assert_allclose(plan.marginal_a, a / a.sum(), rtol=1e-12)


@pytest.mark.parametrize("epsilon", [1e-12, 0.1, 1e6])
def test_ten_thousand_tokens(epsilon):
    rng = np.random.default_rng(5)
    cost, weights = rng.uniform(0, 2, (10_000, 300)), rng.dirichlet(np.ones(10_000))
    plan = match(cost, weights, np.ones(300), penalty_b=0, epsilon=epsilon)
    assert np.isfinite(plan.coupling).all()
    np.testing.assert_allclose(plan.marginal_a, weights, rtol=1e-9)
    turned = match(cost.T, np.ones(300), weights, penalty_a=0, epsilon=epsilon)
    np.testing.assert_allclose(turned.coupling, plan.coupling.T, rtol=1e-12)
