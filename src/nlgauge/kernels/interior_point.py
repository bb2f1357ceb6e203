"""Exact unbalanced transport by a primal-dual interior-point method, one problem at a time.

With slack S = C - f - g and the plan relative to the weights, P = (a x b) X, the equations are

    f = -pa ln(P 1 / a),   g = -pb ln(P^T 1 / b),   X S = mu everywhere,   mu -> 0.

The central path is weighted by a x b rather than by 1: the start X = const is nearly central, and
tokens of tiny weight do not slow the others down. Steps follow Mehrotra's predictor and corrector;
changes of X and S are stored relative to themselves. After each step support.py attempts the
closed form on the support that the step indicates.

Matrices are flat arrays, row after row. Minima are taken over columns first, which vectorises.
"""

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.arrays import Floats
from nlgauge.kernels import duality, newton_system, support

try:
    import cython
except ModuleNotFoundError:
    from nlgauge.kernels import without_cython as cython

Indices = NDArray[np.intp]

INFINITY = float("inf")
GAP = 1e-10  # certified gap, relative to the scale of a problem, that counts as solved
TARGET_GAP = 1e-12  # relative gap at which the iteration stops
# The gap bounds the objective, its square root the marginals. The iteration continues until they
# also agree with the potentials, in L1, so that <C, P> is as exact as the objective.
TARGET_DRIFT = 1e-11
MIN_CENTRE = 2e-13  # relative mu below which P / S exceeds the precision of float64
MIN_MASS = 1e-4  # least share of the mass that a start moves
STEP_TRIALS = 8
PATIENCE = 5  # steps without progress after which a solved problem is left


def solve_all(
    costs: Floats,
    a: Floats,
    b: Floats,
    shapes: Indices,
    rate_a: float,
    rate_b: float,
    least_scale: float,
    method: Floats,
    couplings: Floats,
    gaps: Floats,
    steps: Indices,
    solved: Indices,
) -> None:
    """Write couplings, certified gaps and Newton steps of problems of `shapes` [problems, 2].

    The Newton system has the size of the rows, so these should not be more than the columns.
    """
    rows, columns = np.asarray(shapes).max(axis=0)
    work = duality.Workspace(rows, columns)
    system, forest = newton_system.NewtonSystem(rows, columns), support.Forest(rows + columns)
    with cython.nogil:
        work.rate_a, work.rate_b = rate_a, rate_b
        work.max_steps, work.corrector, work.centring = int(method[0]), method[1], method[2]
        work.boundary, work.centrality = method[3], method[4]
        cell = row = column = 0
        for k in range(len(shapes)):
            n, m = shapes[k, 0], shapes[k, 1]
            work.n, work.m, work.scale = n, m, least_scale
            work.a, work.b = a[row : row + n], b[column : column + m]
            work.cost, work.coupling = costs[cell : cell + n * m], couplings[cell : cell + n * m]
            for i in range(n * m):
                work.scale = max(work.scale, work.cost[i])
            _solve(work, system, forest)
            steps[k], gaps[k], solved[k] = work.steps, work.gap, work.gap <= GAP * work.scale
            cell, row, column = cell + n * m, row + n, column + m


def _solve(
    work: duality.Workspace, system: newton_system.NewtonSystem, forest: support.Forest
) -> None:
    """Follow the central path; write the coupling of its best point and its certified gap."""
    n, m = work.n, work.m
    _start(work)
    best, stale, work.steps = INFINITY, 0, 0
    while True:
        if work.steps > 0 and _solved_on_support(work, forest):
            return
        duality.expand(work, work.ratio)
        duality.evaluate(work, work.plan, work.f, work.g)
        merit = max(work.gap / (TARGET_GAP * work.scale), work.drift / TARGET_DRIFT)
        stale += 1
        if merit < best or work.steps == 0:
            best, stale = merit, 0
            _copy(work.ratio, work.best_ratio, n * m)
            _copy(work.slack, work.best_slack, n * m)
            _copy(work.f, work.best_f, n)
            _copy(work.g, work.best_g, m)
        # An iteration that overflows stops without a certificate.
        if not 1.0 < merit < INFINITY or work.steps == work.max_steps:
            break
        if best <= GAP / TARGET_GAP and stale >= PATIENCE:
            break
        _advance(work, system)
        work.ratio, work.next_ratio = work.next_ratio, work.ratio
        work.slack, work.next_slack = work.next_slack, work.slack
        work.f, work.next_f = work.next_f, work.f
        work.g, work.next_g = work.next_g, work.g
        work.steps += 1
    _finish(work)


