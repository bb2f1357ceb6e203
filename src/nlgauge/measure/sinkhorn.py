"""Entropic transport in the log domain, for penalties of any size, and its debiased divergence.

    min_{P >= 0}  <C, P> + pa KL(P 1 | a) + pb KL(P^T 1 | b) + epsilon KL(P | Q)

The reference measure Q is a x b, or 1 for every pair of tokens: the second adds mass out of
nothing when the penalties are finite; the Lazy-EMD repository uses it.
With P = Q exp((f + g - C)/epsilon) the scaling step of one side is

    f = pa epsilon/(pa + epsilon) ln(a / K),      K_i = sum_j Q_ij exp((g_j - C_ij)/epsilon),

of which pa = inf (Sinkhorn) is a limit; a penalty of 0 has a closed form (one_sided.py). Its rate
tends to 1 for large penalties and small epsilon, so epsilon is halved step by step, and a damped
Newton step on the concave dual follows every second scaling. The linear system of such a step is

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

from nlgauge.core.arrays import Bools, Floats, Ints
from nlgauge.core.errors import NotConverged, OptionError
from nlgauge.measure.problem import Problem, Solution, normalised

Reference = Literal["product", "ones"]

TARGET_ERROR = 1e-10  # L1 error of the marginals at which the iteration stops
MAX_ERROR = 1e-8  # L1 error that counts as solved
MIN_EPSILON = 1e-12  # below, costs in units of epsilon overflow
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

    penalties: tuple[float, float]
    cost: Floats
    a: Floats
    b: Floats
    log_a: Floats  # ln a; 0 on padding
    log_b: Floats
    base: Floats  # ln Q; -inf on padding

    def select(self, kept: Bools) -> "_Batch":
        """Return the batch of some of the problems."""
        return _Batch(self.penalties, *(part[kept] for part in self[1:]))

    def plan(self, f: Floats, g: Floats, epsilon: float) -> Floats:
        """Return P = Q exp((f + g - C)/epsilon)."""
        tilt = (f[:, :, None] + g[:, None, :] - self.cost) / epsilon
        return np.asarray(np.exp(self.base + tilt))

    def implied(self, f: Floats, g: Floats) -> tuple[Floats, Floats]:
        """Return the marginals a exp(-f/pa) and b exp(-g/pb) that the potentials imply."""
        penalty_a, penalty_b = self.penalties
        return self.a * np.exp(-f / penalty_a), self.b * np.exp(-g / penalty_b)

    def misses(self, plan: Floats, f: Floats, g: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the implied marginals minus those of the plan, and the L1 norm of both."""
        implied_a, implied_b = self.implied(f, g)
        miss_a, miss_b = implied_a - plan.sum(axis=2), implied_b - plan.sum(axis=1)
        return miss_a, miss_b, np.abs(miss_a).sum(axis=1) + np.abs(miss_b).sum(axis=1)


def solve(
    problems: list[Problem], penalties: tuple[float, float], epsilon: float, reference: Reference
) -> list[Solution]:
    """Return the entropic solutions; their `residual` is the L1 error of the marginals."""
    return [one for one, _ in _solve(problems, penalties, epsilon, reference)]


def sinkhorn_divergence(
    cost: Floats, cost_a: Floats, cost_b: Floats, a: Floats, b: Floats, *, epsilon: float
) -> float:
    """Return OT(a, b) - OT(a, a)/2 - OT(b, b)/2 of entropic costs: 0 for equal clouds, never < 0.

    OT is <C, P> + epsilon KL(P | a x b) at the balanced optimum (Feydy et al. 2019, Eq. 3). Without
    the last two terms the cost of a cloud to itself would not be 0. `cost_a` and `cost_b` are the
    costs of each cloud to itself.
    """
    if not epsilon >= MIN_EPSILON:
        raise OptionError(
            f"epsilon must be at least {MIN_EPSILON:g} for a Sinkhorn divergence, got {epsilon}; "
            "match(cost, a, b) gives the exact distance."
        )
    a, b = normalised(a, len(a)), normalised(b, len(b))
    problems = [Problem(cost, a, b), Problem(cost_a, a, a), Problem(cost_b, b, b)]
    solved = _solve(problems, (math.inf, math.inf), epsilon, "product")
    error = max(one.residual for one, _ in solved)
    if not error <= MAX_ERROR:
        raise NotConverged(
            f"the Sinkhorn iteration stopped with marginals off by {error:.1e} "
            f"(wanted {MAX_ERROR:.0e}) at epsilon {epsilon}; try a larger epsilon."
        )
    between, within_a, within_b = (value for _, value in solved)
    return max(between - within_a / 2 - within_b / 2, 0.0)


def _solve(
    problems: list[Problem], penalties: tuple[float, float], epsilon: float, reference: Reference
) -> list[tuple[Solution, float]]:
    """Return each problem's solution, and <a, f> + <b, g> of its potentials."""
    solved: dict[int, tuple[Solution, float]] = {}
    for members, batch in _batches(problems, penalties, reference):
        f, g = np.zeros_like(batch.a), np.zeros_like(batch.b)
        # The first epsilon must not depend on the batch, or else scores would.
        warm = FIRST_EPSILON
        while warm > epsilon:
            f, g, _ = _newton(batch, *_scale(batch, f, g, warm), warm)
            warm /= 2
        f, g, errors, iterations = _iterate(batch, f, g, epsilon)
        plans = batch.plan(f, g, epsilon)
        values = (batch.a * f).sum(axis=1) + (batch.b * g).sum(axis=1)
        for row, index in enumerate(members):
            n, m = problems[index].cost.shape
            error, steps = float(errors[row]), int(iterations[row])
            solution = Solution(plans[row, :n, :m].copy(), error, steps, error <= MAX_ERROR)
            solved[index] = solution, float(values[row])
    return [solved[index] for index in range(len(problems))]


