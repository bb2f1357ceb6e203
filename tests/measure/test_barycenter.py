"""Barycenters: fixed points, a decreasing objective, and cases known in closed form."""

import numpy as np
import pytest

from nlgauge.core.errors import DataError, NotConverged, OptionError, ShapeError
from nlgauge.measure import large_barycenter
from nlgauge.measure.barycenter import barycenter
from nlgauge.measure.cost import squared_euclid
from nlgauge.measure.transport import match
from nlgauge.runtime.threads import map_in_threads


def states(seed, count=4, n=9, d=5, noise=1.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + noise * rng.normal(size=(count, n, d))


def objective(points, layers, weights):
    n = len(points)
    return np.mean(
        [
            match(
                squared_euclid(points, z, normalise=False),
                np.full(n, 1 / n),
                weights / weights.sum(),
            ).value
            for z in layers
        ]
    )


def test_identity_couplings_give_the_mean_after_one_certified_step():
    z = states(0, noise=0.05)
    found = barycenter(z)
    assert (found.iterations, found.converged) == (1, True)
    np.testing.assert_allclose(found.points, z.mean(axis=0))
    np.testing.assert_allclose(found.weights, 1 / 9)
    spread = ((z - z.mean(axis=0)) ** 2).sum(axis=2).mean()
    assert found.objective == pytest.approx(spread)


def test_duplicate_tokens_do_not_move_a_fixed_point():
    z = states(1, noise=0.05)
    z[:, 4] = z[:, 2]
    found = barycenter(z)
    assert found.iterations == 1
    np.testing.assert_allclose(found.points, z.mean(axis=0))


def test_one_layer_is_its_own_barycenter():
    z = states(2, count=1)
    found = barycenter(z)
    np.testing.assert_allclose(found.points, z[0])
    assert found.objective == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_reported_objective_is_correct_and_never_increases(seed):
    z = states(seed, noise=2.0)
    weights = np.random.default_rng(seed).gamma(1, size=9)
    for given in (None, weights):
        found = barycenter(z, given)
        falls = np.diff(found.objectives)
        assert np.all(falls < 0)
        assert found.converged
        mass = np.ones(9) if given is None else weights
        assert found.objective == pytest.approx(objective(found.points, z, mass), abs=1e-9)
        assert found.objective <= objective(z.mean(axis=0), z, mass) + 1e-12
        assert len(found.objectives) == found.iterations


def test_the_barycenter_is_a_fixed_point():
    z, weights = states(7, noise=2.0), np.random.default_rng(7).gamma(1, size=9)
    found = barycenter(z, weights, tolerance=0)
    moved = np.zeros_like(found.points)
    for layer in z:
        cost = squared_euclid(found.points, layer, normalise=False)
        plan = match(cost, np.full(9, 1 / 9), weights / weights.sum())
        moved += 9 * plan.coupling @ layer / len(z)
    np.testing.assert_allclose(moved, found.points, atol=1e-9)


def test_weights_matter_and_constant_weights_do_not():
    z = states(8)
    plain = barycenter(z)
    np.testing.assert_array_equal(barycenter(z, np.full(9, 3.0)).points, plain.points)
    weights = np.arange(1.0, 10.0)
    assert np.abs(barycenter(z, weights).points - plain.points).max() > 0.01


def test_tokens_without_weight_are_not_approached():
    z = states(9)
    z[:, 3] += 1000.0
    weights = np.ones(9)
    weights[3] = 0
    found = barycenter(z, weights)
    assert np.abs(found.points).max() < 50
    assert found.points.shape == (9, 5)


def test_invalid_arguments_are_refused():
    with pytest.raises(ShapeError, match=r"\(9, 5\)"):
        barycenter(states(0)[0])
    with pytest.raises(ShapeError, match="9 tokens need 9 weights"):
        barycenter(states(0), np.ones(4))
    with pytest.raises(DataError, match="positive"):
        barycenter(states(0), np.zeros(9))
    with pytest.raises(OptionError, match="steps"):
        barycenter(states(0), steps=0)
    with pytest.raises(OptionError, match="tolerance 0, got 200, -1"):
        barycenter(states(0), tolerance=-1)


def test_too_few_iterations_are_reported():
    z, weights = states(7, noise=2.0), np.random.default_rng(7).gamma(1, size=9)
    with pytest.raises(NotConverged, match="after 1 steps"):
        barycenter(z, weights, steps=1)
    assert not barycenter(z, weights, steps=1, strict=False).converged


def plain_fixed_point(layers, mass):
    """The iteration as written down: distances from coordinates, every plan from ``match``."""
    count, n, _ = layers.shape
    points, best, before = layers.mean(axis=0), layers[0], np.inf
    while True:
        costs = [((points[:, None] - z) ** 2).sum(axis=2) for z in layers]
        plans = [match(cost, np.full(n, 1 / n), mass / mass.sum()).coupling for cost in costs]
        value = np.mean([(c * p).sum() for c, p in zip(costs, plans, strict=True)])
        if value >= before:
            return best
        best = points
        if before - value <= 1e-10 * value:
            return best
        before = value
        points = n / count * sum(p @ z for p, z in zip(plans, layers, strict=True))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("silent", [0, 2])
def test_scalar_products_lead_to_the_points_of_the_plain_iteration(seed, silent):
    z = states(seed, count=5, n=14, d=40, noise=1.5)
    mass = np.random.default_rng(seed).gamma(1, size=14)
    mass[:silent] = 0
    found = barycenter(z, mass)
    assert found.iterations > 1
    np.testing.assert_allclose(found.points, plain_fixed_point(z, mass), atol=1e-9)


@pytest.mark.parametrize("kind", ["drawn", "zeros", "equal", "repeated"])
@pytest.mark.parametrize("seed", range(4))
def test_long_texts_have_the_barycenters_of_short_ones(monkeypatch, kind, seed):
    """The iteration without scalar products of all tokens makes the same steps."""
    rng = np.random.default_rng(seed)
    z = states(seed, n=12 + seed, noise=1.5)
    weights = np.ones(12 + seed) if kind == "equal" else rng.gamma(1, size=12 + seed)
    if kind == "zeros":
        weights[:3] = 0
    if kind == "repeated":
        z[:, -4:] = z[:, :4]
    short = barycenter(z, weights)
    monkeypatch.setattr("nlgauge.measure.barycenter.MAX_PRODUCTS", 0)
    monkeypatch.setattr("nlgauge.measure.cost.BLOCK_CELLS", 30)  # blocks of 2 rows
    long = barycenter(z, weights)
    assert (long.iterations, long.converged) == (short.iterations, short.converged)
    np.testing.assert_allclose(long.objectives, short.objectives, atol=1e-12)
    np.testing.assert_allclose(long.points, short.points, atol=1e-12)


@pytest.mark.parametrize("kind", ["drawn", "equal"])
def test_threads_do_not_change_the_barycenter_of_a_long_text(monkeypatch, kind):
    monkeypatch.setattr("nlgauge.measure.barycenter.MAX_PRODUCTS", 0)
    monkeypatch.setattr("nlgauge.runtime.threads.thread_count", lambda: 3)
    z, weights = states(5, n=40, noise=1.5), np.random.default_rng(5).gamma(1, size=40)
    weights = np.ones(40) if kind == "equal" else weights
    one, several = barycenter(z, weights), barycenter(z, weights, map_layers=map_in_threads)
    assert one.iterations > 2
    assert several.objectives == one.objectives
    np.testing.assert_array_equal(several.points, one.points)


def test_a_tolerance_ends_long_texts_early(monkeypatch):
    monkeypatch.setattr("nlgauge.measure.barycenter.MAX_PRODUCTS", 0)
    z, weights = states(1, n=13, noise=1.5), np.random.default_rng(1).gamma(1, size=13)
    whole = barycenter(z, weights)
    assert whole.iterations > 2
    assert whole.objectives[0] < 2 * whole.objectives[1]
    early = barycenter(z, weights, tolerance=1.0)  # the first decrease is below the objective
    assert early.converged
    assert early.objectives == whole.objectives[:2]


def test_a_long_text_that_does_not_converge_is_reported(monkeypatch):
    monkeypatch.setattr("nlgauge.measure.barycenter.MAX_PRODUCTS", 0)
    weights = np.random.default_rng(3).gamma(1, size=9)
    with pytest.raises(NotConverged, match="after 1 steps"):
        barycenter(states(3, noise=2.0), weights, steps=1)
    for strict in (True, False):  # there are no points
        with pytest.raises(NotConverged, match="4 layers and 9 tokens"):
            barycenter(np.full((4, 9, 2), np.nan), weights, strict=strict)


@pytest.mark.parametrize(
    ("costs", "objectives", "converged"),
    [
        ([8.0, 4.0, 3.9], (8.0, 4.0, 3.9), True),  # a decrease below a tenth
        ([3.0, 2.0, 2.5], (3.0, 2.0), True),  # an increase is rounding
        ([3.0, 2.0, 2.0], (3.0, 2.0), True),
        ([3.0, 2.0, np.inf], (3.0, 2.0), False),  # transport was not solved
    ],
)
def test_how_the_iteration_of_a_long_text_ends(monkeypatch, costs, objectives, converged):
    given, unchanged = iter(costs), large_barycenter.LongText.solve

    def solve(text):
        unchanged(text)
        text.moved = True
        return next(given)

    monkeypatch.setattr(large_barycenter.LongText, "solve", solve)
    options = {"matched": False, "steps": 9, "tolerance": 0.1}
    z, mass = states(2, n=6, noise=2.0), np.random.default_rng(2).dirichlet(np.ones(6))
    found = large_barycenter.iterate(z, mass, np.zeros((6, 6)), **options)
    assert found[1:] == (objectives, converged)


def test_shifted_layers_have_their_mean_without_transport(monkeypatch):
    # Many tokens are nearer to a point of another position, but no coupling is cheaper in sum.
    points = np.sort(np.random.default_rng(0).normal(size=(30, 1)), axis=0)
    monkeypatch.setattr("nlgauge.measure.barycenter.solve_concatenated", None)
    monkeypatch.setattr("nlgauge.measure.cost.BLOCK_CELLS", 70)  # blocks of 2 rows
    found = barycenter(np.stack([points - 0.05, points + 0.05]))
    np.testing.assert_allclose(found.points, points, atol=1e-15)
    assert found.iterations == 1
    assert found.objective == pytest.approx(0.0025)


def test_positions_that_are_not_cheapest_are_left_to_transport():
    layers = np.random.default_rng(1).normal(size=(2, 12, 3))
    layers[1] = layers[0, ::-1]  # the same cloud twice: its barycenter has no cost
    mean = layers.mean(axis=0)
    assert barycenter(layers).objective < 0.5 * ((layers - mean) ** 2).sum(axis=2).mean()
