"""Entropic transport in the log domain, for penalties of any size, and its debiased divergence.

    min_{P >= 0}  <C, P> + pa KL(P 1 | a) + pb KL(P^T 1 | b) + epsilon KL(P | Q)

The reference measure Q is a x b, or 1 for every pair of tokens: the second adds mass out of
nothing when the penalties are finite, and is here because the Lazy-EMD repository uses it.
With P = Q exp((f + g - C)/epsilon) the scaling step of one side is

    f = pa epsilon/(pa + epsilon) ln(a / K),      K_i = sum_j Q_ij exp((g_j - C_ij)/epsilon),

of which pa = inf (Sinkhorn) and pa = 0 (f = 0) are limits. Its rate tends to 1 for large penalties
and small epsilon; so epsilon is lowered by halves, and damped Newton steps on the concave dual
follow every second scaling.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from nlgauge.core.errors import NotConverged, OptionError
from nlgauge.core.plan import Floats
from nlgauge.measure.kkt import factor
from nlgauge.measure.padded_batches import Solution, Stack, stacks

Reference = Literal["product", "ones"]

AIM = 1e-10  # L1 error of the marginals that the iteration tries to reach
ERROR = 1e-8  # L1 error that counts as solved
WARM = 0.25  # first epsilon on the way down
ROUNDS = 2000
SCALINGS = 2  # in a round, before a Newton step
LEAP = 8.0  # longest move of a potential in one Newton step, in epsilons
HALVINGS = 6  # of a Newton step before it is given up for this round
PATIENCE = 20  # rounds without progress after which a solved problem is left as it is


class _Problem(NamedTuple):
    """What is given, for the problems still running; padding has logarithm -inf in `base`."""

    cost: Floats
    a: Floats
    b: Floats
    log_a: Floats  # ln a; 0 on padding
    log_b: Floats
    base: Floats  # ln Q

    def plan(self, f: Floats, g: Floats, epsilon: float) -> Floats:
        """Return P = Q exp((f + g - C)/epsilon)."""
        tilt = (f[:, :, None] + g[:, None, :] - self.cost) / epsilon
        coupling: Floats = np.exp(self.base + tilt)
        return coupling


def solve(
    stack: Stack,
    penalty_a: float,
    penalty_b: float,
    epsilon: float,
    reference: Reference = "product",
) -> Solution:
    """Return the entropic couplings of a stack; `residual` is the L1 error of the marginals."""
    found, _, _ = _potentials(stack, (penalty_a, penalty_b), epsilon, reference)
    return found


def sinkhorn_divergence(
    cost: Floats, cost_a: Floats, cost_b: Floats, a: Floats, b: Floats, *, epsilon: float
) -> float:
    """Return OT(a, b) - OT(a, a)/2 - OT(b, b)/2 of entropic costs: 0 for equal clouds, never < 0.

    OT is <C, P> + epsilon KL(P | a x b) at the balanced optimum (Feydy et al. 2019, Eq. 3). Without
    the last two terms the cost of a cloud to itself would not be 0. `cost_a` and `cost_b` are the
    costs of each cloud to itself.
    """
    if not epsilon > 0:
        raise OptionError(
            f"epsilon must be above 0 for a Sinkhorn divergence, got {epsilon}; "
            "match(cost, a, b) gives the exact distance."
        )
    values = np.zeros(3)
    first, second = np.asarray(a, float), np.asarray(b, float)
    first, second = first / first.sum(), second / second.sum()
    for stack in stacks([cost, cost_a, cost_b], [first, first, second], [second, first, second]):
        found, f, g = _potentials(stack, (math.inf, math.inf), epsilon, "product")
        if not found.converged.all():
            raise NotConverged(
                f"the Sinkhorn iteration stopped with marginals off by {found.residual.max():.1e} "
                f"(wanted {ERROR:.0e}) at epsilon {epsilon}; try a larger epsilon."
            )
        values[stack.members] = (stack.a * f).sum(axis=1) + (stack.b * g).sum(axis=1)
    return max(float(values[0] - values[1] / 2 - values[2] / 2), 0.0)


def _potentials(
    stack: Stack, penalties: tuple[float, float], epsilon: float, reference: Reference
) -> tuple[Solution, Floats, Floats]:
    """Return couplings and potentials, lowering epsilon by halves as a warm start."""
    log_a = np.log(np.where(stack.a > 0, stack.a, 1.0))
    log_b = np.log(np.where(stack.b > 0, stack.b, 1.0))
    real = (stack.a > 0)[:, :, None] & (stack.b > 0)[:, None, :]
    weighed = log_a[:, :, None] + log_b[:, None, :] if reference == "product" else 0.0
    problem = _Problem(stack.cost, stack.a, stack.b, log_a, log_b, np.where(real, weighed, -np.inf))
    f, g = np.zeros_like(stack.a), np.zeros_like(stack.b)
    # The ladder starts at a fixed value: one that depends on the stack would make scores depend on
    # their company.
    warm = WARM
    while warm > epsilon:
        f, g = _scale(problem, f, g, penalties, warm)
        f, g, _ = _newton(problem, f, g, penalties, warm)
        warm /= 2
    return _iterate(problem, f, g, penalties, epsilon)


def _scale(
    problem: _Problem, f: Floats, g: Floats, penalties: tuple[float, float], epsilon: float
) -> tuple[Floats, Floats]:
    """Return the potentials after some scalings of either side."""
    rate_a, rate_b = (_step(penalty, epsilon) for penalty in penalties)
    for _ in range(SCALINGS):
        f = rate_a * (problem.log_a - _soft(problem, g[:, None, :], epsilon, 2))
        g = rate_b * (problem.log_b - _soft(problem, f[:, :, None], epsilon, 1))
    return f, g


def _step(penalty: float, epsilon: float) -> float:
    """Return penalty epsilon/(penalty + epsilon)."""
    return epsilon if math.isinf(penalty) else penalty * epsilon / (penalty + epsilon)


def _soft(problem: _Problem, other: Floats, epsilon: float, axis: int) -> Floats:
    """Return ln K of one side; 0 on padding."""
    tilt = problem.base + (other - problem.cost) / epsilon
    top = tilt.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    total = np.exp(tilt - top).sum(axis=axis)
    padded = total == 0
    logs: Floats = np.log(np.where(padded, 1.0, total)) + np.where(padded, 0.0, top.squeeze(axis))
    return logs


def _iterate(
    problem: _Problem, f: Floats, g: Floats, penalties: tuple[float, float], epsilon: float
) -> tuple[Solution, Floats, Floats]:
    """Scale and step until the marginals fit; a problem that is done leaves the stack."""
    count = len(f)
    best_f, best_g, whole = f.copy(), g.copy(), problem
    errors, stale = np.full(count, np.inf), np.zeros(count, dtype=np.int64)
    iterations, running = np.zeros(count, dtype=np.int64), np.arange(count)
    for turn in range(1, ROUNDS + 1):
        f, g = _scale(problem, f, g, penalties, epsilon)
        f, g, error = _newton(problem, f, g, penalties, epsilon)
        better = error < errors[running]
        best_f[running[better]], best_g[running[better]] = f[better], g[better]
        errors[running[better]] = error[better]
        stale[running] = np.where(better, 0, stale[running] + 1)
        iterations[running] = turn * SCALINGS
        keep = (error > AIM) & ~((errors[running] <= ERROR) & (stale[running] >= PATIENCE))
        if not keep.any():
            break
        if not keep.all():
            running, f, g = running[keep], f[keep], g[keep]
            problem = _Problem(*(part[keep] for part in problem))
    coupling = whole.plan(best_f, best_g, epsilon)
    return Solution(coupling, errors, iterations, errors <= ERROR), best_f, best_g


def _newton(
    problem: _Problem, f: Floats, g: Floats, penalties: tuple[float, float], epsilon: float
) -> tuple[Floats, Floats, Floats]:
    """Return the potentials after a Newton step, where it helps, and the error they leave."""
    plan = problem.plan(f, g, epsilon)
    miss_a, miss_b = _misses(problem, plan, f, g, penalties)
    error = np.abs(miss_a).sum(axis=1) + np.abs(miss_b).sum(axis=1)
    if min(penalties) == 0:  # a free side makes one scaling exact
        return f, g, np.zeros(len(f))
    system = factor(
        plan / epsilon,
        _wanted(problem.a, f, penalties[0]) / penalties[0] + (problem.a == 0),
        _wanted(problem.b, g, penalties[1]) / penalties[1] + (problem.b == 0),
    )
    df, dg = system.solve(miss_a, miss_b)
    # Parts of the support that hardly touch want to shift by far too much, because the derivative
    # of exp is tiny there: no potential moves by more than LEAP epsilon. Then the misses shrink
    # like 1 - t along Newton's direction at first: halve t until they do.
    longest = np.maximum(np.abs(df).max(axis=1), np.abs(dg).max(axis=1))
    t = np.minimum(1.0, LEAP * epsilon / np.maximum(longest, epsilon))
    waiting = error > AIM
    for _ in range(HALVINGS):
        if not waiting.any():
            break
        new_f, new_g = f + t[:, None] * df, g + t[:, None] * dg
        with np.errstate(over="ignore", invalid="ignore"):  # a step too far is not taken
            plan = problem.plan(new_f, new_g, epsilon)
            left_a, left_b = _misses(problem, plan, new_f, new_g, penalties)
            left = np.abs(left_a).sum(axis=1) + np.abs(left_b).sum(axis=1)
        good = waiting & (left < (1.0 - t / 4) * error)
        f, g = np.where(good[:, None], new_f, f), np.where(good[:, None], new_g, g)
        error, waiting, t = np.where(good, left, error), waiting & ~good, t / 2
    return f, g, error


def _misses(
    problem: _Problem, plan: Floats, f: Floats, g: Floats, penalties: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return what the marginals of a plan lack of those that the potentials call for."""
    return (
        _wanted(problem.a, f, penalties[0]) - plan.sum(axis=2),
        _wanted(problem.b, g, penalties[1]) - plan.sum(axis=1),
    )


def _wanted(weights: Floats, potential: Floats, penalty: float) -> Floats:
    """Return the marginal a exp(-f/pa) that a potential calls for."""
    if penalty == 0:
        return np.zeros_like(weights)
    called: Floats = weights * np.exp(-potential / penalty)
    return called
