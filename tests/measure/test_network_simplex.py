"""The network simplex has the optima of other solvers, from any start, with and without ties."""

import numpy as np
import ot
import pytest
from scipy.optimize import linprog

import uncompiled_kernels
from nlgauge.core.errors import NotConverged
from nlgauge.kernels import network_simplex
from nlgauge.measure.barycenter import TIE, barycenter
from nlgauge.measure.problem import Problem, solve_concatenated


class Simplex:
    """Optimal couplings for stacks of costs, each begun at the optimum of the last call."""

    def __init__(self, a, b, count):
        self.shape = count, len(a), len(b)
        self.works = [network_simplex.Simplex(len(a), len(b)) for _ in range(count)]
        for work in self.works:
            work.a, work.b = a, b
        self.started, self.costs = False, None

    def couple(self, stack):
        plans, solved = np.zeros(self.shape), np.ones(self.shape[0], dtype=bool)
        _, n, _ = self.shape
        for k, (work, cost) in enumerate(zip(self.works, stack, strict=True)):
            work.costs = cost.ravel()
            changed = True if self.costs is None else (cost != self.costs[k]).any(axis=1)
            np.asarray(work.lists.bounds)[changed] = -np.inf
            if not self.started:
                network_simplex.start_greedily(work)
            _, pivots = network_simplex.reoptimise(work, cost.max())
            solved[k] = pivots >= 0
            for node, (parent, flow) in enumerate(zip(work.parent, work.flow, strict=True)):
                if parent >= 0 and flow >= 1e-15:
                    pair = (node, parent - n) if node < n else (parent, node - n)
                    plans[k][pair] = flow
        self.started, self.costs = True, stack
        return plans, solved


def least(cost, a, b):
    """The least cost, by scipy's linear programming."""
    n, m = cost.shape
    rows, columns = np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))
    found = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([a, b]))
    return found.fun


def check(cost, a, b, plan, value):
    np.testing.assert_allclose(plan.sum(axis=1), a, atol=1e-14)
    np.testing.assert_allclose(plan.sum(axis=0), b, atol=1e-14)
    assert plan.min() >= 0
    assert np.count_nonzero(plan) <= sum(cost.shape) - 1
    assert (cost * plan).sum() == pytest.approx(value, abs=1e-12 * max(cost.max(), 1))


def check_with_pot(simplex, stack, a, b):
    """Every cost matrix of the stack is solved, at the cost that POT finds."""
    plans, solved = simplex.couple(stack)
    assert solved.all()
    for cost, plan in zip(stack, plans, strict=True):
        check(cost, a, b, plan, (cost * ot.emd(a, b, cost)).sum())


def weights(rng, n, kind):
    drawn = {
        "drawn": rng.gamma(1, size=n),
        "equal": np.ones(n),
        "whole": rng.integers(1, 4, size=n).astype(float),
        "tiny": 10.0 ** -rng.integers(0, 13, size=n),
    }[kind]
    return drawn / drawn.sum()


def costs(rng, shape, kind):
    return {
        "drawn": rng.random(shape),
        "whole": rng.integers(0, 4, size=shape).astype(float),
        "zero": np.zeros(shape),
        "equal": np.repeat(rng.random((*shape[:-1], 1)), shape[-1], axis=-1),
    }[kind]


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 2), (2, 7), (6, 4), (9, 9), (12, 8)])
@pytest.mark.parametrize("masses", ["drawn", "equal", "whole"])
@pytest.mark.parametrize("prices", ["drawn", "whole", "zero", "equal"])
def test_linear_programming_finds_nothing_cheaper(shape, masses, prices):
    rng = np.random.default_rng(sum(shape))
    a, b = (weights(rng, n, masses) for n in shape)
    stack = costs(rng, (2, *shape), prices)
    plans, solved = Simplex(a, b, 2).couple(stack)
    assert solved.all()
    for cost, plan in zip(stack, plans, strict=True):
        check(cost, a, b, plan, least(cost, a, b))


