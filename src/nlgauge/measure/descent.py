"""The fixed point iteration of barycenters in machine code, for texts of a few dozen tokens.

Such a text takes some ten steps of five small problems each. In numpy its arithmetic would cost
less than the calls, and Python's lock would keep other threads waiting. The steps are those of
barycenter.py, where weights are uneven and the Gram matrix of the tokens is at hand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlgauge.core.machine_code import compiled
from nlgauge.core.plan import Floats
from nlgauge.measure.simplex import couple_all


class Pull(NamedTuple):
    """What moves the points: tables of all tokens of all layers, layer after layer."""

    gram: Floats  # scalar products of tokens, [layers * tokens, layers * tokens]
    ground: Floats  # squared lengths of tokens and preferences, [layers, tokens, points]
    preference: Floats  # [tokens, points]
    masses: Floats  # of the tokens
    uniform: Floats  # of the points


class Descent(NamedTuple):
    """The shares of tokens in points that were best, the objectives on the way, and the end."""

    best: Floats
    history: Floats
    converged: bool
    solved: bool
    """False if a problem was given up; then nothing else counts."""


@compiled(kept=True)
def descend(
    pull: Pull, products: Floats, squares: Floats, steps: int, tolerance: float, keep: float
) -> Descent:
    """Move points, given by their products with the tokens and with themselves, until they stay.

    The history is as long as the steps that counted; after one step the start is best.
    """
    layers, tokens, n = pull.ground.shape
    costs, plans = np.empty(pull.ground.shape), np.zeros(pull.ground.shape)
    held = np.zeros(pull.ground.shape)
    trees = np.empty((layers, 5, tokens + n), dtype=np.int64)
    solved, history = np.zeros(layers, dtype=np.bool_), np.empty(steps)
    shares, best = np.zeros((layers * tokens, n)), np.zeros((layers * tokens, n))
    converged, done = False, 0
    while not converged and done < steps:
        rounding = keep * _price(pull, products, squares, costs)
        plans[:] = 0.0
        couple_all(costs, pull.masses, pull.uniform, trees, done > 0, plans, solved)
        if not solved.all():
            return Descent(best, history[:done], False, False)
        objective = _objective(costs, pull.preference, plans)
        if done > 0 and objective >= history[done - 1]:  # only rounding is left
            converged = True
            break
        converged = done > 0 and (
            _kept(costs, plans, held, rounding)
            or history[done - 1] - objective <= tolerance * objective
        )
        history[done] = objective
        done += 1
        held[:], best[:] = plans, shares
        if not converged:
            _share(plans, shares)
            _multiply(pull.gram, shares, products, squares)
    return Descent(best, history[:done], converged, True)


@compiled()
def _price(pull: Pull, products: Floats, squares: Floats, costs: Floats) -> float:
    """Fill in the squared distances of tokens and points, and return the largest."""
    layers, tokens, n = costs.shape
    largest = 0.0
    for layer in range(layers):
        for token in range(tokens):
            for k in range(n):
                apart = pull.ground[layer, token, k] - 2 * products[k, layer * tokens + token]
                costs[layer, token, k] = max(apart + squares[k], 0.0)
                largest = max(largest, costs[layer, token, k])
    return largest


@compiled(any_order=True)
def _paid(cost: Floats, plan: Floats) -> float:
    total = 0.0
    for i in range(cost.shape[0]):
        for k in range(cost.shape[1]):
            total += cost[i, k] * plan[i, k]
    return total


@compiled()
def _objective(costs: Floats, preference: Floats, plans: Floats) -> float:
    total = 0.0
    for layer in range(len(costs)):
        total += _paid(costs[layer], plans[layer]) - _paid(preference, plans[layer])
    return total / len(costs)


@compiled()
def _kept(costs: Floats, plans: Floats, held: Floats, rounding: float) -> bool:
    """Put a held coupling that still costs the least back, and return whether all of them do."""
    every = True
    for layer in range(len(costs)):
        if _paid(costs[layer], held[layer]) <= _paid(costs[layer], plans[layer]) + rounding:
            plans[layer] = held[layer]
        else:
            every = False
    return every


@compiled()
def _share(plans: Floats, shares: Floats) -> None:
    layers, tokens, n = plans.shape
    for layer in range(layers):
        for token in range(tokens):
            for k in range(n):
                shares[layer * tokens + token, k] = n / layers * plans[layer, token, k]


@compiled(any_order=True)
def _multiply(gram: Floats, shares: Floats, products: Floats, squares: Floats) -> None:
    """Fill in the products of mixed points with all tokens, and with themselves.

    A coupling of n and n tokens holds at most 2n - 1 numbers other than 0; for 26 tokens this is a
    fifteenth of the products that a dense multiplication makes.
    """
    tokens, n = shares.shape
    products[:] = 0.0
    for j in range(tokens):
        for k in range(n):
            share = shares[j, k]
            if share != 0.0:
                for other in range(tokens):
                    products[k, other] += share * gram[j, other]
    squares[:] = 0.0
    for j in range(tokens):
        for k in range(n):
            if shares[j, k] != 0.0:
                squares[k] += shares[j, k] * products[k, j]