def _scale(batch: _Batch, f: Floats, g: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """Return the potentials after SCALINGS scalings of each side."""
    rate_a, rate_b = (  # penalty epsilon/(penalty + epsilon)
        epsilon if math.isinf(p) else p * epsilon / (p + epsilon) for p in batch.penalties
    )
    for _ in range(SCALINGS):
        f = rate_a * (batch.log_a - _soft(batch, g[:, None, :], epsilon, 2))
        g = rate_b * (batch.log_b - _soft(batch, f[:, :, None], epsilon, 1))
    return f, g


def _soft(batch: _Batch, other: Floats, epsilon: float, axis: int) -> Floats:
    """Return ln K of one side; 0 on padding."""
    tilt = batch.base + (other - batch.cost) / epsilon
    top = tilt.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    total = np.exp(tilt - top).sum(axis=axis)
    return np.where(total == 0, 0.0, np.log(np.where(total == 0, 1.0, total)) + top.squeeze(axis))


def _iterate(
    batch: _Batch, f: Floats, g: Floats, epsilon: float
) -> tuple[Floats, Floats, Floats, Ints]:
    """Return the best potentials, their errors and the scalings; solved ones leave the batch."""
    count = len(f)
    best_f, best_g = f.copy(), g.copy()
    errors, stale = np.full(count, np.inf), np.zeros(count, dtype=np.int64)
    iterations, running = np.zeros(count, dtype=np.int64), np.arange(count)
    for round_ in range(1, ROUNDS + 1):
        f, g, error = _newton(batch, *_scale(batch, f, g, epsilon), epsilon)
        better = error < errors[running]
        best_f[running[better]], best_g[running[better]] = f[better], g[better]
        errors[running[better]] = error[better]
        stale[running] = np.where(better, 0, stale[running] + 1)
        iterations[running] = round_ * SCALINGS
        stalled = (errors[running] <= MAX_ERROR) & (stale[running] >= PATIENCE)
        active = (error > TARGET_ERROR) & ~stalled
        if not active.any():
            break
        if not active.all():
            running, f, g, batch = running[active], f[active], g[active], batch.select(active)
    return best_f, best_g, errors, iterations


def _newton(batch: _Batch, f: Floats, g: Floats, epsilon: float) -> tuple[Floats, Floats, Floats]:
    """Return the potentials after a Newton step, where it helps, and their error."""
    plan = batch.plan(f, g, epsilon)
    miss_a, miss_b, error = batch.misses(plan, f, g)
    marginals = zip(batch.implied(f, g), batch.penalties, (batch.a, batch.b), strict=True)
    excess_a, excess_b = (x / penalty + (weights == 0) for x, penalty, weights in marginals)
    df, dg = _solve_system(plan / epsilon, excess_a, excess_b, miss_a, miss_b)
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
            new_error = batch.misses(batch.plan(new_f, new_g, epsilon), new_f, new_g)[2]
        good = waiting & (new_error < (1.0 - t / 4) * error)
        f, g = np.where(good[:, None], new_f, f), np.where(good[:, None], new_g, g)
        error, waiting, t = np.where(good, new_error, error), waiting & ~good, t / 2
    return f, g, error


def _solve_system(
    weights: Floats, excess_a: Floats, excess_b: Floats, ya: Floats, yb: Floats
) -> tuple[Floats, Floats]:
    """Return (df, dg) for W = weights [k, n, m], ha and hb, refined once."""
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
    products = scale[:, :, None] * scale[:, None, :]
    inverse = np.linalg.inv(reduced * products) * products

    def eliminate(ra: Floats, rb: Floats) -> tuple[Floats, Floats]:
        rb = rb - (ra[:, None, :] @ scaled)[:, 0, :]
        dg = (inverse @ rb[:, :, None])[:, :, 0]
        return (ra - (weights @ dg[:, :, None])[:, :, 0]) / rows, dg

    df, dg = eliminate(ya, yb)
    sums = weights * (df[:, :, None] + dg[:, None, :])
    ra, rb = ya - sums.sum(axis=2) - excess_a * df, yb - sums.sum(axis=1) - excess_b * dg
    more_f, more_g = eliminate(ra, rb)
    return df + more_f, dg + more_g


def _batches(
    problems: list[Problem], penalties: tuple[float, float], reference: Reference
) -> Iterator[tuple[list[int], _Batch]]:
    """Yield the problems in padded batches, with their numbers."""
    shapes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, problem in enumerate(problems):
        n, m = (-(-length // LENGTH_STEP) * LENGTH_STEP for length in problem.cost.shape)
        shapes[n, m].append(index)
    for (n, m), indices in shapes.items():
        size = max(1, BATCH_CELLS // (n * m))
        for members in (indices[start : start + size] for start in range(0, len(indices), size)):
            count = len(members)
            cost, a, b = np.zeros((count, n, m)), np.zeros((count, n)), np.zeros((count, m))
            for row, (matrix, mass_a, mass_b) in enumerate(problems[index] for index in members):
                cost[row, : len(mass_a), : len(mass_b)] = matrix
                a[row, : len(mass_a)], b[row, : len(mass_b)] = mass_a, mass_b
            log_a, log_b = (np.log(np.where(side > 0, side, 1.0)) for side in (a, b))
            weighed = log_a[:, :, None] + log_b[:, None, :] if reference == "product" else 0.0
            real = (a > 0)[:, :, None] & (b > 0)[:, None, :]
            base = np.where(real, weighed, -np.inf)
            yield members, _Batch(penalties, cost, a, b, log_a, log_b, base)
