"""Exact balanced transport by the primal network simplex method, from any feasible tree.

    min <C, P>   with   P >= 0,   P 1 = a,   P^T 1 = b

An optimal P needs at most n + m - 1 pairs, which connect all tokens of both sides to a spanning
tree. Whether a tree is feasible depends on a and b alone: if only C changes, the tree of the last
optimum is a feasible start and usually a few pivots from the next optimum. Potentials with
f_i + g_j = C_ij on the tree are unique, and f_i + g_j <= C_ij for all pairs proves optimality.

A tree is given by the parent of each node. Ties between leaving arcs are broken such that every
node could send flow to the root (a strongly feasible tree, Cunningham 1976), which prevents
cycling. Rounding may violate this, so pivots are counted, and a problem with too many of them is
unsolved.
"""

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.kernels import pricing, tree
from nlgauge.kernels.tree import Indices

try:
    import cython
except ModuleNotFoundError:
    from nlgauge.kernels import without_cython as cython

INFINITY = float("inf")
GAP = 1e-10  # duality gap, relative to the largest cost, that counts as solved
TOLERANCE = 1e-14  # excess of f + g over C, relative to the largest cost, that is rounding
LARGE_EXCESS = 1e-3  # relative to the largest cost
MIN_FLOW = 1e-15  # smaller flows are rounding
MAX_PIVOTS = 1000  # per node


class Simplex(tree.Tree):
    """A transport problem, its tree and the flow between each node and its parent."""

    def __init__(self, n: int, m: int) -> None:
        super().__init__(n + m)
        self.n, self.m, self.root = n, m, 0
        self.a: Floats = np.empty(n)
        self.b: Floats = np.empty(m)
        self.size = np.empty(n + m, np.intp)  # nodes of the subtree of each node
        self.lists = pricing.Lists(n, m)
        self.listed = False  # whether the lists are written


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
            work.listed = False
            pivots[k] = optimise(work, largest)
            gaps[k] = _write_coupling(work, couplings)
            solved[k] = pivots[k] >= 0 and gaps[k] <= GAP * largest
            work.offset, row, column = work.offset + n * m, row + n, column + m


def _write_coupling(work: Simplex, couplings: Floats) -> float:
    """Write the flow as a coupling; return the duality gap that its potentials certify."""
    n, m, excess = work.n, work.m, 0.0
    gap = flow_cost(work, work.costs, work.offset)
    for node in range(n + m):
        if work.parent[node] >= 0 and work.flow[node] >= MIN_FLOW:
            couplings[work.offset + tree.pair(work, node)] = work.flow[node]
        gap -= work.potential[node] * (work.a[node] if node < n else work.b[node - n])
    for i in range(n):
        at, f = work.offset + i * m, work.potential[i]
        for j in range(m):
            excess = max(excess, f + work.potential[n + j] - work.costs[at + j])
    return max(gap + excess, 0.0)


def flow_cost(work: Simplex, costs: Floats, offset: int) -> float:
    """Return the cost of the flow of a tree."""
    total = 0.0
    for node in range(work.n + work.m):
        if work.parent[node] >= 0 and work.flow[node] >= MIN_FLOW:
            total += work.flow[node] * costs[offset + tree.pair(work, node)]
    return total


def add_means(work: Simplex, tokens: Floats, scale: float, points: Floats) -> None:
    """Add the tokens of the columns [m, d] to the points of the rows [n, d], times scaled flows."""
    n = work.n
    for node in range(n + work.m):
        parent, share = work.parent[node], scale * work.flow[node]
        if parent >= 0 and work.flow[node] >= MIN_FLOW:
            row, column = (node, parent - n) if node < n else (parent, node - n)
            for x in range(tokens.shape[1]):
                points[row, x] += share * tokens[column, x]


def reoptimise(work: Simplex, largest: float) -> tuple[float, int]:
    """Pivot from the tree of `parent` to an optimal flow; return the cost before and the pivots.

    Other threads can run.
    """
    with cython.nogil:
        compute_flow(work)
        before = flow_cost(work, work.costs, work.offset)
        pivots = optimise(work, largest)
    return before, pivots


