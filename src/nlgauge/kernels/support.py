"""The optimum of unbalanced transport on a given support, in closed form.

Where mass is moved, f + g = C. If the pairs of the support form a forest, one potential of each
tree determines its others, up to a shift (f + t, g - t). The mass that leaves the rows of a tree
equals the mass that reaches its columns,

    sum_i a_i exp(-(f_i + t) / pa) = sum_j b_j exp(-(g_j - t) / pb),

which gives t. The potentials then determine the marginals, and the marginals the mass of each pair,
from the leaves of the tree to its root. If no mass is negative and f + g <= C everywhere, this is
the optimum up to rounding, so an iteration that has identified its support can stop.
"""

import numpy as np

from nlgauge.kernels.duality import Workspace

INFINITY = float("inf")


class Forest:
    """The graph of a support; its nodes are the rows of the plan, then its columns."""

    def __init__(self, nodes: int) -> None:
        self.pair_rows, self.pair_columns = np.empty(nodes, np.intp), np.empty(nodes, np.intp)
        self.first = np.empty(nodes + 1, np.intp)  # where the neighbours of each node begin
        self.neighbours = np.empty(2 * nodes, np.intp)
        self.parent, self.order = np.empty(nodes, np.intp), np.empty(nodes, np.intp)
        self.mass = np.empty(nodes)


def solve_on_support(forest: Forest, work: Workspace) -> bool:
    """Write the optimum on the support that a Newton step indicates; return False without one.

    On the support the slack falls towards 0 and the plan converges, elsewhere the reverse. There is
    no optimum if the support has a cycle or misses a token, or if a mass is negative.
    """
    n, m = work.n, work.m
    if not _find_neighbours(forest, work):
        return False
    forest.parent[: n + m] = -1
    reached = 0
    for root in range(n):
        if forest.parent[root] == -1:
            forest.parent[root] = root
            forest.order[reached] = root
            work.next_f[root] = work.f[root]
            first = reached
            reached = _propagate_potentials(forest, work, reached + 1)
            if reached == -1 or not _shift_tree(forest, work, first, reached):
                return False
    return reached == n + m and _route_mass(forest, work)


def _find_neighbours(forest: Forest, work: Workspace) -> bool:
    """Write the adjacency lists; return False if there are too many pairs for a forest."""
    n, m, count = work.n, work.m, 0
    for i in range(n):
        at = i * m
        for j in range(m):
            if work.slack_change[at + j] < work.plan_change[at + j]:
                forest.pair_rows[count] = i
                forest.pair_columns[count] = n + j
                count += 1
                if count == n + m:
                    return False
    forest.first[: n + m + 1] = 0
    for k in range(count):
        forest.first[forest.pair_rows[k]] += 1
        forest.first[forest.pair_columns[k]] += 1
    for node in range(n + m):
        forest.first[node + 1] += forest.first[node]
    for k in range(count):  # each list is filled from its end
        row, column = forest.pair_rows[k], forest.pair_columns[k]
        forest.first[row] -= 1
        forest.neighbours[forest.first[row]] = column
        forest.first[column] -= 1
        forest.neighbours[forest.first[column]] = row
    return True


def _propagate_potentials(forest: Forest, work: Workspace, reached: int) -> int:
    """Visit the tree of the last node in `order`; return the nodes visited, -1 for a cycle."""
    n, m, place = work.n, work.m, reached - 1
    while place < reached:
        node = forest.order[place]
        for k in range(forest.first[node], forest.first[node + 1]):
            other = forest.neighbours[k]
            if other != forest.parent[node]:
                if forest.parent[other] != -1:
                    return -1
                if node < n:
                    work.next_g[other - n] = work.cost[node * m + other - n] - work.next_f[node]
                else:
                    work.next_f[other] = work.cost[other * m + node - n] - work.next_g[node - n]
                forest.parent[other] = node
                forest.order[reached] = other
                reached += 1
        place += 1
    return reached


def _shift_tree(forest: Forest, work: Workspace, first: int, end: int) -> bool:
    """Shift the potentials of a tree until both marginals have the same mass."""
    n, sent, received = work.n, 0.0, 0.0
    for place in range(first, end):
        node = forest.order[place]
        if node < n:
            forest.mass[node] = work.a[node] * np.exp(-work.next_f[node] * work.rate_a)
            sent += forest.mass[node]
        else:
            forest.mass[node] = work.b[node - n] * np.exp(-work.next_g[node - n] * work.rate_b)
            received += forest.mass[node]
    if not (sent > 0 and received > 0):  # a token without a pair
        return False
    shift = np.log(sent / received) / (work.rate_a + work.rate_b)
    if not -INFINITY < shift < INFINITY:
        return False
    for place in range(first, end):
        node = forest.order[place]
        if node < n:
            work.next_f[node] += shift
            forest.mass[node] *= np.exp(-shift * work.rate_a)
        else:
            work.next_g[node - n] -= shift
            forest.mass[node] *= np.exp(shift * work.rate_b)
    return True


def _route_mass(forest: Forest, work: Workspace) -> bool:
    """Write the mass of each pair, from the leaves to the roots; return False if any is <= 0."""
    n, m = work.n, work.m
    work.coupling[: n * m] = 0.0
    for place in range(n + m - 1, -1, -1):
        node = forest.order[place]
        parent = forest.parent[node]
        if parent == node:
            continue
        mass = forest.mass[node]
        if not mass > 0:
            return False
        forest.mass[parent] -= mass
        if node < n:
            work.coupling[node * m + parent - n] = mass
        else:
            work.coupling[parent * m + node - n] = mass
    return True
