"""Exact unbalanced transport with Kullback-Leibler penalties, solved to a certified duality gap.

    min_{P >= 0}  <C, P> + pa KL(P 1 | a) + pb KL(P^T 1 | b),     KL(x|y) = sum x ln(x/y) - x + y
    max_{f + g <= C}  -pa sum a (exp(-f/pa) - 1) - pb sum b (exp(-g/pb) - 1)

An infinite penalty turns its dual term into <a, f>. Any P >= 0 and any f + g <= C bracket the
optimum, so the difference of the two values is a proof, not a heuristic. Scaling (Sinkhorn) and
majorisation-minimisation converge linearly with a rate that tends to 1 for large penalties; a
primal-dual interior-point method with Mehrotra's corrector needs about 10 Newton steps for all of
them. Its equations, with slack S = C - f - g,

    f = -pa ln(P 1 / a),   g = -pb ln(P^T 1 / b),   P * S = mu (a x b),   mu -> 0,

follow the path weighted by a x b rather than by 1: the start P = a x b is then nearly central, and
tokens of tiny weight do not slow the others down.

Where numba is installed, interior.py solves the problems one by one in machine code, large ones
too. Here is the same method in numpy, over stacks, for what is left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from nlgauge.core.plan import Floats
from nlgauge.measure.kkt import factor
from nlgauge.measure.padded_batches import Counts, Solution, Stack

Rates = tuple[float, float]  # 1/pa and 1/pb; 0 for an infinite penalty

GAP = 1e-10  # certified gap, relative to _Problem.scale, that counts as solved
AIM = 1e-12  # gap that the iteration tries to reach
# The gap bounds the objective; its square root would bound the marginals. The path ends only when
# they also agree with the potentials, in L1, so that <C, P> is as exact as the objective.
DRIFT = 1e-11
# Below this, P/S outgrows what float64 can solve, and nothing is gained.
FLOOR = 2e-13
KEPT = 1e-4  # least share of the mass that a start moves
RATIO = 1e-4  # costs below this share of a penalty are too small to be told from its rounding
SHORTENINGS = 8
PATIENCE = 5  # steps without progress after which a solved problem is left as it is


class _Style(NamedTuple):
    """How boldly to walk along the central path."""

    steps: int  # Newton steps at most
    corrector: float  # share of Mehrotra's second-order correction
    centring: float  # least share of mu to aim at
    edge: float  # share of the way to the boundary that a step may go
    central: float  # least product P S, relative to its place on the central path


BOLD = _Style(steps=60, corrector=1.0, centring=0.0, edge=0.99, central=1e-4)
CAREFUL = _Style(steps=400, corrector=0.0, centring=0.3, edge=0.9, central=0.1)


class Single(NamedTuple):
    """The coupling of one problem, its certified gap and the Newton steps it took."""

    coupling: Floats
    gap: float
    iterations: int


class _Problem(NamedTuple):
    """What is given, for the problems still running."""

    cost: Floats
    a: Floats
    b: Floats
    pad_a: Floats  # 1 where a row is padding
    pad_b: Floats
    dead: Floats  # 1 where a row or a column is padding
    live: Floats  # 1 - dead
    base: Floats  # a x b
    spread: Floats  # a x b, 1 on padding
    scale: Floats  # largest cost, or RATIO of the larger finite penalty


class _Point(NamedTuple):
    """Where the iteration stands."""

    plan: Floats
    slack: Floats
    f: Floats
    g: Floats


class _State(NamedTuple):
    """What follows from a point: marginals, their log ratios to a and b, distance from the end."""

    r: Floats
    c: Floats
    log_r: Floats
    log_c: Floats
    gap: Floats
    drift: Floats


def solve_singly(
    costs: Sequence[Floats],
    a: Sequence[Floats],
    b: Sequence[Floats],
    penalty_a: float,
    penalty_b: float,
) -> list[Single | None]:
    """Return what machine code solves; None for what it does not: rare, but for extreme weights.

    Without numba it solves nothing.
    """
    machine = _machine() if costs else None
    if machine is None:
        return [None] * len(costs)
    couplings, gaps, steps, solved = machine.solve_all(
        np.concatenate([cost.ravel() for cost in costs]),
        np.concatenate(a),
        np.concatenate(b),
        np.array([cost.shape for cost in costs]),
        (1.0 / penalty_a, 1.0 / penalty_b),
        _least_scale(penalty_a, penalty_b),
        machine.Rules(GAP, AIM, DRIFT, FLOOR, KEPT, SHORTENINGS, PATIENCE, *BOLD),
    )
    found: list[Single | None] = []
    end = 0
    for k, cost in enumerate(costs):
        start, end = end, end + cost.size
        coupling = couplings[start:end].reshape(cost.shape).copy()
        found.append(Single(coupling, float(gaps[k]), int(steps[k])) if solved[k] else None)
    return found


@cache
def _machine() -> Any:
    """Return the room of the method in machine code, if numba is installed."""
    try:
        from nlgauge.measure import interior
    except ImportError:
        return None
    return interior


def _least_scale(penalty_a: float, penalty_b: float) -> float:
    """Return RATIO of the larger finite penalty."""
    return max((RATIO * p for p in (penalty_a, penalty_b) if p < math.inf), default=0.0)


def solve(stack: Stack, penalty_a: float, penalty_b: float) -> Solution:
    """Return the couplings of a stack for penalties > 0, of which at most one is infinite."""
    if stack.cost.shape[2] > stack.cost.shape[1]:  # the Newton system has the size of the columns
        turned = Stack(stack.members, stack.cost.transpose(0, 2, 1).copy(), stack.b, stack.a)
        found = solve(turned, penalty_b, penalty_a)
        return found._replace(coupling=found.coupling.transpose(0, 2, 1))
    rates = (1.0 / penalty_a, 1.0 / penalty_b)
    pad_a, pad_b = (stack.a == 0).astype(np.float64), (stack.b == 0).astype(np.float64)
    base = stack.a[:, :, None] * stack.b[:, None, :]
    dead = np.maximum(pad_a[:, :, None], pad_b[:, None, :])
    problem = _Problem(
        stack.cost,
        stack.a,
        stack.b,
        pad_a,
        pad_b,
        dead,
        1.0 - dead,
        base,
        base + dead,
        np.maximum(stack.cost.max(axis=(1, 2)), _least_scale(penalty_a, penalty_b)),
    )
    coupling, gap, iterations = _run(problem, rates, BOLD)
    failed = ~(gap <= GAP * problem.scale)
    if failed.any():  # one in thousands, of extreme weights or penalties
        again = _Problem(*(part[failed] for part in problem))
        coupling[failed], gap[failed], more = _run(again, rates, CAREFUL)
        iterations[failed] += more
    return Solution(coupling, gap, iterations, gap <= GAP * problem.scale)


def _run(problem: _Problem, rates: Rates, style: _Style) -> tuple[Floats, Floats, Counts]:
    """Return the couplings, their certified gaps and the Newton steps of one walk."""
    # A walk that leaves the numbers behind ends without a certificate, and says so.
    with np.errstate(all="ignore"):
        point, iterations = _follow(problem, _start(problem, rates), rates, style)
        return (*_finish(problem, point, rates), iterations)


def _start(problem: _Problem, rates: Rates) -> _Point:
    """Return a strictly feasible point: shares of the row and column minima, less a margin."""
    barred = np.where(problem.dead > 0, np.inf, problem.cost)
    low_a = np.where(problem.pad_a > 0, 0.0, barred.min(axis=2))
    low_b = np.where(problem.pad_b > 0, 0.0, barred.min(axis=1))
    mean = (problem.cost * problem.base).sum(axis=(1, 2))
    margin = (0.1 * mean + 1e-3 * problem.scale)[:, None]
    share = rates[1] / (rates[0] + rates[1])  # the stiffer side carries more of the potential
    f = share * (low_a - margin) * (1.0 - problem.pad_a)
    g = (1.0 - share) * (low_b - margin) * (1.0 - problem.pad_b)
    slack = np.where(problem.dead > 0, 1.0, problem.cost - f[:, :, None] - g[:, None, :])
    # One token against one keeps exp(-c/(pa+pb)); an infinite penalty gives 1 and so P 1 = a.
    lowest = ((low_a * problem.a).sum(axis=1) + (low_b * problem.b).sum(axis=1)) / 2
    kept = np.exp(-lowest * rates[0] * rates[1] / (rates[0] + rates[1]))
    # A start with next to no mass is far from the central path, whatever the end looks like.
    return _Point(problem.base * np.maximum(kept, KEPT)[:, None, None], slack, f, g)


def _follow(problem: _Problem, point: _Point, rates: Rates, style: _Style) -> tuple[_Point, Counts]:
    """Return the best point on the central path of each problem, and the Newton steps it took."""
    best = _Point(*(part.copy() for part in point))
    count = len(problem.scale)
    merits, stale = np.full(count, np.inf), np.zeros(count, dtype=np.int64)
    iterations, running = np.zeros(count, dtype=np.int64), np.arange(count)
    for step in range(style.steps + 1):
        state = _examine(problem, point, rates)
        merit = np.maximum(state.gap / (AIM * problem.scale), state.drift / DRIFT)
        better = merit < merits[running]
        for kept, new in zip(best, point, strict=True):
            kept[running[better]] = new[better]
        merits[running[better]] = merit[better]
        stale[running] = np.where(better, 0, stale[running] + 1)
        iterations[running] = step
        solved = merits[running] <= GAP / AIM
        keep = (merit > 1.0) & ~(solved & (stale[running] >= PATIENCE))
        if step == style.steps or not keep.any():
            break
        if not keep.all():
            running = running[keep]
            problem = _Problem(*(part[keep] for part in problem))
            point = _Point(*(part[keep] for part in point))
            state = _State(*(part[keep] for part in state))
        point = _advance(problem, point, state, rates, style)
    return best, iterations


def _examine(problem: _Problem, point: _Point, rates: Rates) -> _State:
    """Return the marginals of a point and its distance from optimality."""
    r = point.plan.sum(axis=2) + problem.pad_a
    c = point.plan.sum(axis=1) + problem.pad_b
    log_r = _log_ratio(r, problem.a + problem.pad_a)
    log_c = _log_ratio(c, problem.b + problem.pad_b)
    value = np.einsum("kij,kij->k", problem.cost, point.plan)
    primal = value + _penalty(r, log_r, problem.a + problem.pad_a, rates[0])
    primal += _penalty(c, log_c, problem.b + problem.pad_b, rates[1])
    dual = _bound(point.f, problem.a, rates[0]) + _bound(point.g, problem.b, rates[1])
    drift = (r * np.abs(log_r + point.f * rates[0])).sum(axis=1)
    drift += (c * np.abs(log_c + point.g * rates[1])).sum(axis=1)
    return _State(r, c, log_r, log_c, primal - dual, drift)


def _log_ratio(x: Floats, y: Floats) -> Floats:
    """Return ln(x/y), accurate also where x and y differ by rounding only."""
    ratio = x / y
    near = np.maximum((x - y) / y, -0.5)
    logs: Floats = np.where(ratio > 0.5, np.log1p(near), np.log(ratio))
    return logs


def _penalty(x: Floats, log_ratio: Floats, y: Floats, rate: float) -> Floats:
    """Return KL(x|y) / rate for each problem; 0 for an infinite penalty, which holds exactly."""
    if rate == 0:
        return np.zeros(len(x))
    total: Floats = (x * log_ratio - (x - y)).sum(axis=1) / rate
    return total


def _bound(potential: Floats, weights: Floats, rate: float) -> Floats:
    """Return one side's term of the dual value."""
    if rate == 0:
        linear: Floats = (weights * potential).sum(axis=1)
        return linear
    total: Floats = -(weights * np.expm1(-potential * rate)).sum(axis=1) / rate
    return total


