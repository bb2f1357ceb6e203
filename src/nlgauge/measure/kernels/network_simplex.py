"""Exact balanced transport by the primal network simplex method, from any feasible tree.

    min <C, P>   with   P >= 0,   P 1 = a,   P^T 1 = b

An optimal P needs at most n + m - 1 pairs, which connect all tokens of both sides to a spanning
tree. Whether a tree is feasible depends on a and b alone: if only C changes, the tree of the last
optimum is a feasible start and usually a few pivots from the next optimum. Potentials with
f_i + g_j = C_ij on the tree are unique, and f_i + g_j <= C_ij for all pairs proves optimality.

The tree is rooted; node i < n is row i, node n + j is column j, and a tree is given by the parent
of each node (-1 for the root). Ties between leaving arcs are broken such that every node could send
flow to the root (a strongly feasible tree, Cunningham 1976), which prevents cycling. Rounding may
violate this, so pivots are counted, and a problem with too many of them is unsolved.
"""

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.arrays import Floats
from nlgauge.measure.kernels import pricing

try:
    import cython
except ModuleNotFoundError:
    from nlgauge.measure.kernels import without_cython as cython

Indices = NDArray[np.intp]

INFINITY = float("inf")
GAP = 1e-10  # duality gap, relative to the largest cost, that counts as solved
TOLERANCE = 1e-14  # excess of f + g over C, relative to the largest cost, that is rounding
MIN_FLOW = 1e-15  # smaller flows are rounding
MAX_PIVOTS = 1000  # per node


class Simplex:
    """A transport problem, its tree and the flow between each node and its parent."""

    def __init__(self, n: int, m: int) -> None:
        nodes = n + m
        self.n, self.m, self.root, self.offset = n, m, 0, 0
        self.costs: Floats = np.empty(n * m)  # row after row, from `offset` on
        self.a: Floats = np.empty(n)
        self.b: Floats = np.empty(m)
        self.parent, self.depth = np.empty(nodes, np.intp), np.empty(nodes, np.intp)
        self.child, self.next = np.empty(nodes, np.intp), np.empty(nodes, np.intp)
        self.previous, self.order = np.empty(nodes, np.intp), np.empty(nodes, np.intp)
        self.flow, self.potential = np.empty(nodes), np.empty(nodes)
        listed = n * pricing.LISTED if m >= pricing.MIN_COLUMNS else 0
        self.lists, self.values = np.empty(listed, np.intp), np.empty(pricing.LISTED)


def solve_all(
    costs: Floats,
    a: Floats,
    b: Floats,
    shapes: Indices,
    couplings: Floats,
    gaps: Floats,
    pivots: Indices,
    solved: Indices,
) -> None:
    """Write optimal couplings, duality gaps and pivots of problems of `shapes` [problems, 2]."""
    rows, columns = np.asarray(shapes).max(axis=0)
    work = Simplex(rows, columns)
    with cython.nogil:
        work.costs, work.offset = costs, 0
        row = column = 0
        couplings[:] = 0.0
        for k in range(len(shapes)):
            n, m = shapes[k, 0], shapes[k, 1]
            work.n, work.m, largest = n, m, 0.0
            work.a, work.b = a[row : row + n], b[column : column + m]
            for i in range(n * m):
                largest = max(largest, costs[work.offset + i])
            start_greedily(work)
            compute_flow(work)
            pivots[k] = optimise(work, largest)
            gaps[k] = _write_coupling(work, couplings)
            solved[k] = pivots[k] >= 0 and gaps[k] <= GAP * largest
            work.offset, row, column = work.offset + n * m, row + n, column + m


def _write_coupling(work: Simplex, couplings: Floats) -> float:
    """Write the flow as a coupling; return the duality gap that its potentials certify."""
    n, m, excess = work.n, work.m, 0.0
    gap = flow_cost(work, work.costs, work.offset)
    for node in range(n + m):
        parent = work.parent[node]
        if parent >= 0 and work.flow[node] >= MIN_FLOW:
            pair = node * m + parent - n if node < n else parent * m + node - n
            couplings[work.offset + pair] = work.flow[node]
        gap -= work.potential[node] * (work.a[node] if node < n else work.b[node - n])
    for i in range(n):
        at, f = work.offset + i * m, work.potential[i]
        for j in range(m):
            excess = max(excess, f + work.potential[n + j] - work.costs[at + j])
    return max(gap + excess, 0.0)