def optimise(work: Simplex, largest: float) -> int:
    """Pivot from `compute_flow` to an optimal flow; return the pivots, -1 if there are too many."""
    n, m, tolerance = work.n, work.m, TOLERANCE * largest
    most, pivots = MAX_PIVOTS * (n + m), 0
    for node in range(n + m):
        if node != work.root:
            work.price[node] = work.costs[work.offset + tree.pair(work, node)]
    _compute_potentials(work)
    computed = 0  # pivots before potentials were last computed without the rounding of pivots
    if work.listed:
        pricing.read_costs(work, work.lists)
    elif m >= pricing.MIN_COLUMNS:
        pivots = computed = _start_lists(work, tolerance)
    if work.listed:
        pivots = _pivot_large_excess_first(work, largest, most, pivots)
    while pivots < most:
        pivots, rounding = _pivot_while_possible(work, tolerance, pivots, most), 0.0
        if pivots > computed:
            tree.list_nodes(work, work.root)
            rounding = _compute_potentials(work)
            computed = pivots
        if work.listed:
            pivots = _pivot_once_per_row(work, tolerance, pivots)
            if pivots == computed:  # proven by all pairs
                break
        elif rounding <= tolerance:  # all pairs were read, with potentials as good as the new ones
            break
    if pivots >= most:
        return -1
    if pivots > 0:
        compute_flow(work)  # without the rounding of pivots, summed in the order of the nodes
    return pivots


def _start_lists(work: Simplex, tolerance: float) -> int:
    """Write the first lists; return the pivots before.

    The first potentials of a greedy tree say little about which columns will be cheap.
    """
    pivots = _pivot_while_possible(work, tolerance, 0, pricing.FEW_PIVOTS * work.n)
    tree.list_nodes(work, work.root)
    _compute_potentials(work)
    pricing.start_lists(work, work.lists)
    work.listed = True
    return pivots


def _pivot_large_excess_first(work: Simplex, largest: float, most: int, pivots: int) -> int:
    """Pivot while a listed pair has a large excess; a fifth fewer pivots are then needed in all."""
    threshold = largest / 4
    while threshold > LARGE_EXCESS * largest:
        pivots = _pivot_while_possible(work, threshold, pivots, most)
        threshold /= 2
    return pivots


def _pivot_while_possible(work: Simplex, tolerance: float, pivots: int, most: int) -> int:
    """Pivot until no pair, or no listed pair, can enter; return the pivots, or `most`."""
    n, row, proven = work.n, 0, 0
    while proven < n and pivots < most:
        if work.listed:
            place = pricing.cheapest_listed(work, work.lists, row)
            column, excess = work.lists.columns[place], _excess(work, row, place)
        else:
            least, column = pricing.least_difference(work, row), -1
            excess = work.potential[row] - least
        if excess <= tolerance:
            proven += 1
        else:
            if column < 0:
                column = pricing.find_column(work, row, least)
            _pivot(work, row, n + column, excess)
            pivots, proven = pivots + 1, 0
        row = row + 1 if row + 1 < n else 0
    return pivots


def _pivot_once_per_row(work: Simplex, tolerance: float, pivots: int) -> int:
    """Let the best pair of each row enter if it can; read the rows that their bounds admit."""
    pricing.renew_reference(work, work.lists)
    for row in range(work.n):
        place = pricing.cheapest_listed(work, work.lists, row)
        excess, bound = _excess(work, row, place), pricing.bound(work.lists, row)
        if excess <= tolerance and bound < work.potential[row]:
            pricing.write_list(work, work.lists, row)
            place = row * pricing.LISTED
            excess = _excess(work, row, place)
        if excess > tolerance:
            _pivot(work, row, work.n + work.lists.columns[place], excess)
            pivots += 1
            pricing.measure_changes(work, work.lists)
    return pivots


def _excess(work: Simplex, row: int, place: int) -> float:
    """Return f_i + g_j - C_ij of the column at a place of the lists."""
    column = work.n + work.lists.columns[place]
    excess: float = work.potential[row] + work.potential[column] - work.lists.costs[place]
    return excess


def _pivot(work: Simplex, source: int, sink: int, excess: float) -> None:
    """Let the arc from source to sink enter the tree, and the first arc without flow leave."""
    n = work.n
    leaving, least = -1, INFINITY  # among the ancestors of the source, the nearest of equals
    opposite, other = -1, INFINITY  # among those of the sink, the farthest
    x, y = source, sink
    while x != y:
        size_x, size_y = work.size[x], work.size[y]
        if size_x <= size_y:
            if x < n and work.flow[x] < least:
                leaving, least = x, work.flow[x]
            x = work.parent[x]
        if size_y <= size_x:
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
        _replace_arc(work, sink, source, opposite, apex, moved, excess)
    else:
        _replace_arc(work, source, sink, leaving, apex, moved, excess)


