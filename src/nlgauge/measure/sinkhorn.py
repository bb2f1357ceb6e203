"""Entropic transport in the log domain, for penalties of any size, and its debiased divergence.

    min_{P >= 0}  <C, P> + pa KL(P 1 | a) + pb KL(P^T 1 | b) + epsilon KL(P | Q)

The reference measure Q is a x b, or 1 for every pair of tokens: the second adds mass out of
nothing when the penalties are finite; the Lazy-EMD repository uses it.
With P = Q exp((f + g - C)/epsilon) the scaling step of one side is

    f = pa epsilon/(pa + epsilon) ln(a / K),      K_i = sum_j Q_ij exp((g_j - C_ij)/epsilon),

of which pa = inf (Sinkhorn) and pa = 0 (f = 0) are limits. Its rate tends to 1 for large penalties
and small epsilon, so epsilon is halved step by step, and a damped Newton step on the concave dual
follows every second scaling. The linear system of such a step is

    [ diag(W 1 + ha)        W         ] [df]   [ya]
    [      W^T        diag(W^T 1 + hb)] [dg] = [yb],    W = P / epsilon,  h = marginals / penalty.

Eliminating df leaves an M-matrix in dg, whose diagonal is computed as the sum of the other entries
plus a positive excess: subtraction would cancel all digits once entries of W reach 1e10.

Problems of different shapes are padded and solved in batches. The padded shape of a problem depends
on its own shape only, so a pair gets the same bits alone and in any corpus.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import NotConverged, OptionError
from nlgauge.measure.problem import Problem, Solution

Reference = Literal["product", "ones"]

TARGET_ERROR = 1e-10  # L1 error of the marginals at which the iteration stops
MAX_ERROR = 1e-8  # L1 error that counts as solved
FIRST_EPSILON = 0.25
ROUNDS = 2000
SCALINGS = 2  # in a round, before a Newton step
MAX_CHANGE = 8.0  # of a potential in one Newton step, in epsilons
HALVINGS = 6  # of a Newton step before it is rejected
PATIENCE = 20  # rounds without progress after which a solved problem is left
# A component of the support can be shifted (f + t, g - t) almost without cost when penalties are
# large; this relative excess keeps its pivot above rounding, and refinement corrects the bias.
EXCESS = 1e-14
LENGTH_STEP = 8  # lengths are padded to a multiple of this
BATCH_CELLS = 1 << 15  # matrix cells in one batch; a handful of such arrays fits into the L2 cache


class _Batch(NamedTuple):
    """Problems of one padded shape; a padded token has weight 0."""

    members: list[int]
    cost: Floats
    a: Floats
    b: Floats


class _Result(NamedTuple):
    """Couplings and potentials of a batch, and the L1 errors of the marginals."""

    coupling: Floats
    f: Floats
    g: Floats
    error: Floats
    iterations: NDArray[np.int64]


class _Problem(NamedTuple):
    """The problems still running; `base` is -inf on padding."""

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
    problems: list[Problem],
    penalty_a: float,
    penalty_b: float,
    epsilon: float,
    reference: Reference = "product",
) -> list[Solution]:
    """Return the entropic solutions; their `residual` is the L1 error of the marginals."""
    found: dict[int, Solution] = {}
    for batch in _batches(problems):
        result = _solve_batch(batch, (penalty_a, penalty_b), epsilon, reference)
        for row, index in enumerate(batch.members):
            n, m = problems[index].cost.shape
            error = float(result.error[row])
            coupling = result.coupling[row, :n, :m].copy()
            converged = error <= MAX_ERROR
            found[index] = Solution(coupling, error, int(result.iterations[row]), converged)
    return [found[index] for index in range(len(problems))]


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
    problems = [
        Problem(cost, first, second),
        Problem(cost_a, first, first),
        Problem(cost_b, second, second),
    ]
    for batch in _batches(problems):
        result = _solve_batch(batch, (math.inf, math.inf), epsilon, "product")
        if not (result.error <= MAX_ERROR).all():
            raise NotConverged(
                f"the Sinkhorn iteration stopped with marginals off by {result.error.max():.1e} "
                f"(wanted {MAX_ERROR:.0e}) at epsilon {epsilon}; try a larger epsilon."
            )
        values[batch.members] = (batch.a * result.f).sum(axis=1)
        values[batch.members] += (batch.b * result.g).sum(axis=1)
    return max(float(values[0] - values[1] / 2 - values[2] / 2), 0.0)


def _solve_batch(
    batch: _Batch, penalties: tuple[float, float], epsilon: float, reference: Reference
) -> _Result:
    """Return couplings and potentials, halving epsilon for a warm start."""
    log_a = np.log(np.where(batch.a > 0, batch.a, 1.0))
    log_b = np.log(np.where(batch.b > 0, batch.b, 1.0))
    real = (batch.a > 0)[:, :, None] & (batch.b > 0)[:, None, :]
    weighed = log_a[:, :, None] + log_b[:, None, :] if reference == "product" else 0.0
    problem = _Problem(batch.cost, batch.a, batch.b, log_a, log_b, np.where(real, weighed, -np.inf))
    f, g = np.zeros_like(batch.a), np.zeros_like(batch.b)
    # The first epsilon must not depend on the batch, or else scores would.
    warm = FIRST_EPSILON
    while warm > epsilon:
        f, g = _scale(problem, f, g, penalties, warm)
        f, g, _ = _newton(problem, f, g, penalties, warm)
        warm /= 2
    return _iterate(problem, f, g, penalties, epsilon)


def _scale(
    problem: _Problem, f: Floats, g: Floats, penalties: tuple[float, float], epsilon: float
) -> tuple[Floats, Floats]:
    """Return the potentials after SCALINGS scalings of each side."""
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
) -> _Result:
    """Scale and step until the marginals fit; a problem that is done leaves the batch."""
    count = len(f)
    best_f, best_g, whole = f.copy(), g.copy(), problem
    errors, stale = np.full(count, np.inf), np.zeros(count, dtype=np.int64)
    iterations, running = np.zeros(count, dtype=np.int64), np.arange(count)
    for round_ in range(1, ROUNDS + 1):
        f, g = _scale(problem, f, g, penalties, epsilon)
        f, g, error = _newton(problem, f, g, penalties, epsilon)
        better = error < errors[running]
        best_f[running[better]], best_g[running[better]] = f[better], g[better]
        errors[running[better]] = error[better]
        stale[running] = np.where(better, 0, stale[running] + 1)
        iterations[running] = round_ * SCALINGS
        keep = (error > TARGET_ERROR) & ~(
            (errors[running] <= MAX_ERROR) & (stale[running] >= PATIENCE)
        )
        if not keep.any():
            break
        if not keep.all():
            running, f, g = running[keep], f[keep], g[keep]
            problem = _Problem(*(part[keep] for part in problem))
    coupling = whole.plan(best_f, best_g, epsilon)
    return _Result(coupling, best_f, best_g, errors, iterations)


def _newton(
    problem: _Problem, f: Floats, g: Floats, penalties: tuple[float, float], epsilon: float
) -> tuple[Floats, Floats, Floats]:
    """Return the potentials after a Newton step, where it helps, and their error."""
    plan = problem.plan(f, g, epsilon)
    miss_a, miss_b = _misses(problem, plan, f, g, penalties)
    error = np.abs(miss_a).sum(axis=1) + np.abs(miss_b).sum(axis=1)
    if min(penalties) == 0:  # with a penalty of 0 one scaling is exact
        return f, g, np.zeros(len(f))
    system = _factor(
        plan / epsilon,
        _implied(problem.a, f, penalties[0]) / penalties[0] + (problem.a == 0),
        _implied(problem.b, g, penalties[1]) / penalties[1] + (problem.b == 0),
    )
    df, dg = system.solve(miss_a, miss_b)
    # Weakly connected parts of the support would shift by far too much, because the derivative of
    # exp is tiny there, so changes are bounded. For small t the misses shrink like 1 - t along
    # Newton's direction: halve t until they do.
    longest = np.maximum(np.abs(df).max(axis=1), np.abs(dg).max(axis=1))
    t = np.minimum(1.0, MAX_CHANGE * epsilon / np.maximum(longest, epsilon))
    waiting = error > TARGET_ERROR
    for _ in range(HALVINGS):
        if not waiting.any():
            break
        new_f, new_g = f + t[:, None] * df, g + t[:, None] * dg
        with np.errstate(over="ignore", invalid="ignore"):  # such a step is rejected
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
    """Return the marginals that the potentials imply minus those of the plan."""
    return (
        _implied(problem.a, f, penalties[0]) - plan.sum(axis=2),
        _implied(problem.b, g, penalties[1]) - plan.sum(axis=1),
    )


def _implied(weights: Floats, potential: Floats, penalty: float) -> Floats:
    """Return the marginal a exp(-f/pa) that a potential implies."""
    if penalty == 0:
        return np.zeros_like(weights)
    marginal: Floats = weights * np.exp(-potential / penalty)
    return marginal


class _System(NamedTuple):
    """The factored Newton systems of a batch."""

    weights: Floats
    rows: Floats
    scaled: Floats
    inverse: Floats
    excess_a: Floats
    excess_b: Floats

    def solve(self, ya: Floats, yb: Floats) -> tuple[Floats, Floats]:
        """Return (df, dg), refined once against the unreduced system."""
        df, dg = self._reduced(ya, yb)
        sums = self.weights * (df[:, :, None] + dg[:, None, :])
        more_f, more_g = self._reduced(
            ya - sums.sum(axis=2) - self.excess_a * df, yb - sums.sum(axis=1) - self.excess_b * dg
        )
        return df + more_f, dg + more_g

    def _reduced(self, ya: Floats, yb: Floats) -> tuple[Floats, Floats]:
        right = yb - (ya[:, None, :] @ self.scaled)[:, 0, :]
        dg = (self.inverse @ right[:, :, None])[:, :, 0]
        df = (ya - (self.weights @ dg[:, :, None])[:, :, 0]) / self.rows
        return df, dg


def _factor(weights: Floats, excess_a: Floats, excess_b: Floats) -> _System:
    """Return the factored system of W = weights [k, n, m], ha [k, n] and hb [k, m]."""
    tiny = np.finfo(np.float64).tiny  # a row may be so expensive that all its entries underflow
    rows = np.maximum(weights.sum(axis=2) + excess_a, tiny)
    scaled = weights / rows[:, :, None]
    reduced = -(scaled.transpose(0, 2, 1) @ weights)
    diagonal = np.arange(reduced.shape[1])
    reduced[:, diagonal, diagonal] = 0.0
    others = -reduced.sum(axis=2)
    excess = excess_b + (excess_a[:, None, :] @ scaled)[:, 0, :]
    # A component of two tokens has no pivot at all.
    floor = np.maximum(EXCESS * others, np.maximum(1e-20 * weights.sum(axis=1), tiny))
    reduced[:, diagonal, diagonal] = others + np.maximum(excess, floor)
    # Weights of tokens may differ by ten orders of magnitude: scale to a unit diagonal first.
    scale = 1.0 / np.sqrt(reduced[:, diagonal, diagonal])
    both = scale[:, :, None] * scale[:, None, :]
    return _System(weights, rows, scaled, np.linalg.inv(reduced * both) * both, excess_a, excess_b)


def _batches(problems: list[Problem]) -> Iterator[_Batch]:
    """Yield the problems in padded batches."""
    shapes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, problem in enumerate(problems):
        n, m = (-(-length // LENGTH_STEP) * LENGTH_STEP for length in problem.cost.shape)
        shapes[n, m].append(index)
    for (n, m), found in shapes.items():
        size = max(1, BATCH_CELLS // (n * m))
        for start in range(0, len(found), size):
            members = found[start : start + size]
            count = len(members)
            batch = _Batch(
                members, np.zeros((count, n, m)), np.zeros((count, n)), np.zeros((count, m))
            )
            for row, index in enumerate(members):
                cost, a, b = problems[index]
                batch.cost[row, : len(a), : len(b)] = cost
                batch.a[row, : len(a)] = a
                batch.b[row, : len(b)] = b
            yield batch
