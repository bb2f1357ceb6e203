"""The fixed-point iteration of a Wasserstein barycenter with free support.

Every point is a mixture of the tokens of all layers, so that distances follow from the shares of
the mixture and the Gram matrix of the tokens. Each step solves one transport problem per layer from
the tree of the last step, and recomputes only the points whose shares have changed.
"""

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.kernels import network_simplex
from nlgauge.kernels.tree import Indices

try:
    import cython
except ModuleNotFoundError:
    from nlgauge.kernels import without_cython as cython

INFINITY = float("inf")
KEEP = 1e-14  # a coupling this close to the optimum, relative to the largest cost, is kept


class Iterate:
    """The points of an iteration: their shares of the tokens, and the costs that follow."""

    def __init__(self, gram: Floats, used: Indices, preference: Floats, layers: int) -> None:
        n, m = preference.shape
        tokens = layers * n
        self.n, self.m, self.layers = n, m, layers
        self.gram = gram  # scalar products of all tokens, layer after layer
        self.used = used  # the tokens that have weight
        self.preference = preference.ravel()  # added to the cost of a point and a used token
        self.shares, self.best_shares = np.zeros((n, tokens)), np.zeros((n, tokens))
        self.products = np.zeros((n, tokens))  # scalar products of points and tokens
        self.squares = np.zeros(n)  # squared lengths of the points
        self.costs = np.empty(layers * n * m)  # squared distances and preferences
        self.largest = np.empty(n)  # largest cost of each point
        self.changed = np.ones(n, np.intp)  # whether the shares of a point are new
        self.parents = np.empty((layers, n + m), np.intp)  # an optimal tree of each layer
        self.moved = np.ones(layers, np.intp)  # whether the tree of a layer is new
        self.coupling = np.empty((n, n))


def iterate(
    work: Iterate, weights: Floats, matched: bool, steps: int, tolerance: float, objectives: Floats
) -> tuple[int, bool]:
    """Iterate from the token-wise mean of the layers; return the steps made and whether it ended.

    `weights` are those of the used tokens. `matched` begins with the coupling of equal positions.
    After one step `work.best_shares` are 0, and the start itself is best.
    """
    simplex = network_simplex.Simplex(work.n, work.m)
    done, converged = 0, False
    with cython.nogil:
        simplex.b, simplex.costs = weights, work.costs
        simplex.a[:] = 1.0 / work.n
        _multiply_means(work)
        while not converged and done < steps:
            objective = _solve_layers(work, simplex, _compute_costs(work), matched, done == 0)
            if not objective < INFINITY:  # a transport problem is unsolved
                break
            if done > 0 and objective >= objectives[done - 1]:  # the rest is rounding
                converged = True
                break
            converged = True
            for layer in range(work.layers):
                if work.moved[layer]:
                    converged = False
            if done > 0 and objectives[done - 1] - objective <= tolerance * objective:
                converged = True
            objectives[done] = objective
            done += 1
            for k in range(work.n):
                for j in range(work.layers * work.n):
                    work.best_shares[k, j] = work.shares[k, j]
            if not converged:
                _update_shares(work, simplex, done == 1)
                _multiply_shares(work)
    return done, converged


def _multiply_means(work: Iterate) -> None:
    """Write the scalar products of the token-wise means with all tokens and with themselves."""
    n, tokens = work.n, work.layers * work.n
    for j in range(tokens):
        k = j % n
        for other in range(tokens):
            work.products[k, other] += work.gram[j, other] / work.layers
    for k in range(n):
        for layer in range(work.layers):
            work.squares[k] += work.products[k, layer * n + k] / work.layers


def _compute_costs(work: Iterate) -> float:
    """Write the costs of the points that have changed; return the largest of all costs."""
    n, m, largest = work.n, work.m, 0.0
    for k in range(n):
        if work.changed[k]:
            most = 0.0
            for layer in range(work.layers):
                at = (layer * n + k) * m
                for i in range(m):
                    j = layer * n + work.used[i]
                    cost = work.gram[j, j] + work.preference[k * m + i] - 2 * work.products[k, j]
                    cost = max(cost + work.squares[k], 0.0)
                    work.costs[at + i] = cost
                    most = max(most, cost)
            work.largest[k] = most
        largest = max(largest, work.largest[k])
    return largest