def _advance(
    problem: _Problem, point: _Point, state: _State, rates: Rates, style: _Style
) -> _Point:
    """Return the next point: Mehrotra's predictor, then the centred and corrected Newton step."""
    system = factor(
        point.plan / point.slack,
        state.r * rates[0] + problem.pad_a,
        state.c * rates[1] + problem.pad_b,
    )
    pull_a = -state.r * (rates[0] * point.f + state.log_r)
    pull_b = -state.c * (rates[1] * point.g + state.log_c)

    def newton(target: Floats) -> _Point:
        """Solve P dS + S dP = target together with the linearised marginal equations."""
        push = target / point.slack
        df, dg = system.solve(pull_a - push.sum(axis=2), pull_b - push.sum(axis=1))
        rise = -(df[:, :, None] + dg[:, None, :]) * problem.live
        return _Point(push - system.weights * rise, rise, df, dg)

    product = point.plan * point.slack * problem.live
    mu = product.sum(axis=(1, 2))
    guess = newton(-product)
    reach = np.minimum(1.0, _room(problem, point, guess))[:, None, None]
    ahead = (point.plan + reach * guess.plan) * (point.slack + reach * guess.slack)
    after = (ahead * problem.live).sum(axis=(1, 2))
    centre = np.maximum(np.minimum(after / mu, 1.0) ** 3, style.centring) * mu
    centre = np.maximum(centre, np.minimum(mu, FLOOR * problem.scale))[:, None, None]
    bend = style.corrector * guess.plan * guess.slack
    step = newton(centre * problem.base - product - bend)
    # Near the end the step may come as close to the boundary as the gap is to 0.
    edge = np.clip(1.0 - state.gap, style.edge, 1.0 - 1e-4)
    reach = np.minimum(1.0, edge * _room(problem, point, step))
    return _stride(problem, point, step, reach, style)