def _start(work: duality.Workspace) -> None:
    """Write a strictly feasible point: shares of the row and column minima, less a margin."""
    f, g = work.f, work.g
    n, m, mean, lowest = work.n, work.m, 0.0, 0.0
    g[:m] = INFINITY
    for i in range(n):
        at, least = i * m, INFINITY
        for j in range(m):
            g[j] = min(g[j], work.cost[at + j])
            least = min(least, work.cost[at + j])
        f[i] = least
        mean += work.a[i] * newton_system.dot(work.b, 0, work.cost, at, m)
        lowest += work.a[i] * least / 2
    lowest += newton_system.dot(work.b, 0, g, 0, m) / 2
    margin = 0.1 * mean + 1e-3 * work.scale
    both = work.rate_a + work.rate_b
    # A pair of single tokens keeps exp(-c/(pa+pb)); an infinite penalty gives 1 and so P 1 = a. A
    # start with almost no mass is far from the central path, whatever the optimum.
    mass = max(np.exp(-lowest * work.rate_a * work.rate_b / both), MIN_MASS)
    share = work.rate_b / both  # the side with the larger penalty has more of the potential
    for j in range(m):
        g[j] = (1.0 - share) * (g[j] - margin)
    for i in range(n):
        f[i] = share * (f[i] - margin)
        for j in range(m):
            work.slack[i * m + j] = work.cost[i * m + j] - f[i] - g[j]
            work.ratio[i * m + j] = mass


def _solved_on_support(work: duality.Workspace, forest: support.Forest) -> bool:
    """Write the optimum on the support that the last step indicates, if a certificate proves it."""
    f, g = work.next_f, work.next_g
    if not support.solve_on_support(forest, work):
        return False
    duality.rescale(work, work.coupling)
    duality.lower_potentials(work, f, g)
    duality.evaluate(work, work.coupling, f, g)
    work.gap = max(work.gap, 0.0)
    return work.gap <= TARGET_GAP * work.scale and work.drift <= TARGET_DRIFT


def _advance(work: duality.Workspace, system: newton_system.NewtonSystem) -> None:
    """Write the next point: Mehrotra's predictor, then the centred and corrected Newton step."""
    n, m = work.n, work.m
    newton_system.factor(system, work)
    mu, centrality = _centrality(work, work.ratio, work.slack)
    work.plan_change[: n * m] = -1.0  # the predictor aims at P S = 0
    _newton_step(work, system)
    predicted = _predicted_products(work, min(1.0, _largest_step(work, system)))
    progress = min(predicted / mu, 1.0)
    centre = max(progress * progress * progress, work.centring) * mu
    centre = max(centre, min(mu, MIN_CENTRE * work.scale))
    for k in range(n * m):
        aim = centre / (work.ratio[k] * work.slack[k]) - 1.0
        work.plan_change[k] = aim - work.corrector * work.plan_change[k] * work.slack_change[k]
    _newton_step(work, system)
    # Near the end the step may come as close to the boundary as the gap is to 0.
    boundary = min(max(1.0 - work.gap, work.boundary), 1.0 - 1e-4)
    length = min(1.0, boundary * _largest_step(work, system))
    _step(work, length, min(work.centrality, 0.5 * centrality))


