"""The iterates of the interior-point method of unbalanced transport, and their duality gaps."""

import numpy as np

from nlgauge.core.arrays import Floats

INFINITY = float("inf")


class Workspace:
    """A problem, the iterates of its solver, and its parameters; matrices are flat arrays."""

    def __init__(self, rows: int, columns: int) -> None:
        self.n, self.m = rows, columns
        cells = np.empty((11, rows * columns))
        rows_, columns_ = np.empty((8, rows)), np.empty((9, columns))
        self.a, self.b = rows_[0], columns_[0]
        self.rate_a, self.rate_b = 0.0, 0.0  # 1 / pa and 1 / pb
        self.scale = 0.0  # the largest cost, or a share of the larger finite penalty
        self.cost, self.plan, self.coupling = cells[:3]
        self.row_sums, self.column_sums = rows_[1], columns_[1]  # of a plan
        self.log_rows, self.log_columns = rows_[2], columns_[2]  # ln of their ratios to a and b
        self.ratio, self.slack, self.f, self.g = cells[3], cells[4], rows_[3], columns_[3]
        self.next_ratio, self.next_slack = cells[5], cells[6]
        self.next_f, self.next_g = rows_[4], columns_[4]
        self.best_ratio, self.best_slack = cells[7], cells[8]
        self.best_f, self.best_g = rows_[5], columns_[5]
        self.plan_change, self.slack_change = cells[9], cells[10]  # relative to themselves
        self.df, self.dg = rows_[6], columns_[6]
        self.right_a, self.right_b = rows_[7], columns_[7]  # right-hand sides of a Newton step
        self.minima = columns_[8]
        self.max_steps, self.steps = 0, 0
        self.corrector = 0.0  # share of the second-order correction
        self.centring = 0.0  # least share of mu to aim at
        self.boundary = 0.0  # largest share of the distance to the boundary
        self.centrality = 0.0  # least X S relative to its mean
        self.gap, self.drift = 0.0, 0.0


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
    gap_a, drift_a = evaluate_side(work.row_sums, work.a, f, work.rate_a, work.log_rows, work.n)
    gap_b, drift_b = evaluate_side(
        work.column_sums, work.b, g, work.rate_b, work.log_columns, work.m
    )
    work.gap, work.drift = primal + gap_a + gap_b, drift_a + drift_b


def _sum_marginals(work: Workspace, plan: Floats) -> float:
    """Write the marginals of a plan; return its cost."""
    m, value = work.m, 0.0
    work.column_sums[:m] = 0.0
    for i in range(work.n):
        at, total = i * m, 0.0
        for j in range(m):
            total += plan[at + j]
            value += plan[at + j] * work.cost[at + j]
        for j in range(m):
            work.column_sums[j] += plan[at + j]
        work.row_sums[i] = total
    return value


def evaluate_side(
    x: Floats, y: Floats, potential: Floats, rate: float, logs: Floats, count: int
) -> tuple[float, float]:
    """Return the penalty of a marginal minus its dual term, and its drift; write ln(x/y)."""
    penalty, bound, drift = 0.0, 0.0, 0.0
    for k in range(count):
        bound += y[k] * (potential[k] if rate == 0 else np.expm1(-potential[k] * rate))
        if x[k] == 0.0:  # x ln x is 0
            logs[k], penalty = -INFINITY, penalty + y[k]
            continue
        ratio = x[k] / y[k]
        # Accurate also where x and y differ by rounding only.
        logs[k] = np.log1p((x[k] - y[k]) / y[k]) if ratio > 0.5 else np.log(ratio)
        penalty += x[k] * logs[k] - (x[k] - y[k])
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