def _stride(problem: _Problem, point: _Point, step: _Point, reach: Floats, style: _Style) -> _Point:
    """Return the point a step away, shortened where a product P S would fall behind the others.

    Without this Mehrotra's method may cycle close to the boundary (on degenerate problems, such as
    19 tokens against 38 of half their weight).
    """
    bound = np.minimum(style.central, 0.5 * _centrality(problem, point.plan, point.slack))
    for _ in range(SHORTENINGS):
        flat, deep = reach[:, None], reach[:, None, None]
        plan, slack = point.plan + deep * step.plan, point.slack + deep * step.slack
        behind = _centrality(problem, plan, slack) < bound
        if not behind.any():
            break
        reach = np.where(behind, 0.7 * reach, reach)
    return _Point(plan, slack, point.f + flat * step.f, point.g + flat * step.g)


def _centrality(problem: _Problem, plan: Floats, slack: Floats) -> Floats:
    """Return the least product P S as a share of what it would be on the central path."""
    product = plan * slack
    least = np.where(problem.dead > 0, np.inf, product / problem.spread).min(axis=(1, 2))
    share: Floats = least / (product * problem.live).sum(axis=(1, 2))
    return share


def _room(problem: _Problem, point: _Point, step: _Point) -> Floats:
    """Return the largest step that keeps plan and slack non-negative."""
    fall = np.minimum(
        (step.plan / (point.plan + problem.dead)).min(axis=(1, 2)),
        (step.slack / point.slack).min(axis=(1, 2)),
    )
    room: Floats = 1.0 / np.maximum(-fall, 1e-12)
    return room