def flow_cost(work: Simplex, costs: Floats, offset: int) -> float:
    """Return the cost of the flow of a tree."""
    n, m, total = work.n, work.m, 0.0
    for node in range(n + m):
        parent = work.parent[node]
        if parent >= 0 and work.flow[node] >= MIN_FLOW:
            pair = node * m + parent - n if node < n else parent * m + node - n
            total += work.flow[node] * costs[offset + pair]
    return total


def optimise(work: Simplex, largest: float) -> int:
    """Pivot from `compute_flow` to an optimal flow; return the pivots, -1 if there are too many."""
    n, m, tolerance = work.n, work.m, TOLERANCE * largest
    most = MAX_PIVOTS * (n + m)
    _update_potentials(work, work.root)
    # An old tree may need few pivots, for which lists are not worth their time.
    few = pricing.FEW_PIVOTS * n if m >= pricing.MIN_COLUMNS else most
    pivots, before = _pivot_while_possible(work, tolerance, 0, few, False), 0
    if pivots == few:
        while before < pivots < most:
            before = pivots
            pricing.write_lists(
                work.costs, work.offset, work.potential, n, m, work.lists, work.values
            )
            pivots = _pivot_while_possible(work, tolerance, pivots, most, True)
        pivots = _pivot_while_possible(work, tolerance, pivots, most, False)
    if pivots > 0:
        compute_flow(work)
    return pivots if pivots < most else -1


def _pivot_while_possible(
    work: Simplex, tolerance: float, pivots: int, most: int, listed: bool
) -> int:
    """Pivot until no listed pair, or no pair at all, can enter; return the pivots, or `most`."""
    n, m, row, proven = work.n, work.m, 0, 0
    while proven < n and pivots < most:
        at, start = work.offset + row * m, row * pricing.LISTED
        if listed:
            column = pricing.cheapest_listed(work.costs, at, work.potential, n, work.lists, start)
        else:
            column = pricing.cheapest_column(work.costs, at, work.potential, n, m)
        least = work.costs[at + column] - work.potential[n + column]
        if least >= work.potential[row] - tolerance:
            proven += 1
        else:
            _pivot(work, row, n + column)
            pivots, proven = pivots + 1, 0
        row = row + 1 if row + 1 < n else 0
    return pivots


def _pivot(work: Simplex, source: int, sink: int) -> None:
    """Let the arc from source to sink enter the tree, and the first arc without flow leave."""
    n = work.n
    leaving, least = -1, INFINITY  # among the ancestors of the source, the nearest of equals
    opposite, other = -1, INFINITY  # among those of the sink, the farthest
    x, y = source, sink
    while x != y:
        deep_x, deep_y = work.depth[x], work.depth[y]
        if deep_x >= deep_y:
            if x < n and work.flow[x] < least:
                leaving, least = x, work.flow[x]
            x = work.parent[x]
        if deep_y >= deep_x:
            if y >= n and work.flow[y] <= other:
                opposite, other = y, work.flow[y]
            y = work.parent[y]
    apex, moved = x, min(least, other)
    x = source
    while x != apex:
        work.flow[x] += -moved if x < n else moved
        x = work.parent[x]
    y = sink
    while y != apex:
        work.flow[y] += -moved if y >= n else moved
        y = work.parent[y]
    if other <= least:
        _reverse_branch(work, sink, source, opposite, moved)
        _update_potentials(work, sink)
    else:
        _reverse_branch(work, source, sink, leaving, moved)
        _update_potentials(work, source)


def _reverse_branch(work: Simplex, top: int, parent: int, last: int, moved: float) -> None:
    """Cut off the subtree of `last`, and attach it by its node `top` to `parent`."""
    node, flow = top, moved
    while True:
        former, former_flow = work.parent[node], work.flow[node]
        _detach(work, node)
        _attach(work, node, parent)
        work.flow[node] = flow
        if node == last:
            return
        node, parent, flow = former, node, former_flow


