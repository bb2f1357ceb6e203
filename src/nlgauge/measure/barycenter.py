"""The Wasserstein barycenter of a text's layers: one cloud that is close to all of them.

    argmin_X  (1/L) sum_l W2^2( sum_i w_i delta_{z_li},  (1/n) sum_k delta_{x_k} )

with n free points of weight 1/n (BaryScore Eq. 3, with W2^2 as Agueh and Carlier 2011 have it).
The fixed point iteration of Cuturi and Doucet 2014 moves each point to the mean of what it is
matched with; it never raises the objective. It starts at the token-wise mean of the layers, which
with uniform weights mostly is the answer.

A word that occurs twice may have one vector twice. Two points then start as one, and with weights
the optimal couplings differ in which of them goes where. So that the barycenter is the same with
any exact solver, every pair of token and point has a slight preference of its own, which settles
ties and is too small for anything else. (Drawn preferences can be nearly a tie themselves: of 1,500
random texts with half of the vectors repeated, 5 got two equally good first couplings, and then
other barycenters, from the two simplexes of balanced.py; of 75 real texts without context, none.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.errors import DataError, NotConverged, OptionError, ShapeError
from nlgauge.core.plan import Floats
from nlgauge.measure import balanced

KEEP = 1e-14  # a coupling within this of the least cost, relative to the largest, is optimal
TIE = 1e-10  # costs this close, relative to the largest squared length, are settled by rule
FEW = 1 << 16  # pairs for which preferences are kept at hand


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
    walk = _machine_walk(layers, mass, steps, tolerance)
    if walk is None:
        walk = _Field.of(layers, mass).walk(layers.mean(axis=0), steps, tolerance)
    points, history, converged = walk
    if strict and not converged:
        raise NotConverged(
            f"the barycenter of {count} layers and {n} tokens still fell after {steps} steps, to "
            f"{history[-1]:.6g}; raise steps or tolerance, or pass strict=False."
        )
    uniform = np.full(n, 1.0 / n)
    return Barycenter(points, uniform, history[-1], history, len(history), converged)


class _Walk(NamedTuple):
    """Where the points ended, and how they got there."""

    points: Floats
    history: tuple[float, ...]
    converged: bool


def _machine_walk(layers: Floats, mass: Floats, steps: int, tolerance: float) -> _Walk | None:
    """Return the walk in machine code, where that pays and the code is at hand."""
    count, n, dimension = layers.shape
    if _even(mass) or not _gram_pays(count * n, dimension):
        return None
    machine = _machine()
    if machine is None:
        return None
    flat = layers.reshape(-1, dimension)
    gram = flat @ flat.T
    (used,) = mass.nonzero()
    longest = float(gram.diagonal().reshape(count, n)[:, used].max())
    preference = _preference(n, len(used), longest)
    pull = machine.Pull(flat, gram, used, mass[used], np.full(n, 1.0 / n), preference)
    found = machine.descend(pull, steps, tolerance, KEEP)
    if not found.solved:
        return None
    return _Walk(found.points, tuple(found.history.tolist()), found.converged)


def _preference(points: int, tokens: int, longest: float) -> Floats:
    """Return what each pair costs beside its distance: drawn, so that no two sums are alike."""
    pairs = points * tokens
    drawn = _few_drawn()[:pairs] if pairs <= FEW else _drawn(pairs)
    table: Floats = TIE * longest * drawn.reshape(points, tokens)
    return table


def _drawn(count: int) -> Floats:
    """Return numbers between 0 and 1, always the same; more of them begin like fewer."""
    return np.random.default_rng(0).random(count)


@cache
def _few_drawn() -> Floats:
    return _drawn(FEW)


def _even(mass: Floats) -> bool:
    """Whether all tokens weigh the same, so that points can stay with tokens of their place."""
    return bool((mass == mass[0]).all())


def _gram_pays(tokens: int, dimension: int) -> bool:
    """Whether tokens are so few that their scalar products cost less than their coordinates."""
    return tokens <= 2 * dimension


@dataclass(frozen=True, eq=False)
class _Field:
    """The layers that pull at the points, seen only through the scalar products of their tokens.

    After the first step every point is a mix of the tokens, so distances follow from shares and
    the Gram matrix of the tokens, as long as those are few. Tables of tokens and points have a row
    for every token of every layer: so couplings can be read as shares without being copied, and
    POT takes a fifth less time than from points to tokens.
    """

    flat: Floats  # [layers * tokens, d], tokens with weight only
    masses: Floats
    uniform: Floats
    layers: int
    couple: Callable[[Floats], Floats]  # optimal couplings from tokens to points

    @classmethod
    def of(cls, layers: Floats, mass: Floats) -> _Field:
        """Return the field of layers [layers, tokens, d] whose tokens weigh `mass`."""
        count, n, dimension = layers.shape
        used = mass > 0
        flat = (layers if used.all() else layers[:, used]).reshape(-1, dimension)
        masses, uniform = mass[used], np.full(n, 1.0 / n)
        return cls(flat, masses, uniform, count, balanced.repeated(masses, uniform, count))

    @cached_property
    def gram(self) -> Floats:
        """The scalar products of all tokens of all layers."""
        return self.flat @ self.flat.T

    def walk(self, start: Floats, steps: int, tolerance: float) -> _Walk:
        """Move the points from `start` to what they are matched with, until they stay."""
        inner, squares = self.flat @ start.T, np.einsum("kd,kd->k", start, start)
        held = self.identity() if self.even else None
        best: Floats | None = None
        shares: Floats | None = None
        history: list[float] = []
        converged = False
        while not converged and len(history) < steps:
            plans, objective = self.transport(inner, squares, held)
            if history and objective >= history[-1]:  # only rounding is left: the last step stands
                converged = True
                break
            converged = plans is held or bool(
                history and history[-1] - objective <= tolerance * objective
            )
            history.append(objective)
            best, held = shares, plans
            if not converged:
                n = len(self.uniform)
                shares = n / self.layers * plans.reshape(-1, n)
                inner, squares = self.products(shares)
        points = start if best is None else best.T @ self.flat
        return _Walk(points, tuple(history), converged)

    @property
    def has_gram(self) -> bool:
        """Whether tokens are so few that their Gram matrix pays."""
        return _gram_pays(*self.flat.shape)

    def products(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return the scalar products of mixed points with all tokens, and with themselves."""
        if self.has_gram:
            inner = self.gram @ shares
            return inner, np.einsum("jk,jk->k", inner, shares)
        points = shares.T @ self.flat
        return self.flat @ points.T, np.einsum("kd,kd->k", points, points)

    @cached_property
    def preference(self) -> Floats:
        """What settles ties; with even weights nothing, as every point prefers its own place."""
        n, m = len(self.uniform), len(self.masses)
        if self.even:
            return np.zeros((m, n))
        return _preference(n, m, float(self.lengths.max())).T

    @cached_property
    def lengths(self) -> Floats:
        """The squared lengths of the tokens."""
        if self.has_gram and not self.even:  # even weights mostly do without a Gram matrix
            return self.gram.diagonal()
        squared: Floats = np.einsum("jd,jd->j", self.flat, self.flat)
        return squared

    @cached_property
    def ground(self) -> Floats:
        """The squared lengths of the tokens and the preferences, [layers, tokens, points]."""
        return self.lengths.reshape(self.layers, -1, 1) + self.preference

    @cached_property
    def even(self) -> bool:
        """Whether all tokens weigh the same, those included that might have no weight."""
        return len(self.masses) == len(self.uniform) and _even(self.masses)

    def identity(self) -> Floats:
        """The couplings that join every point with the tokens of its own place."""
        n = len(self.uniform)
        return np.tile(np.eye(n) / n, (self.layers, 1, 1))

    def transport(
        self, inner: Floats, squares: Floats, held: Floats | None
    ) -> tuple[Floats, float]:
        """Return the optimal couplings of every layer to the points, and the objective.

        A held coupling that still costs the least is kept, so that ties cannot move a fixed point;
        if that is so in all layers, `held` itself is returned.
        """
        costs: Floats = (-2 * inner).reshape(self.layers, -1, len(squares))
        costs += self.ground
        costs += squares
        np.maximum(costs, 0.0, out=costs)
        rounding = KEEP * costs.max()
        if held is None:
            plans = self.couple(costs)
            return plans, self._objective(costs, plans)
        paid = np.einsum("lik,lik->l", costs, held)
        if (paid <= costs.min(axis=2) @ self.masses + rounding).all():  # every token pays its least
            return held, self._objective(costs, held)
        plans = self.couple(costs)
        objective = self._objective(costs, plans)
        kept = paid <= np.einsum("lik,lik->l", costs, plans) + rounding
        if kept.all():
            return held, objective
        plans[kept] = held[kept]
        return plans, objective

    def _objective(self, costs: Floats, plans: Floats) -> float:
        """What the couplings cost on average over the layers, preferences left out."""
        settled = np.einsum("ik,lik->", self.preference, plans)
        return float(np.einsum("lik,lik->", costs, plans) - settled) / self.layers


@cache
def _machine() -> Any:
    """Return the room of the iteration in machine code, if numba is installed."""
    try:
        from nlgauge.measure import descent
    except ImportError:
        return None
    return descent


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