def _finish(problem: _Problem, point: _Point, rates: Rates) -> tuple[Floats, Floats]:
    """Return couplings with exact zeros where the certificate allows it, and their certified gaps.

    On an optimal support the plan is large and the slack tiny, elsewhere the reverse. Dropping the
    rest makes equal texts cost exactly 0 and alignments readable.
    """
    f = np.where(problem.pad_a > 0, 0.0, point.f)
    reach = f[:, :, None] + point.g[:, None, :]
    excess = np.where(problem.dead > 0, 0.0, reach - problem.cost).max(axis=(1, 2))
    f = f - np.maximum(excess, 0.0)[:, None] * (1.0 - problem.pad_a)  # rounding may cross C
    bounded = point._replace(f=f)
    support = point.plan * problem.scale[:, None, None] >= point.slack * problem.base
    full = _tight(problem, point.plan, rates)
    thin = _tight(problem, np.where(support, point.plan, 0.0), rates)
    gap_full = _examine(problem, bounded._replace(plan=full), rates).gap
    # A row may have lost all its mass; then this gap is not a number, and not chosen.
    gap_thin = _examine(problem, bounded._replace(plan=thin), rates).gap
    good = gap_thin <= np.maximum(gap_full, AIM * problem.scale)
    coupling = np.where(good[:, None, None], thin, full)
    return coupling, np.maximum(np.where(good, gap_thin, gap_full), 0.0)


def _tight(problem: _Problem, plan: Floats, rates: Rates) -> Floats:
    """Return the plan with the marginal of an infinite penalty met to the last bit or two."""
    if rates[0] == 0:
        sums = plan.sum(axis=2)
        plan = plan * np.divide(problem.a, sums, out=np.ones_like(sums), where=sums > 0)[:, :, None]
    if rates[1] == 0:
        sums = plan.sum(axis=1)
        plan = plan * np.divide(problem.b, sums, out=np.ones_like(sums), where=sums > 0)[:, None, :]
    return plan
