"""The Wasserstein barycenter of a text's layers: one cloud that is close to all of them.

    argmin_X  (1/L) sum_l W2^2( sum_i w_i delta_{z_li},  (1/n) sum_k delta_{x_k} )

with n free points of weight 1/n (BaryScore Eq. 3, with W2^2 as Agueh and Carlier 2011 have it).
The fixed point iteration of Cuturi and Doucet 2014 moves each point to the mean of what it is
matched with; it never raises the objective. It starts at the token-wise mean of the layers, which
leaves nothing to the tie-breaking of a solver, and with uniform weights mostly is the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.errors import DataError, NotConverged, OptionError, ShapeError
from nlgauge.core.plan import Floats
from nlgauge.measure import balanced

KEEP = 1e-14  # a coupling within this of the least cost, relative to the largest, is optimal


@dataclass(frozen=True, eq=False)
class Barycenter:
    """A barycenter: `points` [n, d] of equal `weights`, and how the iteration got there.

    `objectives` are the values seen on the way, each with exact transport; the last is `objective`.
    """

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
) -> Barycenter:
    """Return the barycenter of layers [layers, tokens, d], taken as they are (not normalised).

    `weights` [tokens] weigh the tokens of every layer (idf); uniform if not given. The iteration
    ends when the objective falls by less than `tolerance` of itself.
    """
    layers, mass = _checked(states, weights)
    if steps < 1 or tolerance < 0:
        raise OptionError(f"steps must be at least 1 and tolerance 0, got {steps}, {tolerance}.")
    count, n, _ = layers.shape
    field = _Field.of(layers, mass)
    held = field.identity() if np.all(mass == mass[0]) else None  # feasible for uniform weights
    start: Floats = layers.mean(axis=0)
    inner, squares = start @ field.flat.T, np.einsum("id,id->i", start, start)
    best: Floats | None = None  # shares of the layers' tokens in each point; none: the start
    shares: Floats | None = None
    history: list[float] = []
    converged = False
    while not converged and len(history) < steps:
        plans, objective = field.transport(inner, squares, held)
        if history and objective >= history[-1]:  # only rounding is left: the step before stands
            converged = True
            break
        fixed = held is not None and np.array_equal(plans, held)
        converged = fixed or bool(history and history[-1] - objective <= tolerance * objective)
        history.append(objective)
        best, held = shares, plans
        if not converged:
            shares = n / count * np.concatenate(list(plans), axis=1)
            inner, squares = field.products(shares)
    if strict and not converged:
        raise NotConverged(
            f"the barycenter of {count} layers and {n} tokens still fell after {steps} steps, to "
            f"{history[-1]:.6g}; raise steps or tolerance, or pass strict=False."
        )
    points = start if best is None else best @ field.flat
    uniform = np.full(n, 1.0 / n)
    return Barycenter(points, uniform, history[-1], tuple(history), len(history), converged)


@dataclass(frozen=True, eq=False)
class _Field:
    """The layers that pull at the points, seen only through the scalar products of their tokens.

    After the first step every point is a mix of the tokens, so distances follow from shares and
    the Gram matrix of the tokens, as long as those are few.
    """

    flat: Floats  # [layers * tokens, d], tokens with weight only
    masses: Floats
    uniform: Floats
    layers: int

    @classmethod
    def of(cls, layers: Floats, mass: Floats) -> _Field:
        """Return the field of layers [layers, tokens, d] whose tokens weigh `mass`."""
        count, n, dimension = layers.shape
        used = mass > 0
        flat = (layers if used.all() else layers[:, used]).reshape(-1, dimension)
        return cls(flat, mass[used], np.full(n, 1.0 / n), count)

    @cached_property
    def gram(self) -> Floats:
        """The scalar products of all tokens of all layers."""
        return self.flat @ self.flat.T

    def products(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return the scalar products of mixed points with all tokens, and with themselves."""
        tokens, dimension = self.flat.shape
        if tokens > 2 * dimension:  # so many tokens that their Gram matrix would cost more
            points = shares @ self.flat
            return points @ self.flat.T, np.einsum("id,id->i", points, points)
        inner = shares @ self.gram
        return inner, np.einsum("ij,ij->i", inner, shares)

    @cached_property
    def lengths(self) -> Floats:
        """The squared lengths of the tokens, [layers, tokens, 1]."""
        squared: Floats = np.einsum("jd,jd->j", self.flat, self.flat)
        return squared.reshape(self.layers, -1, 1)

    def identity(self) -> Floats:
        """The couplings that join every point with the tokens of its own place."""
        n = len(self.uniform)
        return np.repeat(np.eye(n)[None] / n, self.layers, axis=0)

    def transport(
        self, inner: Floats, squares: Floats, held: Floats | None
    ) -> tuple[Floats, float]:
        """Return the optimal couplings of the points to every layer, and the objective.

        A held coupling that still costs the least is kept, so that ties cannot move a fixed point.
        """
        products = inner.T.reshape(self.layers, -1, len(squares))
        costs = np.maximum(self.lengths + squares - 2 * products, 0.0)
        # From tokens to points the simplex takes a fifth less time than the other way round.
        solved = [balanced.couple(cost, self.masses, self.uniform) for cost in costs]
        costs, plans = costs.transpose(0, 2, 1), np.stack(solved).transpose(0, 2, 1)
        values = np.einsum("lij,lij->l", costs, plans)
        if held is not None:
            kept = np.einsum("lij,lij->l", costs, held) <= values + KEEP * costs.max(axis=(1, 2))
            plans = np.where(kept[:, None, None], held, plans)
        return plans, float(values.mean())


def _checked(states: ArrayLike, weights: ArrayLike | None) -> tuple[Floats, Floats]:
    layers = np.asarray(states, dtype=np.float64)
    if layers.ndim != 3 or 0 in layers.shape:
        raise ShapeError(
            f"a barycenter needs an array [layers, tokens, d] without empty axes, "
            f"got shape {layers.shape}."
        )
    n = layers.shape[1]
    mass = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if mass.shape != (n,):
        raise ShapeError(f"{n} tokens need {n} weights, got shape {mass.shape}.")
    if not (np.all(mass >= 0) and 0 < mass.sum() < np.inf):
        raise DataError(
            f"weights must be at least 0 and have a positive finite sum, got {mass.sum():g}."
        )
    return layers, mass / mass.sum()
