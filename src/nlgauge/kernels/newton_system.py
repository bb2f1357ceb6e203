"""The linear system of a Newton step on transport potentials, solved without cancellation.

    [ diag(W 1 + ha)        W         ] [df]   [ya]
    [      W^T        diag(W^T 1 + hb)] [dg] = [yb]        W = P / S,  ha = r / pa,  hb = c / pb

Every diagonal entry is the sum of the other entries of its row plus an excess ha or hb >= 0.
Elimination preserves this form, so each pivot is a sum of numbers >= 0 and no digits cancel
(Grassmann, Taksar and Heyman 1985). The excess is stored as one more row, the last.
"""

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.kernels.duality import Workspace

TINY = 2.2250738585072014e-308  # the smallest normal float64


class NewtonSystem:
    """The system after elimination of the columns of the plan and then of its rows."""

    def __init__(self, n: int, m: int) -> None:
        self.inverse_slack = np.empty(n * m)
        self.weights = np.empty((n + 1) * m)  # W, and hb in the last row
        self.weight_shares = np.empty((n + 1) * m)  # the same divided by the sum of each column
        self.column_sums = np.empty(m)
        self.reduced = np.empty((n + 1) * n)  # the system of the rows, lower triangle
        self.reduced_shares = np.empty((n + 1) * n)  # the same divided by each pivot
        self.pivots = np.empty(n)


def factor(system: NewtonSystem, work: Workspace) -> None:
    """Eliminate the system of the plan and slack of a workspace."""
    n, m = work.n, work.m
    for j in range(m):
        system.weights[n * m + j] = work.column_sums[j] * work.rate_b
        system.column_sums[j] = system.weights[n * m + j]
    for i in range(n):
        at = i * m
        for j in range(m):
            system.inverse_slack[at + j] = 1.0 / work.slack[at + j]
            system.weights[at + j] = work.plan[at + j] * system.inverse_slack[at + j]
        for j in range(m):
            system.column_sums[j] += system.weights[at + j]
    for j in range(m):
        # All entries of a column may underflow if its token is expensive.
        system.column_sums[j] = max(system.column_sums[j], TINY)
    for i in range(n + 1):
        at = i * m
        for j in range(m):
            system.weight_shares[at + j] = system.weights[at + j] / system.column_sums[j]
    for i in range(n):
        for k in range(i + 1, n):
            system.reduced[k * n + i] = 0.0
        system.reduced[n * n + i] = work.row_sums[i] * work.rate_a
        _add_products(system.weight_shares, system.weights, m, m, i, system.reduced, n)
        _add_products(system.reduced_shares, system.reduced, n, i, i, system.reduced, n)
        pivot = TINY
        for k in range(i + 1, n + 1):
            pivot += system.reduced[k * n + i]
        system.pivots[i] = pivot
        for k in range(i + 1, n + 1):
            system.reduced_shares[k * n + i] = system.reduced[k * n + i] / pivot


def _add_products(
    shares: Floats, values: Floats, width: int, count: int, row: int, reduced: Floats, n: int
) -> None:
    """Add <shares[row, :count], values[k, :count]> to reduced[k, row] for all k > row."""
    own, k = row * width, row + 1
    while k + 3 <= n:  # four rows per pass load the shares only once
        at = k * width
        p = q = r = s = 0.0
        for j in range(count):
            share = shares[own + j]
            p += share * values[at + j]
            q += share * values[at + width + j]
            r += share * values[at + 2 * width + j]
            s += share * values[at + 3 * width + j]
        reduced[k * n + row] += p
        reduced[(k + 1) * n + row] += q
        reduced[(k + 2) * n + row] += r
        reduced[(k + 3) * n + row] += s
        k += 4
    while k <= n:
        reduced[k * n + row] += dot(shares, own, values, k * width, count)
        k += 1


def dot(x: Floats, x_start: int, y: Floats, y_start: int, count: int) -> float:
    """Return the scalar product of two parts of arrays."""
    total = 0.0
    for k in range(count):
        total += x[x_start + k] * y[y_start + k]
    return total


def solve(system: NewtonSystem, work: Workspace) -> None:
    """Write df and dg for the right-hand sides of a workspace."""
    n, m = work.n, work.m
    for i in range(n):
        work.df[i] = work.right_a[i] - dot(work.right_b, 0, system.weight_shares, i * m, m)
        work.df[i] += dot(work.df, 0, system.reduced_shares, i * n, i)
    for i in range(n):
        work.df[i] /= system.pivots[i]
    for i in range(n - 1, 0, -1):
        value, at = work.df[i], i * n
        for k in range(i):
            work.df[k] += system.reduced_shares[at + k] * value
    for j in range(m):
        work.dg[j] = work.right_b[j]
    for i in range(n):
        value, at = work.df[i], i * m
        for j in range(m):
            work.dg[j] -= system.weights[at + j] * value
    for j in range(m):
        work.dg[j] /= system.column_sums[j]
