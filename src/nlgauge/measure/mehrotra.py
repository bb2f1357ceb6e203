"""One step of Mehrotra's method along the central path of unbalanced transport, in machine code.

The plan is kept relative to a x b, as X in P = (a x b) X. On the path X S = mu everywhere, so steps
and distances from the path need no weights, however small those are. A step is relative, too: it
says which share of itself X gains or loses, and which share S.

Minima are taken of all columns first, so that several numbers are compared at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlgauge.core.machine_code import compiled
from nlgauge.core.plan import Floats
from nlgauge.measure.elimination import System, eliminate, substitute, weigh


class Rules(NamedTuple):
    """When to stop and how boldly to walk: the constants and the style of unbalanced.py."""

    gap: float
    aim: float
    drift: float
    floor: float
    kept: float
    shortenings: int
    patience: int
    steps: int
    corrector: float
    centring: float
    edge: float
    central: float


class Problem(NamedTuple):
    """What is given; `rates` are 1 / pa and 1 / pb."""

    cost: Floats
    a: Floats
    b: Floats
    rate_a: float
    rate_b: float
    scale: float


class Point(NamedTuple):
    """Where the walk stands."""

    ratio: Floats  # X, the plan relative to a x b
    slack: Floats
    f: Floats
    g: Floats


class State(NamedTuple):
    """What follows from a point: the plan, its marginals and their log ratios to a and b."""

    plan: Floats
    r: Floats
    c: Floats
    log_r: Floats
    log_c: Floats


class Step(NamedTuple):
    """Where a Newton step leads; plan and slack change relative to themselves."""

    change: Floats
    rise: Floats
    df: Floats
    dg: Floats


@compiled()
def advance(
    problem: Problem,
    point: Point,
    state: State,
    system: System,
    step: Step,
    gap: float,
    rules: Rules,
    into: Point,
) -> None:
    """Write the next point: Mehrotra's predictor, then the centred and corrected Newton step."""
    weigh(state.plan, point.slack, state.c, problem.rate_b, system)
    eliminate(system, state.r, problem.rate_a)
    mu, central = _products(point, problem.a, problem.b)
    fill(step.change, -1.0)  # the predictor aims at P S = 0
    _newton(problem, point, state, system, step)
    room = _room(system, step)
    after = _ahead(state.plan, point.slack, step, min(1.0, room))
    centre = max(min(after / mu, 1.0) ** 3, rules.centring) * mu
    centre = max(centre, min(mu, rules.floor * problem.scale))
    _bend(point, centre, rules.corrector, step)
    _newton(problem, point, state, system, step)
    room = _room(system, step)
    # Near the end the step may come as close to the boundary as the gap is to 0.
    edge = min(max(1.0 - gap, rules.edge), 1.0 - 1e-4)
    bound = min(rules.central, 0.5 * central)
    _stride(problem, point, step, min(1.0, edge * room), bound, rules.shortenings, into)


@compiled()
def _newton(problem: Problem, point: Point, state: State, system: System, step: Step) -> None:
    """Solve for the step of the potentials; `step.change` says how P would change if S stayed."""
    n, m = problem.cost.shape
    ya, yb = np.empty(n), np.empty(m)
    _sum(state.plan, step.change, ya, yb)
    for i in range(n):
        ya[i] = -state.r[i] * (problem.rate_a * point.f[i] + state.log_r[i]) - ya[i]
    for j in range(m):
        yb[j] = -state.c[j] * (problem.rate_b * point.g[j] + state.log_c[j]) - yb[j]
    substitute(system, ya, yb, step.df, step.dg)


@compiled(any_order=True)
def _sum(plan: Floats, change: Floats, rows: Floats, columns: Floats) -> None:
    """Write by how much a relative change of the plan changes its marginals."""
    for j in range(len(columns)):
        columns[j] = 0.0
    for i in range(len(rows)):
        total = 0.0
        for j in range(len(columns)):
            part = plan[i, j] * change[i, j]
            total += part
            columns[j] += part
        rows[i] = total


