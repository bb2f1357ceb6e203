"""Trees of the rows and columns of a transport problem, with the mass between nodes and parents.

Node i < n is row i, node n + j is column j; the root of a tree has the parent -1.
"""

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.arrays import Floats

Indices = NDArray[np.intp]


class Tree:
    """Costs, the parents of nodes, their children as linked lists, and what belongs to pairs."""

    def __init__(self, nodes: int) -> None:
        self.n, self.m, self.offset = 0, 0, 0  # rows and columns, and where their costs begin
        self.costs: Floats = np.empty(0)  # row after row, from `offset` on
        self.parent, self.child = np.empty(nodes, np.intp), np.empty(nodes, np.intp)
        self.next, self.previous = np.empty(nodes, np.intp), np.empty(nodes, np.intp)
        self.order = np.empty(nodes, np.intp)  # the nodes of a tree, parents first
        self.flow = np.empty(nodes)  # between each node and its parent
        self.price = np.empty(nodes)  # the cost of their pair
        self.potential = np.empty(nodes)


def pair(tree: Tree, node: int) -> int:
    """Return the place of a node and its parent in a matrix, row after row."""
    parent = tree.parent[node]
    row, column = (node, parent) if node < tree.n else (parent, node)
    place: int = row * tree.m + column - tree.n
    return place


def attach(tree: Tree, node: int, parent: int) -> None:
    """Make a node the first child of a parent."""
    first = tree.child[parent]
    tree.parent[node] = parent
    tree.next[node] = first
    tree.previous[node] = -1
    if first >= 0:
        tree.previous[first] = node
    tree.child[parent] = node


def detach(tree: Tree, node: int) -> None:
    """Remove a node from the children of its parent."""
    previous, following = tree.previous[node], tree.next[node]
    if previous < 0:
        tree.child[tree.parent[node]] = following
    else:
        tree.next[previous] = following
    if following >= 0:
        tree.previous[following] = previous


def reverse_branch(
    tree: Tree, top: int, parent: int, last: int, price: float, moved: float
) -> None:
    """Cut off the subtree of `last`; its node `top` becomes a child of `parent`, or a root."""
    node, flow = top, moved
    while True:
        former, former_flow, former_price = tree.parent[node], tree.flow[node], tree.price[node]
        if former >= 0:
            detach(tree, node)
        tree.parent[node], tree.flow[node], tree.price[node] = parent, flow, price
        if parent >= 0:
            attach(tree, node, parent)
        if node == last:
            return
        node, parent, flow, price = former, node, former_flow, former_price


def list_nodes(tree: Tree, root: int) -> int:
    """Write the nodes of a tree to `order`, parents first; return their number."""
    count, place = 1, 0
    tree.order[0] = root
    while place < count:
        node = tree.child[tree.order[place]]
        while node >= 0:
            tree.order[count] = node
            count += 1
            node = tree.next[node]
        place += 1
    return count
