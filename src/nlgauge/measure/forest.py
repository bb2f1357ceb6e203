"""The optimum of unbalanced transport on a given support, in closed form and in machine code.

Where tokens are matched, f + g = C. If the matched pairs form a forest, one potential of each tree
fixes its others, and a shift (f + t, g - t) is free; as much mass must leave the rows of a tree as
reaches its columns,

    sum_i a_i exp(-(f_i + t) / pa) = sum_j b_j exp(-(g_j - t) / pb),

which gives t. Then the potentials say what every token gives or takes, and the leaves of the tree,
pruned one by one, how much goes along each pair. If no flow is negative and f + g <= C everywhere,
this is the optimum up to rounding, and an iteration that guessed its support need not go on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.machine_code import compiled
from nlgauge.core.plan import Floats
from nlgauge.measure.mehrotra import Problem, Step, fill

Links = NDArray[np.int64]

UNSEEN = -1


@compiled()
def settle(problem: Problem, step: Step, known: Floats, f: Floats, g: Floats, plan: Floats) -> bool:
    """Write the optimum on the support that a step points to; False if there is none.

    There is none if the support has a cycle or leaves a token out, or if a flow is negative. The
    potentials of the rows that are `known` need not be exact, only of the right size.
    """
    n, m = problem.cost.shape
    nodes = n + m  # the rows, then the columns
    first, near = np.zeros(nodes + 1, np.int64), np.empty(2 * nodes, np.int64)
    if not _link(step, first, near):
        return False
    order, parent = np.empty(nodes, np.int64), np.full(nodes, UNSEEN)
    mass, reached = np.empty(nodes), 0
    for root in range(n):
        if parent[root] == UNSEEN:
            parent[root], order[reached], f[root] = root, root, known[root]
            start = reached
            reached = _climb(problem.cost, order, start + 1, first, near, parent, f, g)
            if reached == UNSEEN or not _balance(problem, order[start:reached], f, g, mass):
                return False
    return reached == nodes and _flow(order, parent, mass, plan)


@compiled()
def _link(step: Step, first: Links, near: Links) -> bool:
    """Write the neighbours of every node, one list after the other; False if there are too many.

    Where tokens are matched the slack falls towards 0 and the plan settles, elsewhere the reverse:
    their relative changes tell the two apart long before their sizes do.
    """
    n, m = step.rise.shape
    rows, columns = np.empty(n + m, np.int64), np.empty(n + m, np.int64)
    count = 0
    for i in range(n):
        for j in range(m):
            if step.rise[i, j] < step.change[i, j]:
                rows[count], columns[count] = i, n + j
                count += 1
                if count == n + m:
                    return False
    for k in range(count):
        first[rows[k]] += 1
        first[columns[k]] += 1
    for node in range(n + m):
        first[node + 1] += first[node]
    for k in range(count):  # the lists are filled from their ends
        for node, other in ((rows[k], columns[k]), (columns[k], rows[k])):
            first[node] -= 1
            near[first[node]] = other
    return True


@compiled()
def _climb(
    cost: Floats,
    order: Links,
    reached: int,
    first: Links,
    near: Links,
    parent: Links,
    f: Floats,
    g: Floats,
) -> int:
    """Reach all nodes of the tree whose root is the last in `order`; UNSEEN if it has a cycle."""
    n, at = len(f), reached - 1
    while at < reached:
        node = order[at]
        for k in range(first[node], first[node + 1]):
            other = near[k]
            if other != parent[node]:
                if parent[other] != UNSEEN:
                    return UNSEEN
                if node < n:
                    g[other - n] = cost[node, other - n] - f[node]
                else:
                    f[other] = cost[other, node - n] - g[node - n]
                parent[other], order[reached] = node, other
                reached += 1
        at += 1
    return reached


@compiled()
def _balance(problem: Problem, tree: Links, f: Floats, g: Floats, mass: Floats) -> bool:
    """Shift the potentials of a tree until both sides agree on its mass, and write each node's."""
    n, leaves, arrives = len(f), 0.0, 0.0
    for node in tree:
        if node < n:
            mass[node] = problem.a[node] * np.exp(-f[node] * problem.rate_a)
            leaves += mass[node]
        else:
            mass[node] = problem.b[node - n] * np.exp(-g[node - n] * problem.rate_b)
            arrives += mass[node]
    shift = np.log(leaves / arrives) / (problem.rate_a + problem.rate_b)
    if not -np.inf < shift < np.inf:  # a token alone
        return False
    for node in tree:
        if node < n:
            f[node] += shift
            mass[node] *= np.exp(-shift * problem.rate_a)
        else:
            g[node - n] -= shift
            mass[node] *= np.exp(shift * problem.rate_b)
    return True


@compiled()
def _flow(order: Links, parent: Links, mass: Floats, plan: Floats) -> bool:
    """Write what goes along each pair, from the leaves to the roots; False if any is negative."""
    n = len(plan)
    fill(plan, 0.0)
    for at in range(len(order) - 1, -1, -1):
        node = order[at]
        above = parent[node]
        if above == node:
            continue
        if not mass[node] > 0:
            return False
        mass[above] -= mass[node]
        if node < n:
            plan[node, above - n] = mass[node]
        else:
            plan[above, node - n] = mass[node]
    return True
