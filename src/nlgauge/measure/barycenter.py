"""The Wasserstein barycenter of a text's layers: one cloud that is close to all of them.

    argmin_X  (1/L) sum_l W2^2( sum_i w_i delta_{z_li},  (1/n) sum_k delta_{x_k} )

with n free points of weight 1/n (BaryScore Eq. 3, with W2^2 as in Agueh and Carlier 2011). The
fixed-point iteration of Cuturi and Doucet 2014 moves each point to the mean of the tokens that it
is coupled with, and never increases the objective. It starts at the token-wise mean of the layers,
which with uniform weights is usually the solution.

A repeated word may have the same vector twice. Two points then start at the same place, and with
weights several couplings are optimal, which lead to different barycenters. Every pair of token and
point therefore has a small random preference, too small to affect anything but ties.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats, Ints
from nlgauge.core.errors import NotConverged, OptionError, ShapeError
from nlgauge.kernels import fixed_point, network_simplex
from nlgauge.measure import large_barycenter
from nlgauge.measure.cost import row_blocks
from nlgauge.measure.problem import Problem, normalised, solve_concatenated

ROUNDING = 1e-14  # costs this close, relative to the largest, are equal
TIE = 1e-10  # size of the preferences, relative to the largest squared length
MAX_PATH_ROWS = 4  # times the number of rows are read in search of shortest paths
MAX_PRODUCTS = 1500  # tokens of all layers whose scalar products are computed
CACHED_PAIRS = 1 << 16  # pairs whose preferences are drawn only once


@dataclass(frozen=True, eq=False)
class Barycenter:
    """A barycenter: `points` [n, d] of equal `weights`, and the `objectives` of all steps."""

    points: Floats
    weights: Floats
    objective: float
    objectives: tuple[float, ...]
    iterations: int
    converged: bool


def barycenter(
    states: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    tolerance: float = 1e-10,
    steps: int = 200,
    strict: bool = True,
    map_layers: large_barycenter.Map = map,
) -> Barycenter:
    """Return the barycenter of states [layers, tokens, dimensions] with weights of the tokens.

    The iteration ends when the objective decreases by less than `tolerance` of itself; `strict`
    raises NotConverged if it still decreases after `steps` steps. `map_layers` computes the layers
    of long texts; the result does not depend on it.

    >>> barycenter([[[0.0], [4.0]], [[2.0], [6.0]]]).points.ravel()
    array([1., 5.])
    """
    layers = np.asarray(states, dtype=np.float64)
    if layers.ndim != 3 or 0 in layers.shape:
        raise ShapeError(
            f"a barycenter needs an array [layers, tokens, d] without empty axes, "
            f"got shape {layers.shape}."
        )
    mass = normalised(weights, layers.shape[1])
    if steps < 1 or tolerance < 0:
        raise OptionError(f"steps must be at least 1 and tolerance 0, got {steps}, {tolerance}.")
    count, n, _ = layers.shape
    uniform = np.full(n, 1.0 / n)
    if _is_uniform(mass):
        mean = layers.mean(axis=0)
        objective = _objective_of_mean(layers, mean)
        if objective is not None:
            return Barycenter(mean, uniform, objective, (objective,), 1, True)
    points, objectives, converged = _iterate(layers, mass, steps, tolerance, map_layers)
    if not objectives or (strict and not converged):
        raise NotConverged(
            f"the barycenter of {count} layers and {n} tokens still decreased after {steps} steps, "
            f"to {min(objectives, default=np.nan):.6g}; raise steps or tolerance, or pass "
            "strict=False."
        )
    return Barycenter(points, uniform, objectives[-1], objectives, len(objectives), converged)


def _objective_of_mean(layers: Floats, points: Floats) -> float | None:
    """Return the objective of the token-wise mean if it is the barycenter with uniform weights."""
    # It is if in every layer no coupling is cheaper than that of equal positions. Usually each
    # token is nearest to the point of its own position, which proves this without transport.
    count, n, dimension = layers.shape
    tokens = layers.reshape(-1, dimension)
    diagonal, nearest, largest = np.empty(len(tokens)), np.empty(len(tokens)), 0.0
    for part in row_blocks(len(tokens), n):
        costs, rows = _costs(tokens[part], points), np.arange(part.start, part.stop)
        diagonal[part], nearest[part] = costs[rows - part.start, rows % n], costs.min(axis=1)
        largest = max(largest, float(costs.max()))
    rounding = ROUNDING * largest
    by_layer = zip(layers, diagonal.reshape(count, n), nearest.reshape(count, n), strict=True)
    for layer, matched, least in by_layer:
        cheaper = np.flatnonzero(~(matched <= least + rounding))
        if len(cheaper) and not _is_cheapest(layer, points, matched, cheaper, rounding):
            return None
    return float(diagonal.sum() / (count * n))


def _is_cheapest(
    tokens: Floats, points: Floats, diagonal: Floats, cheaper: Ints, rounding: float
) -> bool:
    """Return whether no coupling of equal masses is cheaper than that of equal positions.

    It is the cheapest if there are potentials g_j <= g_i + C_ij - C_ii, which are shortest paths
    (Bellman and Ford); only the rows `cheaper` have a C_ij < C_ii. Transport decides if not found.
    """
    n = len(points)
    potential, rows, budget = np.zeros(n), cheaper, MAX_PATH_ROWS * n
    while 0 < len(rows) <= budget:
        budget -= len(rows)
        shortest = potential.copy()
        for part in row_blocks(len(rows), n):
            paths = _costs(tokens[rows[part]], points)
            paths += (potential - diagonal)[rows[part], None]
            np.minimum(shortest, paths.min(axis=0), out=shortest)
        rows = np.flatnonzero(shortest < potential - rounding)
        potential[rows] = shortest[rows]
    if not len(rows):
        return True
    uniform = np.full(n, 1.0 / n)
    problem = Problem(_costs(tokens, points), uniform, uniform)
    (solution,) = solve_concatenated([problem], network_simplex.solve_all)
    return bool(diagonal.sum() / n <= (problem.cost * solution.coupling).sum() + rounding)


def _costs(tokens: Floats, points: Floats) -> Floats:
    """Return the squared distances of tokens and points."""
    costs: Floats = tokens @ (-2 * points).T
    costs += np.einsum("jd,jd->j", tokens, tokens)[:, None]
    costs += np.einsum("kd,kd->k", points, points)
    return np.maximum(costs, 0.0, out=costs)


def _iterate(
    layers: Floats, mass: Floats, steps: int, tolerance: float, map_layers: large_barycenter.Map
) -> tuple[Floats, tuple[float, ...], bool]:
    """Return the last points, the objectives of all steps, and whether they converged."""
    count, n, dimension = layers.shape
    # With uniform weights every point prefers the tokens of its own position.
    flat, matched = layers.reshape(-1, dimension), _is_uniform(mass)
    (support,) = mass.nonzero()
    squares = np.einsum("ld,ld->l", flat, flat).reshape(count, n)
    size = 0.0 if matched else TIE * float(squares[:, support].max())
    pairs = n * len(support)
    uniform = _draw(pairs) if pairs > CACHED_PAIRS else _cached_draw(CACHED_PAIRS)[:pairs]
    preference = size * uniform.reshape(n, -1)
    if len(flat) > MAX_PRODUCTS:
        return large_barycenter.iterate(
            layers,
            mass,
            preference,
            matched=matched,
            steps=steps,
            tolerance=tolerance,
            map_layers=map_layers,
        )
    gram = flat @ flat.T
    work = fixed_point.Iterate(gram, support, preference, count)
    objectives = np.empty(steps)
    taken, converged = fixed_point.iterate(
        work, mass[support], matched, steps, tolerance, objectives
    )
    if taken < 2:
        points = layers.mean(axis=0)
    else:
        points = np.zeros((n, dimension))
        fixed_point.mix(work, flat, points)  # few shares are not 0, unlike in a matrix product
    return points, tuple(objectives[:taken].tolist()), converged


def _draw(count: int) -> Floats:
    """Return numbers between 0 and 1, always the same; longer arrays begin like shorter ones."""
    return np.random.default_rng(0).random(count)


_cached_draw = cache(_draw)


def _is_uniform(mass: Floats) -> bool:
    """Return whether all tokens have the same weight."""
    return bool((mass == mass[0]).all())
