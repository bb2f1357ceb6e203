"""Ragged transport problems put into few padded arrays, so that numpy sees thousands at once.

The padded shape of a problem depends on its own shape only, never on its company: a pair gets the
same bits alone and in any corpus.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.plan import Floats

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]

STEP = 8  # lengths are rounded up to a multiple of this
CELLS = 1 << 15  # matrix cells in one stack; a handful of such arrays fits into the L2 cache


class Stack(NamedTuple):
    """Problems of one padded shape; a padded token has weight 0."""

    members: list[int]
    cost: Floats
    a: Floats
    b: Floats


class Solution(NamedTuple):
    """Couplings of a stack, with what was proved about each."""

    coupling: Floats
    residual: Floats
    iterations: Counts
    converged: Flags


def stacks(costs: Sequence[Floats], a: Sequence[Floats], b: Sequence[Floats]) -> Iterator[Stack]:
    """Yield the problems in padded stacks; `members` says where each one came from."""
    shapes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for at, cost in enumerate(costs):
        shapes[-(-cost.shape[0] // STEP) * STEP, -(-cost.shape[1] // STEP) * STEP].append(at)
    for (n, m), found in shapes.items():
        size = max(1, CELLS // (n * m))
        for start in range(0, len(found), size):
            members = found[start : start + size]
            stack = Stack(
                members,
                np.zeros((len(members), n, m)),
                np.zeros((len(members), n)),
                np.zeros((len(members), m)),
            )
            for row, at in enumerate(members):
                rows, columns = costs[at].shape
                stack.cost[row, :rows, :columns] = costs[at]
                stack.a[row, :rows] = a[at]
                stack.b[row, :columns] = b[at]
            yield stack
