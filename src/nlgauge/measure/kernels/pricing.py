"""The search for the pair of a row with the least C_ij - g_j, among all columns or among a few.

Most steps of a solver on trees move no mass, and reading a row of a large matrix takes longer than
the step itself. So each row of a large problem keeps a list of the columns that were the cheapest
when it was last read. Solvers pivot on these lists until none has a pair to enter, and then read
the matrix to write them anew. A list affects the time only: the last search reads all columns.

Functions take the tree, not its arrays: a call copies 200 bytes for every array that it is given,
which takes longer than reading a short row.
"""

from nlgauge.measure.kernels import tree
from nlgauge.measure.kernels.tree import Indices

INFINITY = float("inf")
LISTED = 16  # columns of a list
FEW_PIVOTS = 3  # per row, before lists are written
MIN_COLUMNS = 768  # from which on rows have lists


def least_difference(work: tree.Tree, row: int) -> float:
    """Return the least C_ij - g_j of a row."""
    p = q = r = s = INFINITY  # four minima at a time do not wait for each other
    m, first = work.m, work.n
    at, end = work.offset + row * m, m // 4 * 4
    for j in range(0, end, 4):
        p = min(p, work.costs[at + j] - work.potential[first + j])
        q = min(q, work.costs[at + j + 1] - work.potential[first + j + 1])
        r = min(r, work.costs[at + j + 2] - work.potential[first + j + 2])
        s = min(s, work.costs[at + j + 3] - work.potential[first + j + 3])
    for j in range(end, m):
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


def cheapest_listed(work: tree.Tree, row: int, lists: Indices) -> int:
    """Return the column of the list of a row with the least C_ij - g_j."""
    first, at, start = work.n, work.offset + row * work.m, row * LISTED
    best, least = start, INFINITY
    for k in range(start, start + LISTED):
        difference = work.costs[at + lists[k]] - work.potential[first + lists[k]]
        if difference < least:
            best, least = k, difference
    column: int = lists[best]
    return column


def write_list(work: tree.Tree, row: int, lists: Indices) -> None:
    """Write the LISTED columns of least C_ij - g_j of a row of at least as many columns."""
    first, at, start = work.n, work.offset + row * work.m, row * LISTED
    count, bound = 0, INFINITY
    for j in range(work.m):
        difference = work.costs[at + j] - work.potential[first + j]
        if count < LISTED or difference < bound:
            k = start + min(count, LISTED - 1)
            while k > start and (
                work.costs[at + lists[k - 1]] - work.potential[first + lists[k - 1]] > difference
            ):
                lists[k] = lists[k - 1]
                k -= 1
            lists[k] = j
            count += 1
            worst = lists[start + LISTED - 1] if count >= LISTED else j
            bound = work.costs[at + worst] - work.potential[first + worst]
