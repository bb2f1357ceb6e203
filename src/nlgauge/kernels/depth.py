"""Ranks of points along directions, and support functions of their depth-trimmed regions.

A text of 26 tokens is projected on 2000 directions. Counting for every token how many values are
below it is faster than sorting, because many directions are counted at once.
"""

import numpy as np

from nlgauge.core.arrays import Floats

try:
    import cython
except ModuleNotFoundError:
    from nlgauge.kernels import without_cython as cython

INFINITY = float("inf")
BLOCK = 128  # directions at a time: the projections of 30 tokens stay in the L1 cache


class Counts:
    """Counts and buffers for a block of directions."""

    def __init__(self, n: int) -> None:
        self.block, self.mirrored = np.empty((n, BLOCK)), np.empty((n, BLOCK))
        self.thresholds = np.empty(BLOCK)
        # Counts are floats: the comparisons of float64 are of the same width, which vectorises.
        self.below, self.above = np.empty(BLOCK), np.empty(BLOCK)
        self.ranks, self.sums = np.zeros(n), np.zeros(n)


def mean_ranks(projected: Floats, count: int, tie: float, depths: Floats) -> None:
    """Write the mean over `count` columns of min(F(x + tie), 1 - F(x - tie)) of every row."""
    n = len(projected)
    work = Counts(n)
    with cython.nogil:
        for index in range((count + BLOCK - 1) // BLOCK):
            start = index * BLOCK
            _rank_block(work, projected, start, min(BLOCK, count - start), n, tie)
            for i in range(n):
                work.sums[i] += work.ranks[i]
        for i in range(n):
            depths[i] = work.sums[i] / (n * count)


def _rank_block(
    work: Counts, projected: Floats, start: int, width: int, n: int, tie: float
) -> None:
    """Write the sums of the ranks of every row over a block of columns."""
    for i in range(n):
        for k in range(width):
            work.block[i, k] = projected[i, start + k]
    distinct = 0.0
    for i in range(n):
        _count_below(work.block, i, tie, width, n, work.thresholds, work.below)
        total = 0.0
        for k in range(width):
            distinct += work.below[k]
            total += min(work.below[k] + 1.0, n - work.below[k])
        work.ranks[i] = total
    # Of two values that are not tied exactly one is below the other.
    if distinct != width * (n * (n - 1.0) / 2.0):
        for i in range(n):
            for k in range(width):
                work.mirrored[i, k] = -work.block[i, k]
        for i in range(n):
            _count_below(work.block, i, tie, width, n, work.thresholds, work.below)
            _count_below(work.mirrored, i, tie, width, n, work.thresholds, work.above)
            total = 0.0
            for k in range(width):
                total += n - max(work.below[k], work.above[k])
            work.ranks[i] = total


def _count_below(
    block: Floats, i: int, tie: float, width: int, n: int, thresholds: Floats, below: Floats
) -> None:
    """Write how many values of each column are below that of row i."""
    for k in range(width):
        thresholds[k] = block[i, k] - tie
        below[k] = 0.0
    end = n // 4 * 4
    for j in range(0, end, 4):  # counts are loaded and stored once for four rows
        for k in range(width):
            limit = thresholds[k]
            p = 1.0 if block[j, k] < limit else 0.0
            q = 1.0 if block[j + 1, k] < limit else 0.0
            r = 1.0 if block[j + 2, k] < limit else 0.0
            s = 1.0 if block[j + 3, k] < limit else 0.0
            below[k] += (p + q) + (r + s)
    for j in range(end, n):
        for k in range(width):
            below[k] += 1.0 if block[j, k] < thresholds[k] else 0.0


def fill_supports(projected: Floats, depths: Floats, cuts: Floats, supports: Floats) -> None:
    """Write the supports [2, levels, directions] along u and -u of depths >= ascending cuts."""
    levels, count = supports.shape[1], supports.shape[2]
    with cython.nogil:
        supports[:, :, :] = -INFINITY
        for i in range(len(depths)):
            level = levels - 1
            while level >= 0 and depths[i] < cuts[level]:
                level -= 1
            if level >= 0:
                for k in range(count):
                    value = projected[i, k]
                    supports[0, level, k] = max(supports[0, level, k], value)
                    supports[1, level, k] = max(supports[1, level, k], -value)
        for level in range(levels - 2, -1, -1):
            for side in range(2):
                for k in range(count):
                    supports[side, level, k] = max(
                        supports[side, level, k], supports[side, level + 1, k]
                    )