def _replace_arc(
    work: Simplex, top: int, parent: int, last: int, apex: int, moved: float, excess: float
) -> None:
    """Cut off the subtree of `last`, attach it by `top` to `parent`, and update potentials."""
    whole, node, below = work.size[last], top, 0
    while node != apex:  # nodes up to `last` lose what was above them, those above lose the subtree
        own = work.size[node]
        work.size[node] = whole - below if below < whole else own - whole
        below, node = own if below < whole else below, work.parent[node]
    node = parent
    while node != apex:
        work.size[node] += whole
        node = work.parent[node]
    row, column = (top, parent) if top < work.n else (parent, top)
    price = work.costs[work.offset + row * work.m + column - work.n]
    tree.reverse_branch(work, top, parent, last, price, moved)
    change = -excess if top < work.n else excess
    if 2 * whole <= work.n + work.m:
        _shift(work, top, -1, change)
    else:  # potentials are relative to each other, so the rest may be shifted instead
        _shift(work, work.root, top, -change)


def _shift(work: Simplex, top: int, skipped: int, change: float) -> None:
    """Add a change to the potentials of rows below `top` and subtract it from those of columns."""
    n, node = work.n, top
    while True:
        if node != skipped:
            work.potential[node] += change if node < n else -change
            if work.child[node] >= 0:
                node = work.child[node]
                continue
        while node != top and work.next[node] < 0:
            node = work.parent[node]
        if node == top:
            return
        node = work.next[node]


def _compute_potentials(work: Simplex) -> float:
    """Compute the potentials of the nodes in `order`; return the largest change of their sums.

    Potentials may have been shifted: those of rows up, and those of columns down as much.
    """
    shift, change = work.potential[work.root], 0.0
    shift = shift if work.root < work.n else -shift
    work.potential[work.root] = 0.0
    for place in range(1, work.n + work.m):
        node = work.order[place]
        before = work.potential[node] - (shift if node < work.n else -shift)
        work.potential[node] = work.price[node] - work.potential[work.parent[node]]
        change = max(change, abs(work.potential[node] - before))
    return 2 * change


def compute_flow(work: Simplex) -> None:
    """Build the lists of children from the parents, and compute sizes and flow from the leaves."""
    n, nodes = work.n, work.n + work.m
    for node in range(nodes):
        work.child[node], work.size[node] = -1, 1
        work.flow[node] = work.a[node] if node < n else -work.b[node - n]
    for node in range(nodes):
        parent = work.parent[node]
        if parent < 0:
            work.root = node
        else:
            tree.attach(work, node, parent)
    tree.list_nodes(work, work.root)
    for place in range(nodes - 1, 0, -1):
        node = work.order[place]
        flow = work.flow[node]
        work.size[work.parent[node]] += work.size[node]
        work.flow[work.parent[node]] += flow
        work.flow[node] = max(flow if node < n else -flow, 0.0)


def start_greedily(work: Simplex) -> None:
    """Write a feasible tree: repeatedly send as much as possible along the cheapest open pair."""
    n, m, rows, columns = work.n, work.m, work.n, work.m
    for i in range(n):
        work.flow[i] = work.a[i]
        _find_open_column(work, i, True)
        work.size[i] = 1  # 1 while a row or a column is open, 0 afterwards
    for j in range(m):
        work.flow[n + j] = work.b[j]
        work.size[n + j] = 1
    j = 0
    for _ in range(n + m - 1):
        i, least = -1, INFINITY
        for row in range(n):
            if work.size[row] and (i < 0 or work.potential[row] < least):
                i, least = row, work.potential[row]
        j = work.order[i]
        # If supply and demand are equal the row stays open: arcs without flow lead to the root.
        if columns == 1 or (rows > 1 and work.flow[i] < work.flow[n + j]):
            work.flow[n + j] -= work.flow[i]
            work.size[i], work.parent[i], rows = 0, n + j, rows - 1
        else:
            work.flow[i] -= work.flow[n + j]
            work.size[n + j], work.parent[n + j], columns = 0, i, columns - 1
            for row in range(n):
                if work.size[row] and work.order[row] == j:
                    _find_open_column(work, row, False)
    work.parent[n + j] = -1


def _find_open_column(work: Simplex, row: int, every: bool) -> None:
    """Write the cheapest column of a row and its cost, of those still open unless `every` counts.

    They are kept in `order` and `potential`, which nothing else needs before there is a tree.
    """
    found, least, at = -1, INFINITY, work.offset + row * work.m
    for j in range(work.m):
        cost = work.costs[at + j]
        if (every or work.size[work.n + j]) and (found < 0 or cost < least):
            found, least = j, cost
    work.order[row], work.potential[row] = found, least
