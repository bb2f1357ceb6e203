"""Exact unbalanced transport of one pair of texts after another, in machine code.

The method is that of unbalanced.py: the same central path, Mehrotra's steps, constants and
certificate. For texts of a few dozen tokens numpy's calls cost more than the arithmetic, even over
padded stacks, and keep Python's lock; here nothing is padded and the lock is free. The steps are in
mehrotra.py, their linear systems in elimination.py. After each step forest.py is asked whether the
support is known already; if so, the walk ends there, with an optimum that is exact up to rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.machine_code import compiled
from nlgauge.core.plan import Floats
from nlgauge.measure.elimination import inner, room_for_system
from nlgauge.measure.forest import settle
from nlgauge.measure.mehrotra import Point, Problem, Rules, State, Step, advance, fill, least_of

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


@compiled(kept=True)
def solve_all(
    costs: Floats,
    a: Floats,
    b: Floats,
    shapes: Counts,
    rates: tuple[float, float],
    least_scale: float,
    rules: Rules,
) -> tuple[Floats, Floats, Counts, Flags]:
    """Return couplings, certified gaps and Newton steps of problems laid one after the other.

    The flags say whose gap is small enough. A problem's scale is its largest cost, or at least
    `least_scale`.
    """
    couplings, count = np.empty(len(costs)), len(shapes)
    gaps, steps = np.empty(count), np.empty(count, dtype=np.int64)
    solved = np.empty(count, dtype=np.bool_)
    cell, row, column = 0, 0, 0
    for k in range(count):
        n, m = shapes[k]
        left, right = a[row : row + n], b[column : column + m]
        cell, row, column = cell + n * m, row + n, column + m
        cost, into = costs[cell - n * m : cell], couplings[cell - n * m : cell]
        turned = n > m  # the rows make the Newton system, the fewer the better
        if turned:
            n, m, left, right = m, n, right, left
        rate_a, rate_b = (rates[1], rates[0]) if turned else rates
        table, coupling, scale = np.empty((n, m)), np.empty((n, m)), least_scale
        for i in range(n):
            for j in range(m):
                table[i, j] = cost[j * n + i if turned else i * m + j]
                scale = max(scale, table[i, j])
        problem = Problem(table, left, right, rate_a, rate_b, scale)
        gaps[k], steps[k] = _solve(problem, rules, coupling)
        solved[k] = gaps[k] <= rules.gap * scale
        for i in range(n):
            for j in range(m):
                into[j * n + i if turned else i * m + j] = coupling[i, j]
    return couplings, gaps, steps, solved


@compiled()
def _point(n: int, m: int) -> Point:
    return Point(np.empty((n, m)), np.empty((n, m)), np.empty(n), np.empty(m))


@compiled()
def _solve(problem: Problem, rules: Rules, coupling: Floats) -> tuple[float, int]:
    """Walk along the central path, and write the coupling that its best point gives."""
    n, m = problem.cost.shape
    point, spare, best = _point(n, m), _point(n, m), _point(n, m)
    state = State(np.empty((n, m)), np.empty(n), np.empty(m), np.empty(n), np.empty(m))
    guess = State(coupling, np.empty(n), np.empty(m), np.empty(n), np.empty(m))
    step = Step(np.zeros((n, m)), np.zeros((n, m)), np.empty(n), np.empty(m))
    system = room_for_system(n, m)
    _start(problem, rules, point)
    _copy(point, best)
    least, stale, steps = np.inf, 0, 0
    while True:
        _expand(point.ratio, problem.a, problem.b, state.plan)
        gap, drift = _examine(problem, state, point.f, point.g)
        merit = max(gap / (rules.aim * problem.scale), drift / rules.drift)
        stale += 1
        if merit < least:
            least, stale = merit, 0
            _copy(point, best)
        solved = least <= rules.gap / rules.aim
        # A walk that leaves the numbers behind ends without a certificate.
        if not 1.0 < merit < np.inf or steps == rules.steps or (solved and stale >= rules.patience):
            break
        guessed = _guess(problem, point, step, guess, spare, rules)
        if guessed <= rules.aim * problem.scale:
            return guessed, steps
        advance(problem, point, state, system, step, gap, rules, spare)
        point, spare = spare, point
        steps += 1
    return _finish(problem, best, state, rules, coupling), steps


@compiled()
def _guess(
    problem: Problem, point: Point, step: Step, guess: State, spare: Point, rules: Rules
) -> float:
    """Write the optimum on the support that the last step points to; return its certified gap.

    Mostly the support is known, and the optimum with it, some steps before the walk would end.
    """
    f, g = spare.f, spare.g
    if not settle(problem, step, point.f, f, g, guess.plan):
        return np.inf
    _tighten(problem, guess)
    _lower(problem.cost, f, g)
    gap, drift = _examine(problem, guess, f, g)
    return max(gap, 0.0) if drift <= rules.drift else np.inf


@compiled()
def _copy(point: Point, into: Point) -> None:
    """Write a point over another."""
    n, m = point.ratio.shape
    for i in range(n):
        for j in range(m):
            into.ratio[i, j] = point.ratio[i, j]
        for j in range(m):
            into.slack[i, j] = point.slack[i, j]
        into.f[i] = point.f[i]
    for j in range(m):
        into.g[j] = point.g[j]


@compiled()
def _start(problem: Problem, rules: Rules, point: Point) -> None:
    """Write a strictly feasible point: shares of the row and column minima, less a margin."""
    cost, a, b, f, g = problem.cost, problem.a, problem.b, point.f, point.g
    n, m = cost.shape
    mean, lowest = 0.0, 0.0
    for j in range(m):
        g[j] = np.inf
    for i in range(n):
        for j in range(m):
            g[j] = min(g[j], cost[i, j])
        f[i] = least_of(cost[i])
        mean += a[i] * inner(b, cost[i], m)
        lowest += a[i] * f[i] / 2
    lowest += inner(b, g, m) / 2
    margin = 0.1 * mean + 1e-3 * problem.scale
    both = problem.rate_a + problem.rate_b
    # One token against one keeps exp(-c/(pa+pb)); an infinite penalty gives 1 and so P 1 = a. A
    # start with next to no mass is far from the central path, whatever the end looks like.
    kept = max(np.exp(-lowest * problem.rate_a * problem.rate_b / both), rules.kept)
    share = problem.rate_b / both  # the stiffer side carries more of the potential
    for j in range(m):
        g[j] = (1.0 - share) * (g[j] - margin)
    for i in range(n):
        f[i] = share * (f[i] - margin)
        for j in range(m):
            point.slack[i, j] = cost[i, j] - f[i] - g[j]
    fill(point.ratio, kept)


@compiled()
def _expand(ratio: Floats, a: Floats, b: Floats, plan: Floats) -> None:
    """Write (a x b) X into the plan."""
    for i in range(len(a)):
        for j in range(len(b)):
            plan[i, j] = a[i] * b[j] * ratio[i, j]


@compiled()
def _examine(problem: Problem, state: State, f: Floats, g: Floats) -> tuple[float, float]:
    """Return the duality gap of a plan and potentials, and how far its marginals are from them."""
    primal = _marginals(problem.cost, state)
    gap_a, drift_a = _side(state.r, problem.a, f, problem.rate_a, state.log_r)
    gap_b, drift_b = _side(state.c, problem.b, g, problem.rate_b, state.log_c)
    return primal + gap_a + gap_b, drift_a + drift_b


@compiled(any_order=True)
def _marginals(cost: Floats, state: State) -> float:
    """Write the marginals of the plan; return what it costs."""
    plan, c, value = state.plan, state.c, 0.0
    for j in range(len(c)):
        c[j] = 0.0
    for i in range(len(state.r)):
        total = 0.0
        for j in range(len(c)):
            total += plan[i, j]
            c[j] += plan[i, j]
        state.r[i] = total
        value += inner(plan[i], cost[i], len(c))
    return value


@compiled()
def _side(
    x: Floats, y: Floats, potential: Floats, rate: float, logs: Floats
) -> tuple[float, float]:
    """Return one side's penalty less its term of the dual value, and its drift; write ln(x/y)."""
    penalty, bound, drift = 0.0, 0.0, 0.0
    for k in range(len(x)):
        ratio = x[k] / y[k]
        # Accurate also where x and y differ by rounding only.
        logs[k] = np.log1p((x[k] - y[k]) / y[k]) if ratio > 0.5 else np.log(ratio)
        penalty += x[k] * logs[k] - (x[k] - y[k])
        bound += y[k] * (potential[k] if rate == 0 else np.expm1(-potential[k] * rate))
        drift += x[k] * abs(logs[k] + potential[k] * rate)
    return -bound if rate == 0 else (penalty + bound) / rate, drift


