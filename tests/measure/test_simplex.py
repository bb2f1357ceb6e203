"""The simplex that resumes: as good as other solvers, warm or cold, with ties and without."""

import numpy as np
import pytest
from scipy.optimize import linprog

from nlgauge.measure import balanced
from nlgauge.measure import barycenter as barycenters
from nlgauge.measure.barycenter import barycenter

pytest.importorskip("numba", reason="the simplex is compiled by numba (pip install nlgauge[fast])")

from nlgauge.measure.simplex import Simplex


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
def test_hundreds_of_problems_agree_with_pot_however_they_are_begun(masses, prices):
    rng = np.random.default_rng(7)
    for _ in range(25):
        n, m = rng.integers(2, 30, size=2)
        a, b = weights(rng, n, masses), weights(rng, m, masses)
        warm = Simplex(a, b, 2)
        for _ in range(4):
            stack = costs(rng, (2, n, m), prices)
            plans, solved = warm.couple(stack)
            assert solved.all()
            for cost, plan in zip(stack, plans, strict=True):
                check(cost, a, b, plan, (cost * balanced.couple(cost, a, b)).sum())


def test_many_tokens():
    rng = np.random.default_rng(1)
    for shape in ((60, 60), (200, 150)):
        a, b = weights(rng, shape[0], "drawn"), weights(rng, shape[1], "equal")
        stack = rng.random((2, *shape))
        plans, solved = Simplex(a, b, 2).couple(stack)
        assert solved.all()
        for cost, plan in zip(stack, plans, strict=True):
            check(cost, a, b, plan, (cost * balanced.couple(cost, a, b)).sum())


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


def test_costs_that_are_no_numbers_are_not_called_solved():
    a = np.full(5, 0.2)
    _, solved = Simplex(a, np.array([0.1, 0.9]), 1).couple(np.full((1, 5, 2), np.nan))
    assert not solved.any()


class GivesUp:
    """A simplex that never ends."""

    def __init__(self, a, b, count):
        del a, b, count

    def couple(self, stack):
        return np.full(stack.shape, np.nan), np.zeros(len(stack), dtype=bool)


def test_what_the_simplex_leaves_unsolved_goes_to_pot(monkeypatch):
    rng = np.random.default_rng(3)
    a, b = weights(rng, 9, "drawn"), weights(rng, 8, "drawn")
    stack = rng.random((3, 9, 8))
    expected = [balanced.couple(cost, a, b) for cost in stack]
    monkeypatch.setattr(balanced, "_warm_simplex", lambda: GivesUp)
    np.testing.assert_array_equal(balanced.repeated(a, b, 3)(stack), expected)


def both_ways(monkeypatch, layers, masses):
    """A barycenter with numba and without."""
    assert barycenters._machine() is not None
    with_numba = barycenter(layers, masses)
    with monkeypatch.context() as patch:
        patch.setattr(balanced, "_warm_simplex", lambda: None)
        patch.setattr(barycenters, "_machine", lambda: None)
        return with_numba, barycenter(layers, masses)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("repeated", [0, 4])
@pytest.mark.parametrize("silent", [0, 2])
def test_barycenters_are_the_same_without_numba(monkeypatch, seed, repeated, silent):
    rng = np.random.default_rng(seed)
    n = 8 + seed
    layers = rng.normal(size=(n, 6)) + rng.normal(size=(4, n, 6))
    layers[:, n - repeated :] = layers[:, :repeated]
    masses = weights(rng, n, "drawn" if seed % 2 else "whole")
    masses[:silent] = 0
    ours, pots = both_ways(monkeypatch, layers, masses)
    np.testing.assert_allclose(ours.points, pots.points, atol=1e-9)
    np.testing.assert_allclose(ours.objectives, pots.objectives, atol=1e-12)


@pytest.mark.parametrize("masses", [[0, 0, 1.0], [0.2, 0.8, 0], [0.5, 0.3, 0.2]])
@pytest.mark.parametrize("count", [1, 3])
def test_few_tokens_with_weight_have_the_same_barycenter_without_numba(monkeypatch, masses, count):
    layers = np.random.default_rng(count).normal(size=(count, 3, 4))
    ours, pots = both_ways(monkeypatch, layers, np.array(masses))
    np.testing.assert_allclose(ours.points, pots.points, atol=1e-9)
    assert ours.iterations == pots.iterations


def test_real_texts_without_context_have_the_same_barycenters_without_numba(monkeypatch):
    from nlgauge.encode import open_encoder
    from nlgauge.measure.cost import unit

    texts = ["the cat and the dog and the bird", "no no no yes yes no", "a b a b c", "one", "so so"]
    for cloud in open_encoder("hashing").encode(texts, (2, 3, 4)):
        masses = np.random.default_rng(5).gamma(1, size=cloud.points.shape[1])
        ours, pots = both_ways(monkeypatch, unit(cloud.points), masses)
        np.testing.assert_allclose(ours.points, pots.points, atol=1e-9)
