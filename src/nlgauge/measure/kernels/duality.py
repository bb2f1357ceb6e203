"""The iterates of the interior-point method of unbalanced transport, and their duality gaps."""

from __future__ import annotations

import numpy as np

from nlgauge.core.plan import Floats
from nlgauge.measure.kernels import newton_system, support


class Workspace(support.Marginals):
    """The problem at hand, the iterates of its solver, and the parameters of the method."""

    def __init__(self, rows: int, columns: int) -> None:
        cells = rows * columns
        super().__init__(rows, columns)
        self.system = newton_system.NewtonSystem(rows, columns)
        self.forest = support.Forest(rows + columns)
        self.scale = 0.0  # the largest cost, or a share of the larger finite penalty
        self.cost, self.plan, self.coupling = np.empty(cells), np.empty(cells), np.empty(cells)
        self.row_sums, self.column_sums = np.empty(rows), np.empty(columns)  # of a plan
        self.log_rows, self.log_columns = np.empty(rows), np.empty(columns)  # ratios to a and b
        self.ratio, self.slack = np.empty(cells), np.empty(cells)
        self.f, self.g = np.empty(rows), np.empty(columns)
        self.next_ratio, self.next_slack = np.empty(cells), np.empty(cells)
        self.next_f, self.next_g = np.empty(rows), np.empty(columns)
        self.best_ratio, self.best_slack = np.empty(cells), np.empty(cells)
        self.best_f, self.best_g = np.empty(rows), np.empty(columns)
        self.plan_change, self.slack_change = np.empty(cells), np.empty(cells)
        self.df, self.dg = np.empty(rows), np.empty(columns)
        self.right_a, self.right_b = np.empty(rows), np.empty(columns)
        self.minima = np.empty(columns)
        self.max_steps = 0
        self.corrector = 0.0  # share of the second-order correction
        self.centring = 0.0  # least share of mu to aim at
        self.boundary = 0.0  # largest share of the distance to the boundary
        self.centrality = 0.0  # least X S relative to its mean
        self.steps = 0
        self.gap = 0.0
        self.drift = 0.0


def expand(work: Workspace, ratio: Floats) -> None:
    """Write P = (a x b) X."""
    m = work.m
    for i in range(work.n):
        at, weight = i * m, work.a[i]
        for j in range(m):
            work.plan[at + j] = weight * work.b[j] * ratio[at + j]


def evaluate(work: Workspace, plan: Floats, f: Floats, g: Floats) -> None:
    """Write the marginals of a plan, its duality gap and the distance from its potentials."""
    primal = _sum_marginals(work, plan)
    gap_a, drift_a = _evaluate_side(work.row_sums, work.a, f, work.rate_a, work.log_rows, work.n)
    gap_b, drift_b = _evaluate_side(
        work.column_sums, work.b, g, work.rate_b, work.log_columns, work.m
    )
    work.gap, work.drift = primal + gap_a + gap_b, drift_a + drift_b


def _sum_marginals(work: Workspace, plan: Floats) -> float:
    """Write the marginals of a plan; return its cost."""
    m, value = work.m, 0.0
    for j in range(m):
        work.column_sums[j] = 0.0
    for i in range(work.n):
        at, total = i * m, 0.0
        for j in range(m):
            total += plan[at + j]
            value += plan[at + j] * work.cost[at + j]
        for j in range(m):
            work.column_sums[j] += plan[at + j]
        work.row_sums[i] = total
    return value


def _evaluate_side(
    x: Floats, y: Floats, potential: Floats, rate: float, logs: Floats, count: int
) -> tuple[float, float]:
    """Return the penalty of a marginal minus its dual term, and its drift; write ln(x/y)."""
    penalty, bound, drift = 0.0, 0.0, 0.0
    for k in range(count):
        ratio = x[k] / y[k]
        # Accurate also where x and y differ by rounding only.
        logs[k] = np.log1p((x[k] - y[k]) / y[k]) if ratio > 0.5 else np.log(ratio)
        penalty += x[k] * logs[k] - (x[k] - y[k])
        bound += y[k] * (potential[k] if rate == 0 else np.expm1(-potential[k] * rate))
        drift += x[k] * np.fabs(logs[k] + potential[k] * rate)
    if rate == 0:
        return -bound, drift
    return (penalty + bound) / rate, drift


def rescale(work: Workspace, plan: Floats) -> bool:
    """Make a plan meet the marginal of an infinite penalty; return False if a token has no mass."""
    whole = True
    m = work.m
    _sum_marginals(work, plan)
    for i in range(work.n):
        if not work.row_sums[i] > 0:
            whole = False
        elif work.rate_a == 0:
            for j in range(m):
                plan[i * m + j] *= work.a[i] / work.row_sums[i]
    for j in range(m):
        if not work.column_sums[j] > 0:
            whole = False
        elif work.rate_b == 0:
            for i in range(work.n):
                plan[i * m + j] *= work.b[j] / work.column_sums[j]
    return whole


def lower_potentials(work: Workspace, f: Floats, g: Floats) -> None:
    """Lower f by the rounding that violates f + g <= C."""
    excess = 0.0
    for i in range(work.n):
        for j in range(work.m):
            excess = max(excess, f[i] + g[j] - work.cost[i * work.m + j])
    for i in range(work.n):
        f[i] -= excess
