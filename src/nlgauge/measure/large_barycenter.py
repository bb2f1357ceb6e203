"""The fixed-point iteration of a barycenter of long texts, without scalar products of all tokens.

kernels/fixed_point.py needs the scalar products of all tokens of all layers with each other, whose
number grows with the square of the layers. Here costs follow from coordinates, so that memory holds
one matrix of points and tokens for each layer. The steps, the simplex and the ties are the same.
Layers only share the points, so each step may compute them in threads.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.kernels import fixed_point, network_simplex
from nlgauge.kernels.tree import Indices
from nlgauge.measure.cost import row_blocks

KEEP = 1e-14  # a coupling this close to the optimum, relative to the largest cost, is kept
Item = TypeVar("Item")
Made = TypeVar("Made")


class Map(Protocol):
    """A function like ``map``, which may use threads."""

    def __call__(self, work: Callable[[Item], Made], items: Sequence[Item], /) -> Iterable[Made]:
        """Return the results of ``work`` on each item."""


class Layer:
    """The costs between the points of a barycenter and the tokens of a layer, and their tree."""

    def __init__(self, tokens: Floats, weights: Floats, preference: Floats) -> None:
        self._tokens, self._preference = tokens, preference
        self._squares = np.einsum("md,md->m", tokens, tokens)
        n, m = preference.shape
        self._costs = np.empty((n, m))
        self._products = np.empty((next(row_blocks(n, m)).stop, m))
        self._simplex = network_simplex.Simplex(n, m)
        self._simplex.a, self._simplex.b = np.full(n, 1.0 / n), weights
        self._simplex.costs = self._costs.ravel()
        self.largest = np.empty(n)  # cost of each point
        self.moved = True  # whether the tree is new

    def start_greedily(self) -> None:
        """Start with a tree of cheap pairs."""
        network_simplex.start_greedily(self._simplex)

    def start_matched(self) -> None:
        """Start with the tree that couples equal positions, connected by arcs without flow."""
        n = len(self._costs)
        parent = np.asarray(self._simplex.parent)
        parent[:n], parent[n:], parent[-1] = 2 * n - 1, np.arange(n), -1

    def start_from(self, other: "Layer") -> None:
        """Start with the tree and the cheapest tokens of another layer."""
        own, others = self._simplex, other._simplex
        np.asarray(own.parent)[:] = others.parent
        np.asarray(own.lists.columns)[:] = others.lists.columns
        np.asarray(own.lists.bounds)[:] = -np.inf
        own.listed = others.listed

    def set_points(self, points: Floats, changed: Indices) -> None:
        """Write the costs of the changed points."""
        np.asarray(self._simplex.lists.bounds)[changed] = -np.inf
        self.largest[changed] = 0.0
        for rows in row_blocks(len(changed), len(self._tokens)):
            part = changed[rows]
            block = points[part]
            lengths = np.einsum("kd,kd->k", block, block)
            products = np.matmul(block, self._tokens.T, out=self._products[: len(part)])
            fixed_point.write_costs(
                products,
                lengths,
                self._squares,
                self._preference,
                part,
                self._costs,
                self.largest,
            )

    def solve(self, largest: float, *, keep: bool) -> float:
        """Update the tree; return the cost without preferences, inf if it is unsolved.

        With `keep`, a tree that is as good as the new one stays, so that ties cannot move a fixed
        point. `largest` is the largest cost of all layers.
        """
        simplex = self._simplex
        tree = np.array(simplex.parent)
        before, pivots = network_simplex.reoptimise(simplex, largest)
        if pivots < 0:
            return np.inf
        cost = network_simplex.flow_cost(simplex, simplex.costs, 0)
        value = cost - network_simplex.flow_cost(simplex, self._preference.ravel(), 0)
        self.moved = not keep or before > cost + KEEP * largest
        if not self.moved:
            np.asarray(simplex.parent)[:] = tree
        return value

    def add_means(self, scale: float, points: Floats) -> None:
        """Add the means of the tokens that each point is coupled with, times `scale`."""
        network_simplex.compute_flow(self._simplex)
        network_simplex.add_means(self._simplex, self._tokens, scale, points)


class LongText:
    """The layers of a text, solved by `map_layers`, and the mean cost of their couplings."""

    def __init__(
        self, tokens: Floats, weights: Floats, preference: Floats, *, matched: bool, map_layers: Map
    ) -> None:
        self._shape = len(preference), tokens.shape[2]
        self._layers = [Layer(layer, weights, preference) for layer in tokens]
        self._matched, self._map, self._started = matched, map_layers, False
        self.moved = True  # whether the tree of a layer is new

    def set_points(self, points: Floats, changed: Indices) -> None:
        """Write the costs of the changed points."""
        list(self._map(lambda layer: layer.set_points(points, changed), self._layers))

    def solve(self) -> float:
        """Update the tree of each layer; return the mean cost without preferences."""
        largest = max(float(layer.largest.max()) for layer in self._layers)
        keep = self._started or self._matched
        values: list[float] = []
        if not self._started:
            self._started = True
            if self._matched:
                for layer in self._layers:
                    layer.start_matched()
            else:  # the optimal tree of a layer is near to those of the others
                first, *others = self._layers
                first.start_greedily()
                values.append(first.solve(largest, keep=keep))
                for layer in others:
                    layer.start_from(first)
        unsolved = self._layers[len(values) :]
        values += self._map(lambda layer: layer.solve(largest, keep=keep), unsolved)
        self.moved = any(layer.moved for layer in self._layers)
        return sum(values) / len(values)

    def means(self) -> Floats:
        """Return each point as the mean of the tokens that it is coupled with."""
        points = np.zeros(self._shape)
        for layer in self._layers:
            layer.add_means(len(points) / len(self._layers), points)
        return points


def iterate(
    layers: Floats,
    mass: Floats,
    preference: Floats,
    *,
    matched: bool,
    steps: int,
    tolerance: float,
    map_layers: Map = map,
) -> tuple[Floats, tuple[float, ...], bool]:
    """Return the last points, the objectives of all steps, and whether they converged.

    `preference` is added to the cost of every point and token with mass; `matched` begins with the
    coupling of equal positions.
    """
    (support,) = mass.nonzero()
    tokens = np.ascontiguousarray(layers[:, support])
    text = LongText(tokens, mass[support], preference, matched=matched, map_layers=map_layers)
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
        if small or not text.moved:
            return best, tuple(objectives), True
        points = text.means()
        changed = np.flatnonzero((points != best).any(axis=1))
    return best, tuple(objectives), False