def _solve_layers(
    work: Iterate, simplex: network_simplex.Simplex, largest: float, matched: bool, first: bool
) -> float:
    """Update the tree of each layer; return the mean cost without preferences, inf if unsolved."""
    total = 0.0
    for layer in range(work.layers):
        simplex.offset = layer * work.n * work.m
        if not first:
            _load_tree(work, simplex, layer)
        elif matched:
            _match_positions(simplex)
        elif layer == 0:
            network_simplex.start_greedily(simplex)
        _save_tree(work, simplex, layer)
        network_simplex.compute_flow(simplex)
        before = network_simplex.flow_cost(simplex, simplex.costs, simplex.offset)
        pivots = network_simplex.optimise(simplex, largest)
        if pivots < 0:
            return INFINITY
        cost = network_simplex.flow_cost(simplex, simplex.costs, simplex.offset)
        total += cost - network_simplex.flow_cost(simplex, work.preference, 0)
        work.moved[layer] = (first and not matched) or (
            pivots > 0 and before > cost + KEEP * largest
        )
        if work.moved[layer]:  # else the tree is kept, so that ties cannot move a fixed point
            _save_tree(work, simplex, layer)
    return total / work.layers


def _load_tree(work: Iterate, simplex: network_simplex.Simplex, layer: int) -> None:
    for node in range(work.n + work.m):
        simplex.parent[node] = work.parents[layer, node]


def _save_tree(work: Iterate, simplex: network_simplex.Simplex, layer: int) -> None:
    for node in range(work.n + work.m):
        work.parents[layer, node] = simplex.parent[node]


def _match_positions(simplex: network_simplex.Simplex) -> None:
    """Write the tree that couples row k with column k, connected by arcs without flow."""
    n = simplex.n
    for k in range(n):
        simplex.parent[k] = n + n - 1
        simplex.parent[n + k] = k
    simplex.parent[n + n - 1] = -1


def _update_shares(work: Iterate, simplex: network_simplex.Simplex, first: bool) -> None:
    """Write the couplings that moved as shares, and mark the points whose shares differ."""
    n, m, scale = work.n, work.m, float(work.n) / work.layers
    work.changed[:] = 0
    for layer in range(work.layers):
        if work.moved[layer] or first:
            _load_tree(work, simplex, layer)
            network_simplex.compute_flow(simplex)
            work.coupling[:, :] = 0.0
            for node in range(n + m):
                parent = simplex.parent[node]
                if parent >= 0 and simplex.flow[node] >= network_simplex.MIN_FLOW:
                    k = node if node < n else parent
                    i = parent - n if node < n else node - n
                    work.coupling[k, work.used[i]] = scale * simplex.flow[node]
            for k in range(n):
                change = 0.0
                for i in range(n):
                    change += np.fabs(work.coupling[k, i] - work.shares[k, layer * n + i])
                    work.shares[k, layer * n + i] = work.coupling[k, i]
                if change > 0:
                    work.changed[k] = 1


def _multiply_shares(work: Iterate) -> None:
    """Write the scalar products of the changed points with all tokens and with themselves."""
    tokens = work.layers * work.n
    for k in range(work.n):
        if work.changed[k]:
            work.products[k, :] = 0.0
            for j in range(tokens):
                share = work.shares[k, j]
                if share != 0.0:  # at most 2n - 1 of n * n shares of a layer
                    for other in range(tokens):
                        work.products[k, other] += share * work.gram[j, other]
            square = 0.0
            for j in range(tokens):
                square += work.shares[k, j] * work.products[k, j]
            work.squares[k] = square


def mix(work: Iterate, tokens: Floats, points: Floats) -> None:
    """Add the shares of the best points times the tokens [layers * n, d] to the points [n, d]."""
    for k in range(work.n):
        for j in range(work.layers * work.n):
            share = work.best_shares[k, j]
            if share != 0.0:
                for x in range(tokens.shape[1]):
                    points[k, x] += share * tokens[j, x]


def write_costs(
    products: Floats,
    points: Floats,
    tokens: Floats,
    preference: Floats,
    rows: Indices,
    costs: Floats,
    largest: Floats,
) -> None:
    """Write the costs of the points of some rows, and the largest of each row and former ones.

    ``products`` are those of these points with all tokens, ``points`` and ``tokens`` the squared
    lengths.
    """
    with cython.nogil:
        for k in range(len(rows)):
            row = rows[k]
            for j in range(len(tokens)):
                cost = tokens[j] - 2 * products[k, j] + preference[row, j] + points[k]
                costs[row, j] = cost if cost > 0 else 0.0
            most = largest[row]
            for j in range(len(tokens)):
                most = max(most, costs[row, j])
            largest[row] = most
