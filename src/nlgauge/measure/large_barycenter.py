"""The fixed-point iteration of a barycenter of long texts, without scalar products of all tokens.

kernels/fixed_point.py needs the scalar products of all tokens of all layers with each other, whose
number grows with the square of the layers. Here costs follow from coordinates, so that memory holds
one matrix of points and tokens for each layer. The steps, the simplex and the ties are the same.
"""

import numpy as np

from nlgauge.core.arrays import Floats, Ints
from nlgauge.kernels import fixed_point, network_simplex, pricing
from nlgauge.kernels.tree import Indices

KEEP = 1e-14  # a coupling this close to the optimum, relative to the largest cost, is kept
BLOCK_CELLS = 1 << 19  # of a product, which the cache of a processor holds


class LongText:
    """The costs between the points of a barycenter and the tokens of all layers, and the trees."""

    def __init__(self, tokens: Floats, weights: Floats, preference: Floats, *, matched: bool):
        self._tokens, self._preference, self._matched = tokens, preference, matched
        self._squares = np.einsum("lmd,lmd->lm", tokens, tokens)
        n, m = preference.shape
        self._costs = np.empty((len(tokens), n, m))
        self._largest = np.empty(n)  # cost of each point
        self._products = np.empty((min(n, max(1, BLOCK_CELLS // m)), m))
        self._simplex = network_simplex.Simplex(n, m)
        self._simplex.a, self._simplex.b = np.full(n, 1.0 / n), weights
        self._trees: list[Ints] = []
        self._lists: list[pricing.Lists] = []  # the cheapest tokens of each point in each layer
        self.moved = np.ones(len(tokens), dtype=bool)  # whether the tree of a layer is new

    def set_points(self, points: Floats, changed: Indices) -> None:
        """Write the costs of the changed points."""
        for lists in self._lists:
            np.asarray(lists.bounds)[changed] = -np.inf
        self._largest[changed] = 0.0
        for start in range(0, len(changed), len(self._products)):
            part = changed[start : start + len(self._products)]
            block = points[part]
            lengths = np.einsum("kd,kd->k", block, block)
            for layer, tokens in enumerate(self._tokens):
                products = np.matmul(block, tokens.T, out=self._products[: len(part)])
                squares, costs = self._squares[layer], self._costs[layer]
                fixed_point.write_costs(
                    products, lengths, squares, self._preference, part, costs, self._largest
                )

    def solve(self) -> float:
        """Update the tree of each layer; return the mean cost without preferences, inf if unsolved.

        A tree that is as good as the new one is kept, so that ties cannot move a fixed point.
        """
        simplex, first = self._simplex, not self._trees
        largest, total = float(self._largest.max()), 0.0
        for layer, costs in enumerate(self._costs):
            simplex.costs = costs.ravel()
            if first:
                self._lists.append(pricing.Lists(*self._preference.shape))
                np.asarray(self._lists[layer].columns)[:] = simplex.lists.columns
                np.asarray(self._lists[layer].bounds)[:] = -np.inf
            simplex.lists = self._lists[layer]
            if not first:
                np.asarray(simplex.parent)[:] = self._trees[layer]
            elif self._matched:
                np.asarray(simplex.parent)[:] = _matched_positions(len(costs))
            elif layer == 0:
                network_simplex.start_greedily(simplex)
            tree = np.array(simplex.parent)
            network_simplex.compute_flow(simplex)
            before = network_simplex.flow_cost(simplex, simplex.costs, 0)
            pivots = network_simplex.optimise(simplex, largest)
            if pivots < 0:
                return np.inf
            value = network_simplex.flow_cost(simplex, simplex.costs, 0)
            total += value - network_simplex.flow_cost(simplex, self._preference.ravel(), 0)
            better = before > value + KEEP * largest
            self.moved[layer] = better or (first and not self._matched)
            tree = np.array(simplex.parent) if self.moved[layer] else tree
            if first:
                self._trees.append(tree)
            self._trees[layer] = tree
        return total / len(self._tokens)

    def means(self) -> Floats:
        """Return each point as the mean of the tokens that it is coupled with."""
        n, count = len(self._preference), len(self._tokens)
        points = np.zeros((n, self._tokens.shape[2]))
        for tree, tokens in zip(self._trees, self._tokens, strict=True):
            np.asarray(self._simplex.parent)[:] = tree
            network_simplex.compute_flow(self._simplex)
            network_simplex.add_means(self._simplex, tokens, n / count, points)
        return points


def iterate(
    layers: Floats, mass: Floats, preference: Floats, *, matched: bool, steps: int, tolerance: float
) -> tuple[Floats, tuple[float, ...], bool]:
    """Return the last points, the objectives of all steps, and whether they converged.

    `preference` is added to the cost of every point and token with mass; `matched` begins with the
    coupling of equal positions.
    """
    (support,) = mass.nonzero()
    tokens = np.ascontiguousarray(layers[:, support])
    text = LongText(tokens, mass[support], preference, matched=matched)
    points = best = layers.mean(axis=0)
    changed, objectives = np.arange(len(points)), list[float]()
    while len(objectives) < steps:
        text.set_points(points, changed)
        objective = text.solve()
        if not objective < np.inf:
            return best, tuple(objectives), False
        if objectives and objective >= objectives[-1]:  # the rest is rounding
            return best, tuple(objectives), True
        small = bool(objectives) and objectives[-1] - objective <= tolerance * objective
        objectives.append(objective)
        best = points
        if small or not text.moved.any():
            return best, tuple(objectives), True
        points = text.means()
        changed = np.flatnonzero((points != best).any(axis=1))
    return best, tuple(objectives), False


def _matched_positions(n: int) -> Ints:
    """Return the tree that couples row k with column k, connected by arcs without flow."""
    tree = np.concatenate([np.full(n, 2 * n - 1), np.arange(n)])
    tree[-1] = -1
    return tree
