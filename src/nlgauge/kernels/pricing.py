"""The search for the pair of a row with the least C_ij - g_j, among all columns or among a few.

Most steps of a solver on trees move no mass, and reading a row of a large matrix takes longer than
the step itself. So each row of a large problem has a list of the columns that were the cheapest
when it was last read. Solvers pivot on these lists until none has a pair to enter. Then they prove
that no other pair can enter. For columns that are not listed,

    C_ij - g_j  >=  bound_i - max_j (g_j - reference_j),

where the reference are former potentials. Rows for which this is less than f_i are read, and their
lists and bounds are written anew. Lists and bounds affect the time only.

Functions take objects, not their arrays: a call copies 200 bytes for every array that it is given,
which takes longer than reading a short row.
"""

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.kernels import tree
from nlgauge.kernels.tree import Indices

INFINITY = float("inf")
LISTED = 16  # columns of a list
BLOCK = 32  # columns that are compared with a bound together
FEW_PIVOTS = 3  # per row, before lists are written
MIN_COLUMNS = 768  # from which on rows have lists


class Lists:
    """The cheapest columns of each row, and bounds of the others; empty for few columns."""

    def __init__(self, n: int, m: int) -> None:
        rows = n if m >= MIN_COLUMNS else 0
        self.columns: Indices = np.empty(rows * LISTED, np.intp)
        self.costs: Floats = np.empty(rows * LISTED)  # of the listed columns
        self.bounds: Floats = np.empty(n)  # must be set to -INFINITY when the costs of a row change
        self.reference: Floats = np.zeros(m)
        self.least_change, self.largest_change = 0.0, 0.0  # of potentials since the reference


def least_difference(work: tree.Tree, row: int) -> float:
    """Return the least C_ij - g_j of a row."""
    return _least_between(work, row, 0, work.m)


def _least_between(work: tree.Tree, row: int, start: int, stop: int) -> float:
    """Return the least C_ij - g_j of consecutive columns of a row."""
    p = q = r = s = INFINITY  # four minima at a time do not wait for each other
    first, at, end = work.n, work.offset + row * work.m, start + (stop - start) // 4 * 4
    for j in range(start, end, 4):
        p = min(p, work.costs[at + j] - work.potential[first + j])
        q = min(q, work.costs[at + j + 1] - work.potential[first + j + 1])
        r = min(r, work.costs[at + j + 2] - work.potential[first + j + 2])
        s = min(s, work.costs[at + j + 3] - work.potential[first + j + 3])
    for j in range(end, stop):
        p = min(p, work.costs[at + j] - work.potential[first + j])
    p, r = min(p, q), min(r, s)
    return min(p, r)


def find_column(work: tree.Tree, row: int, least: float) -> int:
    """Return the first column of a row whose C_ij - g_j is the least."""
    m, first, column = work.m, work.n, 0
    at = work.offset + row * m
    while column + 1 < m and work.costs[at + column] - work.potential[first + column] > least:
        column += 1
    return column


def cheapest_listed(work: tree.Tree, lists: Lists, row: int) -> int:
    """Return the place in the lists of the column of a row with the least C_ij - g_j."""
    first, start = work.n, row * LISTED
    best, least = start, INFINITY
    for k in range(start, start + LISTED):
        difference = lists.costs[k] - work.potential[first + lists.columns[k]]
        if difference < least:
            best, least = k, difference
    return best


def start_lists(work: tree.Tree, lists: Lists) -> None:
    """Write the list of every row, whatever the lists held before."""
    renew_reference(work, lists)
    for row in range(work.n):
        for column in range(LISTED):
            lists.columns[row * LISTED + column] = column
        write_list(work, lists, row)


def write_list(work: tree.Tree, lists: Lists, row: int) -> None:
    """Write the LISTED columns of least C_ij - g_j of a row, cheapest first, and its bound."""
    at, start = work.offset + row * work.m, row * LISTED
    for place in range(start, start + LISTED):  # the former columns are a good start
        j = lists.columns[place]
        bound = _insert(work, lists, start, place, j, work.costs[at + j])
    for block in range((work.m - 1) // BLOCK + 1):
        first, end = block * BLOCK, min((block + 1) * BLOCK, work.m)
        if _least_between(work, row, first, end) < bound:
            for j in range(first, end):
                if work.costs[at + j] - work.potential[work.n + j] < bound and not _is_listed(
                    lists, start, j
                ):
                    bound = _insert(work, lists, start, start + LISTED - 1, j, work.costs[at + j])
    lists.bounds[row] = bound + lists.least_change


def _is_listed(lists: Lists, start: int, column: int) -> bool:
    """Return whether a column is in the list that starts at a place."""
    place = start
    while place < start + LISTED and lists.columns[place] != column:
        place += 1
    return place < start + LISTED


def _insert(
    work: tree.Tree, lists: Lists, start: int, last: int, column: int, cost: float
) -> float:
    """Insert a column into a sorted list in the place of the last one; return C - g of the last."""
    first, k = work.n, last
    difference = cost - work.potential[first + column]
    while k > start and (
        lists.costs[k - 1] - work.potential[first + lists.columns[k - 1]] > difference
    ):
        lists.columns[k], lists.costs[k] = lists.columns[k - 1], lists.costs[k - 1]
        k -= 1
    lists.columns[k], lists.costs[k] = column, cost
    bound: float = lists.costs[last] - work.potential[first + lists.columns[last]]
    return bound


def bound(lists: Lists, row: int) -> float:
    """Return a lower bound of C_ij - g_j of a row over the columns that are not listed."""
    least: float = lists.bounds[row] - lists.largest_change
    return least


def read_costs(work: tree.Tree, lists: Lists) -> None:
    """Read the costs of the listed columns of rows without a bound."""
    for row in range(work.n):
        if lists.bounds[row] == -INFINITY:
            at = work.offset + row * work.m
            for k in range(row * LISTED, (row + 1) * LISTED):
                lists.costs[k] = work.costs[at + lists.columns[k]]


def measure_changes(work: tree.Tree, lists: Lists) -> None:
    """Find the least and the largest change of the potentials of columns since the reference."""
    least, largest = INFINITY, -INFINITY
    for j in range(work.m):
        change = work.potential[work.n + j] - lists.reference[j]
        least, largest = min(least, change), max(largest, change)
    lists.least_change, lists.largest_change = least, largest


def renew_reference(work: tree.Tree, lists: Lists) -> None:
    """Make the present potentials the reference of all bounds."""
    measure_changes(work, lists)
    for row in range(work.n):
        lists.bounds[row] -= lists.largest_change
    for j in range(work.m):
        lists.reference[j] = work.potential[work.n + j]
    lists.least_change = lists.largest_change = 0.0
