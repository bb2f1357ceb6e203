"""Ranks of points along directions, and supports of trimmed regions, in machine code.

A text has some 26 tokens and is seen from 2000 directions. Counting for every token how many lie
below it takes fewer steps than sorting, because many directions are counted at once; the count
grows with the square of the tokens, so that longer texts are sorted (see depth.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.machine_code import compiled
from nlgauge.core.plan import Floats

Counts = NDArray[np.int64]

BLOCK = 128  # directions at a time: the projections of 30 tokens stay in the nearest cache


@compiled(kept=True)
def mean_ranks(projected: Floats, count: int, tie: float) -> Floats:
    """Return the mean over the first `count` columns of min(F(x), 1 - F(x-)) of every row.

    F(x) counts values up to x + tie, its left limit those below x - tie. Sorting finds runs of
    neighbours within `tie` instead, which is another rank only where a run is longer than that.
    """
    n = len(projected)
    block, edges = np.empty((n, BLOCK)), np.empty(BLOCK)
    below, above = np.empty(BLOCK, dtype=np.int64), np.empty(BLOCK, dtype=np.int64)
    sums, ranks = np.zeros(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for start in range(0, count, BLOCK):
        width = min(BLOCK, count - start)
        block[:, :width] = projected[:, start : start + width]
        settled = 0
        for i in range(n):
            _count_below(block, i, tie, width, edges, below)
            total = 0
            for k in range(width):
                settled += below[k]
                total += min(below[k] + 1, n - below[k])
            ranks[i] = total
        # Of two values that are no tie exactly one is below the other.
        if settled != width * (n * (n - 1) // 2):
            mirrored = -block
            for i in range(n):
                _count_below(block, i, tie, width, edges, below)
                _count_below(mirrored, i, tie, width, edges, above)
                total = 0
                for k in range(width):
                    total += n - max(below[k], above[k])
                ranks[i] = total
        sums += ranks
    return sums / (n * count)


@compiled()
def _count_below(
    block: Floats, i: int, tie: float, width: int, edges: Floats, below: Counts
) -> None:
    """Fill in how many values of each column are below that of row i."""
    for k in range(width):
        edges[k], below[k] = block[i, k] - tie, 0
    fours = len(block) // 4 * 4
    for j in range(0, fours, 4):  # counts are fetched and stored once for four rows
        for k in range(width):
            here = edges[k]
            below[k] += (
                np.int64(block[j, k] < here)
                + np.int64(block[j + 1, k] < here)
                + np.int64(block[j + 2, k] < here)
                + np.int64(block[j + 3, k] < here)
            )
    for j in range(fours, len(block)):
        for k in range(width):
            below[k] += np.int64(block[j, k] < edges[k])


@compiled(kept=True)
def fill_supports(
    projected: Floats, depths: Floats, shares: Floats, tie: float, found: Floats
) -> None:
    """Fill in the supports [2, levels, directions] of the regions, along u and along -u.

    A region holds the points at least as deep as that share of the points, one for each level; the
    next level's region lies inside.
    """
    levels, count = found.shape[1:]
    highest, lowest = found[0], found[1]
    highest[:], lowest[:] = -np.inf, np.inf
    cuts = quantiles(depths, shares)
    for i in range(len(depths)):
        level = levels - 1
        while level >= 0 and depths[i] < cuts[level] - tie:
            level -= 1
        if level >= 0:
            _widen(highest[level], lowest[level], projected[i], projected[i], count)
    for level in range(levels - 2, -1, -1):
        _widen(highest[level], lowest[level], highest[level + 1], lowest[level + 1], count)
    for level in range(levels):
        for k in range(count):
            lowest[level, k] = -lowest[level, k]


@compiled()
def _widen(highest: Floats, lowest: Floats, upper: Floats, lower: Floats, count: int) -> None:
    for k in range(count):
        highest[k] = upper[k] if upper[k] > highest[k] else highest[k]
        lowest[k] = lower[k] if lower[k] < lowest[k] else lowest[k]


@compiled(kept=True)
def quantiles(values: Floats, shares: Floats) -> Floats:
    """Return what `np.quantile` does: between two neighbours, counted from the nearer one."""
    ordered = np.sort(values)
    found = np.empty(len(shares))
    for k in range(len(shares)):
        place = shares[k] * (len(ordered) - 1)
        left = int(place)
        if left >= len(ordered) - 1:
            found[k] = ordered[-1]
            continue
        right, part = ordered[left + 1], place - left
        gap = right - ordered[left]
        found[k] = ordered[left] + gap * part if part < 0.5 else right - gap * (1 - part)
    return found
