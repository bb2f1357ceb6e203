"""Exact unbalanced transport by an active-set method on forests, for large problems.

An optimal plan needs no more pairs than a forest of the tokens of both sides, and the optimum on a
forest without the constraint P >= 0 has a closed form (support.py). A pair with f + g > C enters.
If it closes a cycle, mass is moved around the cycle until one of its pairs has none and leaves.
Then mass moves towards the optimum of the tree; pairs that lose all mass leave and split the tree.
Pairs without mass never stay, so that each step lowers the objective and none can cycle.
"""

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.kernels import duality, pricing, tree
from nlgauge.kernels.tree import Indices

try:
    import cython
except ModuleNotFoundError:
    from nlgauge.kernels import without_cython as cython

INFINITY = float("inf")
GAP = 1e-10  # certified gap, relative to the scale of a problem, that counts as solved
TOLERANCE = 1e-14  # excess of f + g over C, relative to the scale, that is rounding
NOTHING = 1e-14  # mass of a pair, relative to that of its tokens, that is rounding
MAX_MASS_RATIO = 10.0  # of the heaviest token of a tree to its root
MAX_PIVOTS = 1000  # per node
MAX_ROUNDS = 20  # of recomputed potentials


class Forest(tree.Tree):
    """A transport problem, its forest, and the masses of the tokens."""

    def __init__(self, nodes: int) -> None:
        super().__init__(nodes)
        self.rate_a, self.rate_b = 0.0, 0.0  # 1 / pa and 1 / pb
        self.a: Floats = np.empty(0)
        self.b: Floats = np.empty(0)
        self.unsettled = np.empty(nodes, np.intp)  # roots of trees that are not optimal
        self.marks = np.empty(nodes, np.intp)  # number of the last pivot that met a node
        self.target = np.empty(nodes)  # the flow that a tree is moved to
        self.mass = np.empty(nodes)  # of each token, as its potential determines it
        self.sums, self.logs = np.empty(nodes), np.empty(nodes)


def solve_all(
    costs: Floats,
    a: Floats,
    b: Floats,
    shapes: Indices,
    rate_a: float,
    rate_b: float,
    least_scale: float,
    couplings: Floats,
    gaps: Floats,
    pivots: Indices,
    solved: Indices,
) -> None:
    """Write optimal couplings, certified gaps and pivots of problems of `shapes` [problems, 2]."""
    work = Forest(np.asarray(shapes).sum(axis=1).max())
    with cython.nogil:
        work.rate_a, work.rate_b = rate_a, rate_b
        work.costs, work.offset = costs, 0
        row = column = 0
        couplings[:] = 0.0
        for k in range(len(shapes)):
            n, m, scale = shapes[k, 0], shapes[k, 1], least_scale
            work.n, work.m = n, m
            work.a, work.b = a[row : row + n], b[column : column + m]
            for i in range(n * m):
                scale = max(scale, costs[work.offset + i])
            pivots[k] = optimise(work, TOLERANCE * scale)
            gaps[k] = _write_coupling(work, couplings)
            solved[k] = pivots[k] >= 0 and gaps[k] <= GAP * scale
            work.offset, row, column = work.offset + n * m, row + n, column + m


def optimise(work: Forest, tolerance: float) -> int:
    """Pivot from a start to the optimum; return the pivots, -1 without success."""
    n, m, pivots, before = work.n, work.m, 0, -1
    _start(work)
    for _ in range(MAX_ROUNDS):
        if pivots == before:  # a whole round without a pivot
            return pivots
        if not _refresh(work):
            return -1
        before, row, proven = pivots, 0, 0
        while proven < n:
            least = pricing.least_difference(work, row)
            excess = work.potential[row] - least
            if not excess > tolerance:
                proven += 1
            elif pivots == MAX_PIVOTS * (n + m):
                return -1
            else:
                pivots, proven = pivots + 1, 0
                column = pricing.find_column(work, row, least)
                if not _pivot(work, row, n + column, excess, pivots):
                    return -1
            row = row + 1 if row + 1 < n else 0
    return -1


