"""The linear system inside a Newton step on transport potentials, eliminated in machine code.

It is the system of kkt.py for one problem: off its diagonal is what tokens exchange, on it the sum
of that plus what is left to the marginals. Elimination keeps this form, so every pivot is a sum of
numbers >= 0 and nothing ever cancels (Grassmann, Taksar and Heyman 1985). What is left to the
marginals is kept as one more row, the last, and takes part as if it were another token.

Loops run along rows, of which there are fewer than columns, or sum up products of two rows: so that
several numbers are taken at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlgauge.core.machine_code import compiled
from nlgauge.core.plan import Floats

TINY = float(np.finfo(np.float64).tiny)


class System(NamedTuple):
    """The Newton system, eliminated: first the columns of the plan, then its rows."""

    inverse: Floats  # 1 / S
    weights: Floats  # P / S, and in the last row what is left to the marginals
    passed: Floats  # the same as shares of each column's sum
    columns: Floats  # those sums
    left: Floats  # what the rows exchange once the columns are gone, lower triangle
    handed: Floats  # the same as shares of each pivot
    pivots: Floats


@compiled()
def room_for_system(n: int, m: int) -> System:
    """Return a system of n rows and m columns, yet to be written."""
    return System(
        np.empty((n, m)),
        np.empty((n + 1, m)),
        np.empty((n + 1, m)),
        np.empty(m),
        np.empty((n + 1, n)),
        np.empty((n + 1, n)),
        np.empty(n),
    )


@compiled()
def weigh(plan: Floats, slack: Floats, elastic: Floats, rate: float, system: System) -> None:
    """Write P / S, what is left to the marginals of the columns, and both as shares of sums."""
    n, m = slack.shape
    inverse, weights = system.inverse, system.weights
    passed, columns = system.passed, system.columns
    for j in range(m):
        weights[n, j] = columns[j] = elastic[j] * rate
    for i in range(n):
        for j in range(m):
            inverse[i, j] = 1.0 / slack[i, j]
        for j in range(m):
            weights[i, j] = plan[i, j] * inverse[i, j]
        for j in range(m):
            columns[j] += weights[i, j]
    for j in range(m):
        columns[j] = max(columns[j], TINY)  # a token may be so expensive that all underflows
    for i in range(n + 1):
        for j in range(m):
            passed[i, j] = weights[i, j] / columns[j]


@compiled(any_order=True)
def eliminate(system: System, r: Floats, rate: float) -> None:
    """Eliminate the columns of the plan from the system, then its rows one by one."""
    n = len(r)
    left, handed = system.left, system.handed
    for i in range(n):
        for k in range(i + 1, n):
            left[k, i] = 0.0
        left[n, i] = r[i] * rate
        _gather(system.passed, system.weights, system.weights.shape[1], i, left)
        _gather(handed, left, i, i, left)
        pivot = TINY
        for k in range(i + 1, n + 1):
            pivot += left[k, i]
        share = 1.0 / pivot
        for k in range(i + 1, n + 1):
            handed[k, i] = left[k, i] * share
        system.pivots[i] = pivot


@compiled(any_order=True)
def _gather(shares: Floats, given: Floats, count: int, row: int, left: Floats) -> None:
    """Add to a row's exchange with all later ones what went through the nodes already gone."""
    own, end, k = shares[row], len(left), row + 1
    while k + 3 < end:
        one, two, three, four = given[k], given[k + 1], given[k + 2], given[k + 3]
        p, q, r, s = 0.0, 0.0, 0.0, 0.0
        for j in range(count):
            share = own[j]
            p += share * one[j]
            q += share * two[j]
            r += share * three[j]
            s += share * four[j]
        left[k, row] += p
        left[k + 1, row] += q
        left[k + 2, row] += r
        left[k + 3, row] += s
        k += 4
    while k < end:
        left[k, row] += inner(own, given[k], count)
        k += 1


@compiled(any_order=True)
def inner(x: Floats, y: Floats, count: int) -> float:
    """Return the scalar product of the beginnings of two rows."""
    total = 0.0
    for k in range(count):
        total += x[k] * y[k]
    return total


@compiled(any_order=True)
def substitute(system: System, ya: Floats, yb: Floats, df: Floats, dg: Floats) -> None:
    """Write the solution of the eliminated system for the right sides ya and yb."""
    n, m = len(ya), len(yb)
    weights, passed, handed = system.weights, system.passed, system.handed
    for i in range(n):
        df[i] = ya[i] - inner(yb, passed[i], m) + inner(df, handed[i], i)
    for i in range(n):
        df[i] /= system.pivots[i]
    for i in range(n - 1, 0, -1):
        for k in range(i):
            df[k] += handed[i, k] * df[i]
    for j in range(m):
        dg[j] = yb[j]
    for i in range(n):
        for j in range(m):
            dg[j] -= weights[i, j] * df[i]
    for j in range(m):
        dg[j] /= system.columns[j]