@pytest.mark.parametrize("masses", ["drawn", "equal", "whole", "tiny"])
@pytest.mark.parametrize("prices", ["drawn", "whole"])
def test_hundreds_of_problems_agree_with_pot_from_any_start(masses, prices):
    rng = np.random.default_rng(7)
    for _ in range(25):
        n, m = rng.integers(2, 30, size=2)
        a, b = weights(rng, n, masses), weights(rng, m, masses)
        warm = Simplex(a, b, 2)
        for _ in range(4):
            stack = costs(rng, (2, n, m), prices)
            check_with_pot(warm, stack, a, b)


def test_many_tokens():
    rng = np.random.default_rng(1)
    for shape in ((60, 60), (200, 150)):
        a, b = weights(rng, shape[0], "drawn"), weights(rng, shape[1], "equal")
        stack = rng.random((2, *shape))
        check_with_pot(Simplex(a, b, 2), stack, a, b)


@pytest.mark.parametrize("prices", ["drawn", "whole"])
@pytest.mark.parametrize("seed", range(4))
def test_rows_of_many_columns_are_priced_by_lists_and_then_by_all(prices, seed):
    rng = np.random.default_rng(seed)
    shape = 40, 800  # rows of at least 768 columns have lists
    a, b = weights(rng, shape[0], "drawn"), weights(rng, shape[1], "equal")
    simplex = Simplex(a, b, 2)
    for _ in range(3):  # the second time with the lists of other costs
        stack = costs(rng, (2, *shape), prices)
        check_with_pot(simplex, stack, a, b)


@pytest.mark.parametrize("prices", ["drawn", "whole"])
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_rows_whose_costs_did_not_change_are_proven_by_their_bounds(prices, share):
    rng = np.random.default_rng(5)
    shape = 2, 60, 900
    a, b = weights(rng, 60, "drawn"), weights(rng, 900, "equal")
    simplex = Simplex(a, b, 2)
    stack = costs(rng, shape, prices)
    for _ in range(6):
        check_with_pot(simplex, stack, a, b)
        changed = rng.random(60) < share
        stack = np.where(changed[:, None], costs(rng, shape, prices), stack)


def test_a_plan_does_not_depend_on_what_was_solved_before():
    rng = np.random.default_rng(2)
    a, b = weights(rng, 14, "drawn"), weights(rng, 11, "equal")
    stack = rng.random((3, 14, 11))
    cold, _ = Simplex(a, b, 3).couple(stack)
    warm = Simplex(a, b, 3)
    for _ in range(5):
        warm.couple(rng.random((3, 14, 11)))
    again, _ = warm.couple(stack)
    np.testing.assert_allclose(again, cold, atol=1e-15)
    np.testing.assert_array_equal(warm.couple(stack)[0], again)


def test_nan_costs_are_reported_as_not_solved():
    a = np.full(5, 0.2)
    _, solved = Simplex(a, np.array([0.1, 0.9]), 1).couple(np.full((1, 5, 2), np.nan))
    assert not solved.any()


def test_the_transport_solver_starts_afresh_for_every_problem():
    rng = np.random.default_rng(3)
    problems = []
    for n, m in ((9, 8), (1, 5), (14, 30), (30, 1500), (20, 800), (7, 7), (40, 800), (5, 1)):
        a, b = weights(rng, n, "drawn"), weights(rng, m, "whole")
        problems.append(Problem(rng.random((n, m)), a, b))
    found = solve_concatenated(problems, network_simplex.solve_all)
    for problem, one in zip(problems, found, strict=True):
        assert one.converged
        check(*problem, one.coupling, (problem.cost * ot.emd(*problem[1:], problem.cost)).sum())
        (alone,) = solve_concatenated([problem], network_simplex.solve_all)
        np.testing.assert_array_equal(alone.coupling, one.coupling)


def test_a_barycenter_of_nan_has_not_converged():
    with pytest.raises(NotConverged, match="3 layers and 4 tokens"):
        barycenter(np.full((3, 4, 2), np.nan), [1, 2, 3, 4])