def _newton_step(work: duality.Workspace, system: newton_system.NewtonSystem) -> None:
    """Solve for df and dg; `plan_change` is the change of P / P that a constant S would need."""
    m = work.m
    for j in range(m):
        work.right_b[j] = -work.column_sums[j] * (work.rate_b * work.g[j] + work.log_columns[j])
    for i in range(work.n):
        at, total = i * m, 0.0
        for j in range(m):
            part = work.plan[at + j] * work.plan_change[at + j]
            total += part
            work.right_b[j] -= part
        pull = -work.row_sums[i] * (work.rate_a * work.f[i] + work.log_rows[i])
        work.right_a[i] = pull - total
    newton_system.solve(system, work)


def _largest_step(work: duality.Workspace, system: newton_system.NewtonSystem) -> float:
    """Write the relative changes of plan and slack; return the step at which one of them is 0."""
    m = work.m
    work.minima[:m] = 0.0
    for i in range(work.n):
        at, df = i * m, work.df[i]
        for j in range(m):
            change = -(df + work.dg[j]) * system.inverse_slack[at + j]
            work.slack_change[at + j] = change
            work.plan_change[at + j] -= change
            least = min(change, work.plan_change[at + j])
            work.minima[j] = min(work.minima[j], least)
    return 1.0 / max(-_least(work.minima, m), 1e-12)


def _predicted_products(work: duality.Workspace, length: float) -> float:
    """Return the sum of P S after a part of a step."""
    total = 0.0
    for k in range(work.n * work.m):
        change = (1.0 + length * work.plan_change[k]) * (1.0 + length * work.slack_change[k])
        total += work.plan[k] * work.slack[k] * change
    return total


def _step(work: duality.Workspace, length: float, bound: float) -> None:
    """Write the next point, with a shorter step if a product X S would fall below the others."""
    # Else degenerate problems may cycle, such as 19 tokens against 38 of half their weight.
    for trial in range(STEP_TRIALS):
        if trial:
            length *= 0.7
        for k in range(work.n * work.m):
            work.next_ratio[k] = work.ratio[k] * (1.0 + length * work.plan_change[k])
            work.next_slack[k] = work.slack[k] * (1.0 + length * work.slack_change[k])
        if not _centrality(work, work.next_ratio, work.next_slack)[1] < bound:
            break
    for i in range(work.n):
        work.next_f[i] = work.f[i] + length * work.df[i]
    for j in range(work.m):
        work.next_g[j] = work.g[j] + length * work.dg[j]


def _centrality(work: duality.Workspace, ratio: Floats, slack: Floats) -> tuple[float, float]:
    """Return the sum of P S, and the least X S relative to it, which is 1 on the path."""
    total = 0.0
    m = work.m
    work.minima[:m] = INFINITY
    for i in range(work.n):
        at, row_total = i * m, 0.0
        for j in range(m):
            product = ratio[at + j] * slack[at + j]
            row_total += work.b[j] * product
            work.minima[j] = min(work.minima[j], product)
        total += work.a[i] * row_total
    return total, _least(work.minima, m) / total


def _least(values: Floats, count: int) -> float:
    least = INFINITY
    for k in range(count):
        least = min(least, values[k])
    return least


def _copy(values: Floats, target: Floats, count: int) -> None:
    for k in range(count):
        target[k] = values[k]


def _finish(work: duality.Workspace) -> None:
    """Write the coupling of the best point, sparse if its certificate allows, and its gap."""
    f, g, cells = work.best_f, work.best_g, work.n * work.m
    duality.lower_potentials(work, f, g)
    duality.expand(work, work.best_ratio)
    duality.rescale(work, work.plan)
    duality.evaluate(work, work.plan, f, g)
    dense_gap = work.gap
    _copy(work.plan, work.coupling, cells)
    # X is large and the slack tiny on an optimal support only; then equal texts cost exactly 0.
    for k in range(cells):
        if work.best_ratio[k] * work.scale < work.best_slack[k]:
            work.plan[k] = 0.0
    whole = duality.rescale(work, work.plan)
    duality.evaluate(work, work.plan, f, g)
    if whole and work.gap <= max(dense_gap, TARGET_GAP * work.scale):
        _copy(work.plan, work.coupling, cells)
    else:
        work.gap = dense_gap
    work.gap = max(work.gap, 0.0)
