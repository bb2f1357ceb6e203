"""Exact balanced transport: both marginals are met, the cost is the least possible.

    min <C, P>   with   P >= 0,   P 1 = a,   P^T 1 = b

is solved by the network simplex of POT, and by the assignment algorithm of scipy where all tokens
weigh the same and there are as many on either side (then a permutation is optimal, by Birkhoff).
"""

from __future__ import annotations

import os
from functools import cache
from types import ModuleType
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from nlgauge.core.plan import Floats

GAP = 1e-10  # duality gap, relative to the largest cost, that counts as solved
PIVOTS = 10_000_000
DUST = 1e-15  # flows below this are rounding of the pivots


class Solution(NamedTuple):
    """An optimal coupling and the duality gap that proves it."""

    coupling: Floats
    residual: float
    converged: bool


@cache
def _pot() -> ModuleType:
    """Return POT, kept from importing every array library it finds."""
    for library in ("PYTORCH", "TENSORFLOW", "JAX", "CUPY"):
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{library}", "1")
    import ot  # noqa: PLC0415 - a slow import, paid only by those who transport

    module: ModuleType = ot
    return module


def solve(cost: Floats, a: Floats, b: Floats) -> Solution:
    """Return the optimal coupling of positive weights a and b that sum to 1."""
    n, m = cost.shape
    if n == 1 or m == 1:  # one token gives to or takes from everybody
        return Solution(a[:, None] * b, 0.0, True)
    if n == m and np.all(a == a[0]) and np.all(b == a[0]):
        coupling = np.zeros((n, m))
        coupling[linear_sum_assignment(cost)] = a
        return Solution(coupling, 0.0, True)
    coupling, log = _pot().emd(
        a,
        b * (a.sum() / b.sum()),
        cost,
        numItermax=PIVOTS,
        log=True,
        center_dual=False,
        check_marginals=False,
    )
    coupling[coupling < DUST] = 0.0
    f, g = log["u"], log["v"]
    excess = max(float((f[:, None] + g - cost).max()), 0.0)
    gap = float((cost * coupling).sum() - (a @ f + b @ g - excess))
    solved = gap <= GAP * max(float(cost.max()), np.finfo(float).tiny)
    return Solution(coupling, max(gap, 0.0), solved and log["warning"] is None)
