"""The search for the pair of a row with the least C_ij - g_j, among all columns or among a few.

Most steps of a solver on trees move no mass, and reading a row of a large matrix takes longer than
the step itself. So each row of a large problem keeps a list of the columns that were the cheapest
when it was last read. Solvers pivot on these lists until none has a pair to enter, and then read
the matrix to write them anew. A list affects the time only: the last search reads all columns.

Costs are read row after row, a row from the place `at` on; `potential[first + j]` is g_j.
"""

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.arrays import Floats

Indices = NDArray[np.intp]

INFINITY = float("inf")
LISTED = 16  # columns of a list
FEW_PIVOTS = 3  # per row, before lists are written
MIN_COLUMNS = 768  # from which on rows have lists


def least_difference(costs: Floats, at: int, potential: Floats, first: int, m: int) -> float:
    """Return the least C_ij - g_j of the row at `at`."""
    p = q = r = s = INFINITY  # four minima at a time do not wait for each other
    end = m // 4 * 4
    for j in range(0, end, 4):
        p = min(p, costs[at + j] - potential[first + j])
        q = min(q, costs[at + j + 1] - potential[first + j + 1])
        r = min(r, costs[at + j + 2] - potential[first + j + 2])
        s = min(s, costs[at + j + 3] - potential[first + j + 3])
    for j in range(end, m):
        p = min(p, costs[at + j] - potential[first + j])
    p, r = min(p, q), min(r, s)
    return min(p, r)


def cheapest_column(costs: Floats, at: int, potential: Floats, first: int, m: int) -> int:
    """Return the column of the row at `at` with the least C_ij - g_j."""
    least, column = least_difference(costs, at, potential, first, m), 0
    while column + 1 < m and costs[at + column] - potential[first + column] > least:
        column += 1
    return column


def cheapest_listed(
    costs: Floats, at: int, potential: Floats, first: int, lists: Indices, start: int
) -> int:
    """Return the column of the list that begins at `start` with the least C_ij - g_j."""
    best, least = start, INFINITY
    for k in range(start, start + LISTED):
        difference = costs[at + lists[k]] - potential[first + lists[k]]
        if difference < least:
            best, least = k, difference
    column: int = lists[best]
    return column


def write_list(
    costs: Floats, at: int, potential: Floats, first: int, m: int, lists: Indices, start: int
) -> None:
    """Write the LISTED columns of least C_ij - g_j of the row at `at`; m is at least LISTED."""
    count, bound = 0, INFINITY
    for j in range(m):
        difference = costs[at + j] - potential[first + j]
        if count < LISTED or difference < bound:
            k = start + min(count, LISTED - 1)
            while k > start and (
                costs[at + lists[k - 1]] - potential[first + lists[k - 1]] > difference
            ):
                lists[k] = lists[k - 1]
                k -= 1
            lists[k] = j
            count += 1
            worst = lists[start + LISTED - 1] if count >= LISTED else j
            bound = costs[at + worst] - potential[first + worst]
