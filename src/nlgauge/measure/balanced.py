"""Exact balanced transport: both marginals are met, the cost is the least possible.

    min <C, P>   with   P >= 0,   P 1 = a,   P^T 1 = b

is solved by the network simplex of POT, and by the assignment algorithm of scipy where all tokens
weigh the same and there are as many on either side (then a permutation is optimal, by Birkhoff).
Costs that change while the weights stay are solved by a simplex of our own if numba is installed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nlgauge.core.plan import Floats

if TYPE_CHECKING:
    from nlgauge.measure.simplex import Simplex

GAP = 1e-10  # duality gap, relative to the largest cost, that counts as solved
PIVOTS = 10_000_000
DUST = 1e-15  # flows below this are rounding of the pivots
_OPTIMAL = 1  # what the simplex returns when it has finished


class Solution(NamedTuple):
    """An optimal coupling and the duality gap that proves it."""

    coupling: Floats
    residual: float
    converged: bool


@cache
def _simplex() -> Callable[..., tuple[Floats, float, Floats, Floats, int]]:
    """Return POT's compiled network simplex, without the checks that ``ot.emd`` repeats.

    They would double the time of a problem of 30 x 30 tokens. The compiled part runs without
    Python's lock, so several threads can solve at once.
    """
    for library in ("PYTORCH", "TENSORFLOW", "JAX", "CUPY"):  # POT imports all it finds
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{library}", "1")
    from ot.lp import emd_wrap

    solver: Any = emd_wrap.emd_c
    return solver  # type: ignore[no-any-return]


@cache
def _assignment() -> Callable[[Floats], tuple[Any, Any]]:
    from scipy.optimize import linear_sum_assignment

    solver: Any = linear_sum_assignment
    return solver  # type: ignore[no-any-return]


def couple(cost: Floats, a: Floats, b: Floats) -> Floats:
    """Return the optimal coupling alone, for callers that solve thousands and prove the last."""
    n, m = cost.shape
    if n == 1 or m == 1:  # one token gives to or takes from everybody
        return a[:, None] * b
    if _even(a, b):
        coupling = np.zeros((n, m))
        coupling[_assignment()(cost)] = a
        return coupling
    return _transport(cost, a, b)[0]


def solve(cost: Floats, a: Floats, b: Floats) -> Solution:
    """Return the optimal coupling of positive weights a and b that sum to 1."""
    n, m = cost.shape
    if min(n, m) == 1 or _even(a, b):
        return Solution(couple(cost, a, b), 0.0, True)
    coupling, f, g, finished = _transport(cost, a, b)
    excess = max(float((f[:, None] + g - cost).max()), 0.0)
    gap = float((cost * coupling).sum() - (a @ f + b @ g - excess))
    solved = gap <= GAP * max(float(cost.max()), np.finfo(float).tiny)
    return Solution(coupling, max(gap, 0.0), solved and finished)


def repeated(a: Floats, b: Floats, count: int) -> Callable[[Floats], Floats]:
    """Return what couples stacks of `count` costs, one after the other, under the same weights.

    Where the least cost is not unique, the coupling may depend on whether numba is installed.
    """

    def each(costs: Floats) -> Floats:
        return np.stack([couple(cost, a, b) for cost in costs])

    warm = None if min(len(a), len(b)) == 1 or _even(a, b) else _warm_simplex()
    if warm is None:
        return each
    simplex = warm(a, b, count)

    def resumed(costs: Floats) -> Floats:
        plans, solved = simplex.couple(costs)
        if not solved.all():
            plans[~solved] = each(costs[~solved])
        return plans

    return resumed


@cache
def _warm_simplex() -> type[Simplex] | None:
    """Return the simplex that resumes, if numba is installed and knows this numpy."""
    try:
        from nlgauge.measure.simplex import Simplex
    except ImportError:
        return None
    return Simplex


def _even(a: Floats, b: Floats) -> bool:
    """Whether all tokens weigh the same, and there are as many on either side."""
    return len(a) == len(b) and bool((a == a[0]).all() and (b == a[0]).all())


def _transport(cost: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats, bool]:
    """Return coupling, potentials, and whether the simplex called it optimal."""
    coupling, _, f, g, code = _simplex()(
        a, b * (a.sum() / b.sum()), np.ascontiguousarray(cost), PIVOTS, 1
    )
    coupling[coupling < DUST] = 0.0
    return coupling, f, g, code == _OPTIMAL
