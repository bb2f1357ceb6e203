"""Exact balanced transport that starts where the last problem of the same weights ended.

    min <C, P>   with   P >= 0,   P 1 = a,   P^T 1 = b

An optimal P needs no more than n + m - 1 pairs, which join all tokens of both sides into a tree.
Whether a tree can carry the flow depends on a and b alone. So if only C changes, the tree of the
last optimum is a feasible start, and mostly a few exchanges (pivots) from the next optimum: the
primal network simplex, in machine code made by numba. On a tree potentials with f_i + g_j = C_ij
are unique, and f_i + g_j <= C_ij for all pairs proves that its flow costs the least.

The tree is rooted. Node i < n is row i, node n + j is column j; a node keeps its parent, its depth
and the list of its children, and the flow that it exchanges with its parent. Ties of the flow are
settled such that every node could send something to the root (a strongly feasible tree, Cunningham
1976): then exchanges that move nothing cannot go round in circles. Rounding may spoil that, so
exchanges are counted, and a problem that took too many counts as unsolved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.machine_code import compiled
from nlgauge.core.plan import Floats

Links = NDArray[np.int64]
Flags = NDArray[np.bool_]

TOLERANCE = 1e-14  # excess of f + g over C, relative to the largest cost, that is rounding
PIVOTS = 60  # exchanges for each node of the tree, at most
DUST = 1e-15  # flows below this are rounding
PARENT, DEPTH, CHILD, NEXT, BEFORE = range(5)  # rows of the table of links
NOBODY = -1


class Simplex:
    """Optimal couplings of weights a and b for stacks of costs, each begun at the last optimum."""

    def __init__(self, a: Floats, b: Floats, count: int) -> None:
        nodes = len(a) + len(b)
        self._a, self._b = a, b * (a.sum() / b.sum())
        self._trees = np.empty((count, 5, nodes), dtype=np.int64)
        self._planted = False

    def couple(self, costs: Floats) -> tuple[Floats, Flags]:
        """Return the couplings [count, n, m] for costs of that shape, and which are optimal."""
        plans, solved = np.zeros(costs.shape), np.zeros(len(costs), dtype=np.bool_)
        costs = np.ascontiguousarray(costs)
        couple_all(costs, self._a, self._b, self._trees, self._planted, plans, solved)
        self._planted = True
        return plans, solved


@compiled(kept=True)
def couple_all(
    costs: Floats,
    a: Floats,
    b: Floats,
    trees: Links,
    planted: bool,
    plans: Floats,
    solved: Flags,
) -> None:
    """Fill in the plans, starting from the trees of the last call, or each from the one before."""
    n, nodes = len(a), len(a) + len(b)
    flow, potential = np.empty(nodes), np.empty(nodes)
    for k in range(len(costs)):
        tree = trees[k]
        if planted:
            _fill(a, b, tree, flow)
        else:
            plant_at(trees, k, costs[k], a, b, flow)
        solved[k] = resume(costs[k], a, b, tree, flow, potential, _largest(costs[k])) != NOBODY
        for node in range(nodes):
            parent = tree[PARENT, node]
            if parent != NOBODY and flow[node] >= DUST:
                row, column = (node, parent - n) if node < n else (parent, node - n)
                plans[k, row, column] = flow[node]


@compiled()
def plant_at(trees: Links, k: int, cost: Floats, a: Floats, b: Floats, flow: Floats) -> None:
    """Make tree k and its flow: the first from its costs, others like the one before."""
    if k == 0:
        _plant(cost, a, b, trees[0])
    else:
        copy_table(trees[k - 1], trees[k])
    _fill(a, b, trees[k], flow)


@compiled()
def copy_tree(tree: Links, flow: Floats, into: Links, into_flow: Floats) -> None:
    """Write a tree and its flow over others."""
    copy_table(tree, into)
    for node in range(len(flow)):
        into_flow[node] = flow[node]


@compiled()
def copy_table(table: Any, into: Any) -> None:
    """Write a table over another of its shape and kind."""
    rows, columns = table.shape
    for i in range(rows):
        for j in range(columns):
            into[i, j] = table[i, j]


@compiled()
def resume(
    cost: Floats,
    a: Floats,
    b: Floats,
    tree: Links,
    flow: Floats,
    potential: Floats,
    largest: float,
) -> int:
    """Exchange arcs until the flow costs the least; return how many, NOBODY if it was given up.

    The `largest` cost, here or in problems of the same kind, says what is rounding.
    """
    exchanged = _improve(cost, tree, flow, potential, TOLERANCE * largest)
    if exchanged > 0:
        _fill(a, b, tree, flow)  # once more, so that the flow depends on nothing but the tree
    return exchanged


@compiled()
def _improve(cost: Floats, tree: Links, flow: Floats, potential: Floats, tolerance: float) -> int:
    """Exchange arcs until the potentials prove the flow optimal, unless that takes too long."""
    n, m = cost.shape
    root = 0
    while tree[PARENT, root] != NOBODY:
        root = tree[PARENT, root]
    _settle(cost, tree, potential, root)
    offers = potential[n:]
    exchanged, row, proven = 0, 0, 0
    while proven < n:
        least = _least(cost, row, offers)
        if least >= potential[row] - tolerance:
            proven += 1
        elif exchanged == PIVOTS * (n + m):
            return NOBODY
        else:
            column = 0
            while column + 1 < m and cost[row, column] - offers[column] > least:
                column += 1
            _exchange(cost, tree, flow, potential, row, n + column)
            exchanged, proven = exchanged + 1, 0
        row = row + 1 if row + 1 < n else 0
    return exchanged


@compiled()
def _largest(cost: Floats) -> float:
    n, m = cost.shape
    largest = 0.0
    for i in range(n):
        for j in range(m):
            largest = max(largest, abs(cost[i, j]))
    return largest


@compiled(careless=True)
def _least(cost: Floats, row: int, offers: Floats) -> float:
    """Return the least difference in a row; without care for NaN it takes several at a time."""
    least = np.inf
    for column in range(len(offers)):
        least = min(least, cost[row, column] - offers[column])
    return least


@compiled()
def _exchange(
    cost: Floats, tree: Links, flow: Floats, potential: Floats, source: int, sink: int
) -> None:
    """Let the arc from source to sink enter the tree, and the first that it drains leave."""
    n = len(cost)
    parent, depth = tree[PARENT], tree[DEPTH]
    drained, most = NOBODY, np.inf  # among the source's ancestors, the nearest of equals
    opposite, other = NOBODY, np.inf  # among the sink's, the farthest
    x, y = source, sink
    while x != y:
        climb_x, climb_y = depth[x] >= depth[y], depth[y] >= depth[x]
        if climb_x:
            if x < n and flow[x] < most:
                drained, most = x, flow[x]
            x = parent[x]
        if climb_y:
            if y >= n and flow[y] <= other:
                opposite, other = y, flow[y]
            y = parent[y]
    apex, moved = x, min(most, other)
    x, y = source, sink
    while x != apex:
        flow[x] += -moved if x < n else moved
        x = parent[x]
    while y != apex:
        flow[y] += -moved if y >= n else moved
        y = parent[y]
    if other <= most:
        top, above, last = sink, source, opposite
    else:
        top, above, last = source, sink, drained
    _turn(tree, flow, top, above, last, moved)
    _settle(cost, tree, potential, top)


@compiled()
def _turn(tree: Links, flow: Floats, top: int, above: int, last: int, moved: float) -> None:
    """Cut the branch off that hangs at `last`, and hang it by `top` under `above`."""
    node, carried = top, moved
    while True:
        former, lost = tree[PARENT, node], flow[node]
        _detach(tree, node)
        _attach(tree, node, above)
        flow[node] = carried
        if node == last:
            return
        node, above, carried = former, node, lost


@compiled()
def _attach(tree: Links, node: int, parent: int) -> None:
    first = tree[CHILD, parent]
    tree[PARENT, node], tree[NEXT, node], tree[BEFORE, node] = parent, first, NOBODY
    if first != NOBODY:
        tree[BEFORE, first] = node
    tree[CHILD, parent] = node


@compiled()
def _detach(tree: Links, node: int) -> None:
    before, after = tree[BEFORE, node], tree[NEXT, node]
    if before == NOBODY:
        tree[CHILD, tree[PARENT, node]] = after
    else:
        tree[NEXT, before] = after
    if after != NOBODY:
        tree[BEFORE, after] = before


@compiled()
def _settle(cost: Floats, tree: Links, potential: Floats, top: int) -> None:
    """Compute depths and potentials of `top` and of all below, from its parent's."""
    n = len(cost)
    node = top
    while True:
        parent = tree[PARENT, node]
        if parent == NOBODY:
            tree[DEPTH, node], potential[node] = 0, 0.0
        else:
            price = cost[node, parent - n] if node < n else cost[parent, node - n]
            tree[DEPTH, node] = tree[DEPTH, parent] + 1
            potential[node] = price - potential[parent]
        if tree[CHILD, node] != NOBODY:
            node = tree[CHILD, node]
            continue
        while node != top and tree[NEXT, node] == NOBODY:
            node = tree[PARENT, node]
        if node == top:
            return
        node = tree[NEXT, node]