def _attach(work: Simplex, node: int, parent: int) -> None:
    first = work.child[parent]
    work.parent[node] = parent
    work.next[node] = first
    work.previous[node] = -1
    if first >= 0:
        work.previous[first] = node
    work.child[parent] = node


def _detach(work: Simplex, node: int) -> None:
    previous, following = work.previous[node], work.next[node]
    if previous < 0:
        work.child[work.parent[node]] = following
    else:
        work.next[previous] = following
    if following >= 0:
        work.previous[following] = previous


def _update_potentials(work: Simplex, top: int) -> None:
    """Compute depths and potentials of `top` and its descendants from those of its parent."""
    n, m, node = work.n, work.m, top
    while True:
        parent = work.parent[node]
        if parent < 0:
            work.depth[node] = 0
            work.potential[node] = 0.0
        else:
            pair = node * m + parent - n if node < n else parent * m + node - n
            work.depth[node] = work.depth[parent] + 1
            work.potential[node] = work.costs[work.offset + pair] - work.potential[parent]
        if work.child[node] >= 0:
            node = work.child[node]
            continue
        while node != top and work.next[node] < 0:
            node = work.parent[node]
        if node == top:
            return
        node = work.next[node]


def compute_flow(work: Simplex) -> None:
    """Build the lists of children from the parents, and compute the flow from leaves to root."""
    n, nodes = work.n, work.n + work.m
    for node in range(nodes):
        work.child[node] = -1
        work.flow[node] = work.a[node] if node < n else -work.b[node - n]
    for node in range(nodes):
        parent = work.parent[node]
        if parent < 0:
            work.root = node
        else:
            _attach(work, node, parent)
    work.order[0] = work.root
    reached = 1
    for place in range(nodes):
        node = work.child[work.order[place]]
        while node >= 0:
            work.order[reached] = node
            reached += 1
            node = work.next[node]
    for place in range(nodes - 1, 0, -1):
        node = work.order[place]
        flow = work.flow[node]
        work.flow[work.parent[node]] += flow
        work.flow[node] = max(flow if node < n else -flow, 0.0)


def start_greedily(work: Simplex) -> None:
    """Write a feasible tree: repeatedly send as much as possible along the cheapest open pair."""
    n, m, rows, columns = work.n, work.m, work.n, work.m
    for i in range(n):
        work.flow[i] = work.a[i]
        _find_open_column(work, i, True)
        work.depth[i] = 1  # 1 while a row or a column is open
    for j in range(m):
        work.flow[n + j] = work.b[j]
        work.depth[n + j] = 1
    j = 0
    for _ in range(n + m - 1):
        i, least = -1, INFINITY
        for row in range(n):
            if work.depth[row] and (i < 0 or work.potential[row] < least):
                i, least = row, work.potential[row]
        j = work.order[i]
        # If supply and demand are equal the row stays open: arcs without flow lead to the root.
        if columns == 1 or (rows > 1 and work.flow[i] < work.flow[n + j]):
            work.flow[n + j] -= work.flow[i]
            work.depth[i], work.parent[i], rows = 0, n + j, rows - 1
        else:
            work.flow[i] -= work.flow[n + j]
            work.depth[n + j], work.parent[n + j], columns = 0, i, columns - 1
            for row in range(n):
                if work.depth[row] and work.order[row] == j:
                    _find_open_column(work, row, False)
    work.parent[n + j] = -1


def _find_open_column(work: Simplex, row: int, every: bool) -> None:
    """Write the cheapest column of a row and its cost, of those still open unless `every` counts.

    They are kept in `order` and `potential`, which nothing else needs before there is a tree.
    """
    found, least, at = -1, INFINITY, work.offset + row * work.m
    for j in range(work.m):
        cost = work.costs[at + j]
        if (every or work.depth[work.n + j]) and (found < 0 or cost < least):
            found, least = j, cost
    work.order[row], work.potential[row] = found, least