@compiled()
def _room(system: System, step: Step) -> float:
    """Write how plan and slack change; return how far one can go until one of them is 0."""
    inverse, change, rise, df, dg = system.inverse, step.change, step.rise, step.df, step.dg
    falls = np.empty(len(dg))
    for j in range(len(dg)):
        falls[j] = 0.0
    for i in range(len(df)):
        for j in range(len(dg)):
            rise[i, j] = -(df[i] + dg[j]) * inverse[i, j]
        for j in range(len(dg)):
            change[i, j] -= rise[i, j]
        for j in range(len(dg)):
            falls[j] = min(falls[j], rise[i, j], change[i, j])
    return 1.0 / max(-least_of(falls), 1e-12)


@compiled(any_order=True)
def _ahead(plan: Floats, slack: Floats, step: Step, reach: float) -> float:
    """Return the sum of P S after a part of a step."""
    change, rise, total = step.change, step.rise, 0.0
    n, m = plan.shape
    for i in range(n):
        for j in range(m):
            moved = (1.0 + reach * change[i, j]) * (1.0 + reach * rise[i, j])
            total += plan[i, j] * slack[i, j] * moved
    return total


@compiled()
def _bend(point: Point, centre: float, corrector: float, step: Step) -> None:
    """Let the plan change towards the central path, less the predictor's second-order term."""
    n, m = point.slack.shape
    ratio, slack, change, rise = point.ratio, point.slack, step.change, step.rise
    for i in range(n):
        for j in range(m):
            aim = centre / (ratio[i, j] * slack[i, j])
            change[i, j] = aim - 1.0 - corrector * change[i, j] * rise[i, j]


@compiled()
def _stride(
    problem: Problem,
    point: Point,
    step: Step,
    reach: float,
    bound: float,
    trials: int,
    into: Point,
) -> None:
    """Write the point a step away, less far where a product P S would fall behind the others.

    Without this Mehrotra's method may cycle close to the boundary, see unbalanced.py.
    """
    while True:
        _scale(point.ratio, step.change, reach, into.ratio)
        _scale(point.slack, step.rise, reach, into.slack)
        trials -= 1
        if trials == 0 or not _products(into, problem.a, problem.b)[1] < bound:
            break
        reach *= 0.7
    for i in range(len(point.f)):
        into.f[i] = point.f[i] + reach * step.df[i]
    for j in range(len(point.g)):
        into.g[j] = point.g[j] + reach * step.dg[j]


@compiled()
def _scale(values: Floats, change: Floats, reach: float, into: Floats) -> None:
    """Write values that have changed, relative to themselves, by a part of a change."""
    n, m = values.shape
    for i in range(n):
        for j in range(m):
            into[i, j] = values[i, j] * (1.0 + reach * change[i, j])


@compiled(any_order=True)
def _products(point: Point, a: Floats, b: Floats) -> tuple[float, float]:
    """Return the sum of P S, and the least X S as a share of it, which is 1 on the path."""
    ratio, slack, total, lows = point.ratio, point.slack, 0.0, np.empty(len(b))
    for j in range(len(b)):
        lows[j] = np.inf
    for i in range(len(a)):
        along = 0.0
        for j in range(len(b)):
            product = ratio[i, j] * slack[i, j]
            along += b[j] * product
            lows[j] = min(lows[j], product)
        total += a[i] * along
    return total, least_of(lows) / total


@compiled()
def least_of(values: Floats) -> float:
    """Return the smallest of the values."""
    least = np.inf
    for k in range(len(values)):
        least = min(least, values[k])
    return least


@compiled()
def fill(values: Floats, value: float) -> None:
    """Write one value everywhere."""
    n, m = values.shape
    for i in range(n):
        for j in range(m):
            values[i, j] = value