@compiled()
def _finish(problem: Problem, point: Point, state: State, rules: Rules, coupling: Floats) -> float:
    """Write a coupling with exact zeros where the certificate allows it; return its certified gap.

    On an optimal support X is large and the slack tiny, elsewhere the reverse. Dropping the rest
    makes equal texts cost exactly 0 and alignments readable.
    """
    cost, f, g, plan = problem.cost, point.f, point.g, state.plan
    n, m = cost.shape
    _lower(cost, f, g)
    _expand(point.ratio, problem.a, problem.b, plan)
    _tighten(problem, state)
    gap = _examine(problem, state, f, g)[0]
    for i in range(n):
        for j in range(m):
            coupling[i, j] = plan[i, j]
            if point.ratio[i, j] * problem.scale < point.slack[i, j]:
                plan[i, j] = 0.0
    whole = _tighten(problem, state)
    thin = _examine(problem, state, f, g)[0]
    if not (whole and thin <= max(gap, rules.aim * problem.scale)):
        return max(gap, 0.0)
    for i in range(n):
        for j in range(m):
            coupling[i, j] = plan[i, j]
    return max(thin, 0.0)


@compiled()
def _tighten(problem: Problem, state: State) -> bool:
    """Make the plan meet the marginal of an infinite penalty; False if a token has no mass."""
    _marginals(problem.cost, state)
    whole = True
    for i in range(len(state.r)):
        whole &= state.r[i] > 0
        if problem.rate_a == 0 and state.r[i] > 0:
            for j in range(len(state.c)):
                state.plan[i, j] *= problem.a[i] / state.r[i]
    for j in range(len(state.c)):
        whole &= state.c[j] > 0
        if problem.rate_b == 0 and state.c[j] > 0:
            for i in range(len(state.r)):
                state.plan[i, j] *= problem.b[j] / state.c[j]
    return whole


@compiled()
def _lower(cost: Floats, f: Floats, g: Floats) -> None:
    """Lower f until f + g <= C holds everywhere, by a trifle that is mostly rounding."""
    excess = 0.0
    for i in range(len(f)):
        for j in range(len(g)):
            excess = max(excess, f[i] + g[j] - cost[i, j])
    for i in range(len(f)):
        f[i] -= excess