def _start(work: Forest) -> None:
    """Write a forest: each row with its cheapest column, other columns with their cheapest row."""
    n, m = work.n, work.m
    for node in range(n + m):
        work.parent[node] = work.child[node] = work.marks[node] = -1
        work.order[node] = 0  # the first row, if the costs of a column are NaN
        work.potential[node] = INFINITY if node >= n else 0.0
    for i in range(n):
        at, best = work.offset + i * m, 0
        for j in range(m):
            cost = work.costs[at + j]
            if cost < work.costs[at + best]:
                best = j
            if cost < work.potential[n + j]:
                work.potential[n + j] = cost
                work.order[n + j] = i  # the cheapest row
        work.order[i] = n + best
    for i in range(n):
        tree.attach(work, i, work.order[i])
    for node in range(n, n + m):
        if work.child[node] < 0:
            tree.attach(work, node, work.order[node])
    for node in range(n + m):
        work.potential[node] = 0.0
        work.flow[node] = work.a[node] if node < n else work.b[node - n]
        if work.parent[node] >= 0:
            work.price[node] = work.costs[work.offset + tree.pair(work, node)]


def _refresh(work: Forest) -> bool:
    """Compute masses anew, without the rounding of many pivots, and settle all trees."""
    n, m = work.n, work.m
    for root in range(n + m):
        if work.parent[root] < 0:
            for place in range(tree.list_nodes(work, root)):
                node = work.order[place]
                if place > 0:
                    work.potential[node] = work.price[node] - work.potential[work.parent[node]]
                rate = work.rate_a if node < n else work.rate_b
                weight = work.a[node] if node < n else work.b[node - n]
                work.mass[node] = weight * np.exp(-work.potential[node] * rate)
    settled = True
    for root in range(n + m):
        if work.parent[root] < 0 and settled:
            settled = _settle(work, root)
    return settled


def _pivot(work: Forest, source: int, sink: int, excess: float, number: int) -> bool:
    """Let the pair of a row and a column enter, and move to the optimum of the new forest."""
    price = work.costs[work.offset + source * work.m + sink - work.n]
    x = source
    while True:
        work.marks[x] = number
        if work.parent[x] < 0:
            break
        x = work.parent[x]
    apex = sink
    while work.marks[apex] != number and work.parent[apex] >= 0:
        apex = work.parent[apex]
    if work.marks[apex] != number:  # another tree, of which the sink becomes the root
        tree.reverse_branch(work, sink, source, apex, price, 0.0)
        _shift(work, sink, excess)
        return _settle(work, x)
    leaving, moved = -1, INFINITY
    node = source
    while node != apex:
        if node < work.n and work.flow[node] < moved:
            leaving, moved = node, work.flow[node]
        node = work.parent[node]
    node, below_sink = sink, False
    while node != apex:
        if node >= work.n and work.flow[node] < moved:
            leaving, moved, below_sink = node, work.flow[node], True
        node = work.parent[node]
    _move(work, source, apex, moved)
    _move(work, sink, apex, -moved)
    top, other = (sink, source) if below_sink else (source, sink)
    tree.reverse_branch(work, top, other, leaving, price, moved)
    _shift(work, top, excess)
    return _settle(work, x)


def _move(work: Forest, node: int, apex: int, mass: float) -> None:
    """Take mass from the pairs below rows and give it to those below columns, up to a node."""
    while node != apex:
        work.flow[node] += -mass if node < work.n else mass
        node = work.parent[node]


def _shift(work: Forest, top: int, excess: float) -> None:
    """Lower the potential of a node by an excess, and shift those of its descendants with it."""
    n, change_a = work.n, -excess if top < work.n else excess
    grow_a, grow_b = np.exp(-change_a * work.rate_a), np.exp(change_a * work.rate_b)
    work.potential[top] -= excess
    for place in range(tree.list_nodes(work, top)):
        node = work.order[place]
        work.mass[node] *= grow_a if node < n else grow_b
        if place > 0:
            work.potential[node] = work.price[node] - work.potential[work.parent[node]]


def _settle(work: Forest, root: int) -> bool:
    """Move the mass of a tree to its optimum, which may split it; False if rounding prevents it."""
    work.unsettled[0] = root
    count = 1
    while count > 0:
        count -= 1
        root, size = work.unsettled[count], tree.list_nodes(work, work.unsettled[count])
        if not _balance(work, size):
            return False
        top = _heaviest(work, size)
        if top != root:
            tree.reverse_branch(work, top, -1, root, 0.0, 0.0)
            root, size = top, tree.list_nodes(work, top)
        _write_targets(work, size)
        length = _largest_step(work, size)
        kept = count
        for place in range(1, size):
            node = work.order[place]
            if length >= 1.0:
                work.flow[node] = work.target[node]
            elif _limit(work, node) <= (1.0 + NOTHING) * length:
                work.flow[node] = 0.0
            else:
                work.flow[node] += length * (work.target[node] - work.flow[node])
        for place in range(1, size):
            node = work.order[place]
            if _removable(work, node):
                tree.detach(work, node)
                work.parent[node] = -1
                work.unsettled[count] = node
                count += 1
        if length >= 1.0:
            count = kept  # parts of an optimum are optimal
        elif count == kept:
            return False
        else:
            work.unsettled[count] = root
            count += 1
    return True