def by_pot(layers, mass):
    """The fixed point with couplings from POT; a small preference of each pair breaks ties."""
    count, n, _ = layers.shape
    used = mass > 0
    tokens, masses = layers[:, used], mass[used] / mass.sum()
    m = used.sum()
    preference = TIE * (tokens**2).sum(axis=2).max()
    preference = preference * np.random.default_rng(0).random(n * m).reshape(n, m)
    points, best, objectives = layers.mean(axis=0), None, []
    while True:
        costs = ((points[None, :, None] - tokens[:, None]) ** 2).sum(axis=3)
        plans = [ot.emd(np.full(n, 1 / n), masses, cost + preference) for cost in costs]
        value = np.mean([(c * p).sum() for c, p in zip(costs, plans, strict=True)])
        if objectives and value >= objectives[-1]:
            return best, objectives
        best = points
        objectives.append(value)
        if len(objectives) > 1 and objectives[-2] - value <= 1e-10 * value:
            return best, objectives
        points = n / count * sum(p @ z for p, z in zip(plans, tokens, strict=True))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("repeated", [0, 4])
@pytest.mark.parametrize("silent", [0, 2])
def test_barycenters_are_those_of_another_solver(seed, repeated, silent):
    rng = np.random.default_rng(seed)
    n = 8 + seed
    layers = rng.normal(size=(n, 6)) + rng.normal(size=(4, n, 6))
    layers[:, n - repeated :] = layers[:, :repeated]
    masses = weights(rng, n, "drawn" if seed % 2 else "whole")
    masses[:silent] = 0
    ours = barycenter(layers, masses)
    points, objectives = by_pot(layers, masses)
    np.testing.assert_allclose(ours.points, points, atol=1e-9)
    shared = min(len(objectives), ours.iterations)
    np.testing.assert_allclose(ours.objectives[:shared], objectives[:shared], atol=1e-12)


@pytest.mark.parametrize("masses", [[0, 0, 1.0], [0.2, 0.8, 0], [0.5, 0.3, 0.2], [1.0, 1.0, 1.0]])
@pytest.mark.parametrize("count", [1, 3])
def test_few_tokens_have_the_same_barycenter_uncompiled(monkeypatch, masses, count):
    layers = np.random.default_rng(count).normal(size=(count, 3, 4))
    ours = barycenter(layers, np.array(masses))
    uncompiled_kernels.use(monkeypatch)
    plain = barycenter(layers, np.array(masses))
    np.testing.assert_allclose(ours.points, plain.points, atol=1e-12)
    assert ours.iterations == plain.iterations


def test_equal_weights_have_the_assignments_of_scipy():
    """Points that leave their own tokens, as in one layer of another order."""
    from scipy.optimize import linear_sum_assignment

    rng = np.random.default_rng(11)
    for n in (2, 5, 12):
        layers = np.stack([rng.normal(size=(n, 3)) for _ in range(3)])
        found = barycenter(layers)
        assert found.iterations > 1 or n == 2
        moved = np.zeros((n, 3))
        for layer in layers:
            cost = ((found.points[:, None] - layer) ** 2).sum(axis=2)
            moved += layer[linear_sum_assignment(cost)[1]] / 3
        np.testing.assert_allclose(moved, found.points, atol=1e-9)


def test_real_texts_without_context_have_the_barycenters_of_another_solver():
    from nlgauge.encode import open_encoder
    from nlgauge.measure.cost import unit

    texts = ["the cat and the dog and the bird", "no no no yes yes no", "a b a b c", "one", "so so"]
    for cloud in open_encoder("hashing").encode(texts, (2, 3, 4)):
        masses = np.random.default_rng(5).gamma(1, size=cloud.points.shape[1])
        layers = unit(cloud.points)
        ours = barycenter(layers, masses)
        np.testing.assert_allclose(ours.points, by_pot(layers, masses)[0], atol=1e-9)