@compiled()
def _fill(a: Floats, b: Floats, tree: Links, flow: Floats) -> None:
    """Compute the flow that the tree has to carry, from its leaves to its root."""
    n, nodes = len(a), len(flow)
    order = np.empty(nodes, dtype=np.int64)
    reached = 0
    for node in range(nodes):
        flow[node] = a[node] if node < n else -b[node - n]
        if tree[PARENT, node] == NOBODY:
            order[reached] = node
            reached += 1
    for place in range(nodes):
        child = tree[CHILD, order[place]]
        while child != NOBODY:
            order[reached] = child
            reached += 1
            child = tree[NEXT, child]
    for place in range(nodes - 1, 0, -1):
        node = order[place]
        flow[tree[PARENT, node]] += flow[node]
        flow[node] = max(flow[node] if node < n else -flow[node], 0.0)


@compiled()
def _plant(cost: Floats, a: Floats, b: Floats, tree: Links) -> None:
    """Make a first tree by giving as much as possible to the cheapest pair that is left."""
    n, m = cost.shape
    supply, demand = a.copy(), b.copy()
    open_row, open_column = np.ones(n, dtype=np.bool_), np.ones(m, dtype=np.bool_)
    best = np.empty(n, dtype=np.int64)  # the cheapest open column of every open row
    for i in range(n):
        best[i] = np.argmin(cost[i])
    rows, columns = n, m
    arcs = np.empty((n + m - 1, 2), dtype=np.int64)
    for k in range(n + m - 1):
        i = NOBODY
        for row in range(n):
            if open_row[row] and (i == NOBODY or cost[row, best[row]] < cost[i, best[i]]):
                i = row
        j = best[i]
        arcs[k, 0], arcs[k, 1] = i, j
        # Of equals the row stays open: a pair without flow then leads from a row to the root.
        if columns == 1 or (rows > 1 and supply[i] < demand[j]):
            demand[j] -= supply[i]
            open_row[i], rows = False, rows - 1
            continue
        supply[i] -= demand[j]
        open_column[j], columns = False, columns - 1
        for row in range(n):
            if open_row[row] and best[row] == j and columns:
                best[row] = _cheapest(cost[row], open_column)
    _root(arcs, n, tree)


@compiled()
def _cheapest(costs: Floats, available: Flags) -> int:
    found = NOBODY
    for k in range(len(costs)):
        if available[k] and (found == NOBODY or costs[k] < costs[found]):
            found = k
    return found


@compiled()
def _root(arcs: Links, n: int, tree: Links) -> None:
    """Hang a tree, given as pairs of rows and columns, by the column of the last pair."""
    nodes = len(arcs) + 1
    for node in range(nodes):
        for link in range(5):
            tree[link, node] = NOBODY
    order = np.empty(nodes, dtype=np.int64)
    order[0] = n + arcs[-1, 1]
    reached = 1
    for place in range(nodes):
        node = order[place]
        for k in range(nodes - 1):
            row, column = arcs[k, 0], n + arcs[k, 1]
            child = column if node == row else row
            if node in (row, column) and child != tree[PARENT, node]:
                _attach(tree, child, node)
                order[reached] = child
                reached += 1