def _balance(work: Forest, size: int) -> bool:
    """Shift the tree in `order` until both of its sides have the same mass."""
    n, sent, received = work.n, 0.0, 0.0
    for place in range(size):
        node = work.order[place]
        if node < n:
            sent += work.mass[node]
        else:
            received += work.mass[node]
    if not (0.0 < sent < INFINITY and 0.0 < received < INFINITY):
        return False
    change = np.log(sent / received) / (work.rate_a + work.rate_b)
    grow_a, grow_b = np.exp(-change * work.rate_a), np.exp(change * work.rate_b)
    work.potential[work.order[0]] += change if work.order[0] < n else -change
    for place in range(size):
        node = work.order[place]
        work.mass[node] *= grow_a if node < n else grow_b
        if place > 0:
            work.potential[node] = work.price[node] - work.potential[work.parent[node]]
    return True


def _heaviest(work: Forest, size: int) -> int:
    """Return the heaviest node: as a root, it keeps rounding away from tiny masses."""
    root, place = work.order[0], 0
    for other in range(1, size):
        if work.mass[work.order[other]] > work.mass[work.order[place]]:
            place = other
    light = work.mass[root] * MAX_MASS_RATIO < work.mass[work.order[place]]
    top: int = work.order[place] if light else root
    return top


def _write_targets(work: Forest, size: int) -> None:
    """Write the flows of the masses of the tree in `order`, from its leaves to its root."""
    n = work.n
    for place in range(size):
        node = work.order[place]
        work.target[node] = work.mass[node] if node < n else -work.mass[node]
    for place in range(size - 1, 0, -1):
        node = work.order[place]
        surplus = work.target[node]
        work.target[work.parent[node]] += surplus
        work.target[node] = surplus if node < n else -surplus


def _largest_step(work: Forest, size: int) -> float:
    """Return the share of the way to the targets at which the first flow is 0, at most 1."""
    length = 1.0
    for place in range(1, size):
        length = min(length, _limit(work, work.order[place]))
    return length


def _limit(work: Forest, node: int) -> float:
    """Return the share of the way to its target at which a flow is 0, 1 if it is not."""
    flow, target = work.flow[node], work.target[node]
    return flow / (flow - target) if target < 0.0 else 1.0


def _removable(work: Forest, node: int) -> bool:
    """Return whether no mass flows to the parent, and both nodes have other neighbours."""
    parent, target = work.parent[node], max(work.target[node], 0.0)
    if target > NOTHING * min(work.mass[node], work.mass[parent]) or work.flow[node] > target:
        return False  # it has mass, or will have
    alone: bool = work.parent[parent] < 0 and work.child[parent] == node and work.next[node] < 0
    return work.child[node] >= 0 and not alone


def _write_coupling(work: Forest, couplings: Floats) -> float:
    """Write the flow as a coupling; return the duality gap that its potentials certify."""
    n, m, value, excess = work.n, work.m, 0.0, -INFINITY
    for node in range(n + m):
        work.sums[node] = 0.0
    for node in range(n + m):
        parent = work.parent[node]
        if parent >= 0 and work.flow[node] > 0.0:
            couplings[work.offset + tree.pair(work, node)] = work.flow[node]
            value += work.flow[node] * work.price[node]
            work.sums[node] += work.flow[node]
            work.sums[parent] += work.flow[node]
    for i in range(n):
        at, f = work.offset + i * m, work.potential[i]
        for j in range(m):
            excess = max(excess, f + work.potential[n + j] - work.costs[at + j])
    for i in range(n):
        work.potential[i] -= max(excess, 0.0)
    gap_a, _ = duality.evaluate_side(
        work.sums[:n], work.a, work.potential[:n], work.rate_a, work.logs, n
    )
    gap_b, _ = duality.evaluate_side(
        work.sums[n:], work.b, work.potential[n:], work.rate_b, work.logs, m
    )
    return max(value + gap_a + gap_b, 0.0)
