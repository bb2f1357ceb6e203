"""The fixed point iteration of barycenters in machine code, for texts of a few dozen tokens.

Such a text takes some ten steps of five small problems each. In numpy its arithmetic would cost
less than the calls, and Python's lock would keep other threads waiting. The steps are those of
barycenter.py, where weights are uneven and the Gram matrix of the tokens is at hand; here only the
points are priced anew whose shares of the tokens have changed, which in the end are few. Arrays are
copied by loops, because numba takes seconds to compile each assignment of a slice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.machine_code import compiled
from nlgauge.core.plan import Floats
from nlgauge.measure.simplex import (
    DUST,
    NOBODY,
    PARENT,
    Links,
    copy_table,
    copy_tree,
    plant_at,
    resume,
)

Flags = NDArray[np.bool_]


class Pull(NamedTuple):
    """What moves the points: the tokens of all layers, layer after layer."""

    flat: Floats  # [layers * tokens, d], tokens without weight included
    gram: Floats  # their scalar products
    used: Links  # places of the tokens that have weight
    masses: Floats  # their weights
    uniform: Floats  # the weights of the points
    preference: Floats  # what a point pays for a token beside its distance, [points, used tokens]


class Descent(NamedTuple):
    """The points that were best, the objectives on the way, and the end."""

    points: Floats
    history: Floats
    converged: bool
    solved: bool
    """False if a problem was given up; then nothing else counts."""


class _Board(NamedTuple):
    """Where the points stand: their shares of the tokens, and what follows from them."""

    shares: Floats  # [points, layers * tokens]
    products: Floats  # of points and tokens, of that shape too
    squares: Floats  # of points
    costs: Floats  # squared distances and preferences, [layers, points, used tokens]
    dearest: Floats  # the largest cost of every point
    changed: Flags  # points whose shares are new


@compiled(kept=True)
def descend(pull: Pull, steps: int, tolerance: float, keep: float) -> Descent:
    """Move the points from the token-wise mean of the layers until they stay.

    The history is as long as the steps that counted; after one step the start is best.
    """
    n, m = pull.preference.shape
    board = _start(pull)
    layers, best = len(board.costs), board.shares.copy()
    trees, flows = np.empty((layers, 5, n + m), np.int64), np.empty((layers, n + m))
    tree, flow, potential = np.empty((5, n + m), np.int64), np.empty(n + m), np.empty(n + m)
    moved, history = np.ones(layers, dtype=np.bool_), np.empty(steps)
    converged, done = False, 0
    while not converged and done < steps:
        largest = _price(pull, board)
        objective = 0.0
        for layer in range(layers):
            cost = board.costs[layer]
            if done == 0:
                plant_at(trees, layer, cost, pull.uniform, pull.masses, flows[layer])
            copy_tree(trees[layer], flows[layer], tree, flow)
            exchanged = resume(cost, pull.uniform, pull.masses, tree, flow, potential, largest)
            if exchanged == NOBODY:
                return Descent(pull.flat, history, False, False)
            paid = _paid(cost, tree, flow)
            objective += paid - _paid(pull.preference, tree, flow)
            moved[layer] = done == 0 or (
                exchanged > 0 and _paid(cost, trees[layer], flows[layer]) > paid + keep * largest
            )
            if moved[layer]:
                copy_tree(tree, flow, trees[layer], flows[layer])
        objective /= layers
        if done > 0 and objective >= history[done - 1]:  # only rounding is left
            converged = True
            break
        converged = not moved.any() or (
            done > 0 and history[done - 1] - objective <= tolerance * objective
        )
        history[done] = objective
        done += 1
        copy_table(board.shares, best)
        if not converged:
            _share(pull, trees, flows, moved, board)
            _multiply(pull.gram, board)
    points = _mean(pull.flat, n) if done < 2 else _mix(pull.flat, best)
    return Descent(points, history[:done], converged, True)


@compiled()
def _start(pull: Pull) -> _Board:
    """Return the board with every point at the mean of its token over the layers."""
    n, m = pull.preference.shape
    tokens = len(pull.flat)
    layers = tokens // n
    products, squares = np.zeros((n, tokens)), np.zeros(n)
    for j in range(tokens):
        for other in range(tokens):
            products[j % n, other] += pull.gram[j, other] / layers
    for k in range(n):
        for layer in range(layers):
            squares[k] += products[k, layer * n + k] / layers
    shares, changed = np.zeros((n, tokens)), np.ones(n, dtype=np.bool_)
    return _Board(shares, products, squares, np.empty((layers, n, m)), np.empty(n), changed)


@compiled(careless=True)
def _price(pull: Pull, board: _Board) -> float:
    """Fill in the costs of the points that have changed, and return the largest of all."""
    layers, n, m = board.costs.shape
    largest = 0.0
    for k in range(n):
        if board.changed[k]:
            dearest = 0.0
            for layer in range(layers):
                for i in range(m):
                    j = layer * n + pull.used[i]
                    apart = pull.gram[j, j] + pull.preference[k, i] - 2 * board.products[k, j]
                    cost = max(apart + board.squares[k], 0.0)
                    board.costs[layer, k, i] = cost
                    dearest = max(dearest, cost)
            board.dearest[k] = dearest
        largest = max(largest, board.dearest[k])
    return largest


@compiled()
def _paid(cost: Floats, tree: Links, flow: Floats) -> float:
    """Return what the flow of a tree costs."""
    n, total = len(cost), 0.0
    for node in range(len(flow)):
        parent = tree[PARENT, node]
        if parent != NOBODY and flow[node] >= DUST:
            total += flow[node] * (cost[node, parent - n] if node < n else cost[parent, node - n])
    return total


@compiled(any_order=True)
def _share(pull: Pull, trees: Links, flows: Floats, moved: Flags, board: _Board) -> None:
    """Read the couplings that moved as shares, and mark the points that have others now."""
    layers, n, _ = board.costs.shape
    fresh = np.empty((n, n))
    for k in range(n):
        board.changed[k] = False
    for layer in range(layers):
        if moved[layer]:
            _spread(pull.used, trees[layer], flows[layer], n / layers, fresh)
            for k in range(n):
                apart = 0.0
                for i in range(n):
                    apart += abs(fresh[k, i] - board.shares[k, layer * n + i])
                if apart > 0:
                    board.changed[k] = True
                    for i in range(n):
                        board.shares[k, layer * n + i] = fresh[k, i]


@compiled()
def _spread(used: Links, tree: Links, flow: Floats, share: float, fresh: Floats) -> None:
    """Fill in the coupling of points and all tokens, times `share`."""
    n = len(fresh)
    for k in range(n):
        for i in range(n):
            fresh[k, i] = 0.0
    for node in range(len(flow)):
        parent = tree[PARENT, node]
        if parent != NOBODY and flow[node] >= DUST:
            k, i = (node, parent - n) if node < n else (parent, node - n)
            fresh[k, used[i]] = share * flow[node]


@compiled(any_order=True)
def _multiply(gram: Floats, board: _Board) -> None:
    """Fill in the products of points that have changed with all tokens and with themselves.

    A coupling of n and n tokens holds at most 2n - 1 numbers other than 0; for 26 tokens this is a
    fifteenth of the products that a dense multiplication makes.
    """
    n, tokens = board.shares.shape
    for k in range(n):
        if board.changed[k]:
            product, square = board.products[k], 0.0
            for j in range(tokens):
                product[j] = 0.0
            for j in range(tokens):
                share = board.shares[k, j]
                if share != 0.0:
                    for other in range(tokens):
                        product[other] += share * gram[j, other]
            for j in range(tokens):
                square += board.shares[k, j] * product[j]
            board.squares[k] = square


@compiled()
def _mean(flat: Floats, n: int) -> Floats:
    tokens, dimension = flat.shape
    points = np.zeros((n, dimension))
    for j in range(tokens):
        for x in range(dimension):
            points[j % n, x] += flat[j, x] / (tokens // n)
    return points


@compiled()
def _mix(flat: Floats, shares: Floats) -> Floats:
    n, tokens = shares.shape
    points = np.zeros((n, flat.shape[1]))
    for k in range(n):
        for j in range(tokens):
            share = shares[k, j]
            if share != 0.0:
                for x in range(flat.shape[1]):
                    points[k, x] += share * flat[j, x]
    return points
