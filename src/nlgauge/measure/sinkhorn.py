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

Problems of different shapes are padded and solved in batches, on the device of `solving_on`. After
every round the host reads one error per problem, which tells when to stop, and nothing else.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from nlgauge.core.arrays import Floats, Ints
from nlgauge.core.device import HOST, Array, Device, current_device
from nlgauge.core.errors import NotConverged, OptionError
from nlgauge.measure.batches import padded
from nlgauge.measure.cost import SNAP
from nlgauge.measure.problem import Problem, Solution

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
TINY = float(np.finfo(np.float64).tiny)


class _Batch(NamedTuple):
    """Problems of one padded shape; a padded token has weight 0."""

    device: Device
    penalties: tuple[float, float]
    cost: Array
    a: Array
    b: Array
    log_a: Array  # ln a; 0 on padding
    log_b: Array
    base: Array  # ln Q; -inf on padding

    def select(self, kept: Ints) -> "_Batch":
        """Return the batch of some of the problems."""
        return _Batch(self.device, self.penalties, *(part[kept] for part in self[2:]))

    def plan(self, f: Array, g: Array, epsilon: float) -> Array:
        """Return P = Q exp((f + g - C)/epsilon)."""
        tilt = (f[:, :, None] + g[:, None, :] - self.cost) / epsilon
        return self.device.library.exp(self.base + tilt)

    def implied(self, f: Array, g: Array) -> tuple[Array, Array]:
        """Return the marginals a exp(-f/pa) and b exp(-g/pb) that the potentials imply."""
        (penalty_a, penalty_b), exp = self.penalties, self.device.library.exp
        return self.a * exp(-f / penalty_a), self.b * exp(-g / penalty_b)


def _misses(plan: Array, implied: tuple[Array, Array]) -> tuple[Array, Array, Array]:
    """Return the implied marginals minus those of the plan, and the L1 norm of both."""
    miss_a, miss_b = implied[0] - plan.sum(axis=2), implied[1] - plan.sum(axis=1)
    return miss_a, miss_b, abs(miss_a).sum(axis=1) + abs(miss_b).sum(axis=1)


class _Solved(NamedTuple):
    """A batch with the numbers of its problems, its potentials, errors and scalings."""

    members: list[int]
    batch: _Batch
    f: Array
    g: Array
    errors: Floats
    iterations: Ints


def solve(
    problems: list[Problem], penalties: tuple[float, float], epsilon: float, reference: Reference
) -> list[Solution]:
    """Return the entropic solutions; their `residual` is the L1 error of the marginals."""
    found: dict[int, Solution] = {}
    for members, batch, f, g, errors, steps in _solve(problems, penalties, epsilon, reference):
        plans = batch.device.fetch(batch.plan(f, g, epsilon))
        for row, index in enumerate(members):
            n, m = problems[index].cost.shape
            plan, error = plans[row, :n, :m].copy(), float(errors[row])
            found[index] = Solution(plan, error, int(steps[row]), error <= MAX_ERROR)
    return [found[index] for index in range(len(problems))]


def sinkhorn_divergences(
    triples: Sequence[tuple[Problem, Problem, Problem]], *, epsilon: float
) -> Floats:
    """Return OT(a, b) - OT(a, a)/2 - OT(b, b)/2 of entropic costs, given these three problems.

    OT is <C, P> + epsilon KL(P | a x b) at the balanced optimum (Feydy et al. 2019, Eq. 3). Values
    are 0 for equal clouds and never below: the last two terms subtract the costs of each to itself.
    """
    if not epsilon >= MIN_EPSILON:
        raise OptionError(
            f"epsilon must be at least {MIN_EPSILON:g} for a Sinkhorn divergence, got {epsilon}; "
            "match(cost, a, b) gives the exact distance."
        )
    problems = [problem for triple in triples for problem in triple]
    values, errors = np.empty(len(problems)), np.empty(len(problems))
    for members, batch, f, g, missed, _ in _solve(problems, (math.inf,) * 2, epsilon, "product"):
        dual = (batch.a * f).sum(axis=1) + (batch.b * g).sum(axis=1)
        values[members], errors[members] = batch.device.fetch(dual), missed
    if not (errors <= MAX_ERROR).all():
        raise NotConverged(
            f"the Sinkhorn iteration stopped with marginals off by {errors.max():.1e} "
            f"(wanted {MAX_ERROR:.0e}) at epsilon {epsilon}; try a larger epsilon."
        )
    between, within_a, within_b = values.reshape(-1, 3).T
    values = between - within_a / 2 - within_b / 2
    return np.where(values < SNAP, 0.0, values)


def _solve(
    problems: list[Problem], penalties: tuple[float, float], epsilon: float, reference: Reference
) -> Iterator[_Solved]:
    """Yield the solved batches."""
    for members, batch in _batches(problems, penalties, reference):
        zeros = batch.device.library.zeros_like
        f, g = zeros(batch.a), zeros(batch.b)
        # The first epsilon must not depend on the batch, or else scores would.
        warm = FIRST_EPSILON
        while warm > epsilon:
            f, g, _ = _round(batch, f, g, warm)
            warm /= 2
        yield _Solved(members, batch, *_iterate(batch, f, g, epsilon))


def _round(batch: _Batch, f: Array, g: Array, epsilon: float) -> tuple[Array, Array, Array]:
    """Return the potentials after scalings and a Newton step, and their error."""
    return _newton(batch, *_scale(batch, f, g, epsilon), epsilon)


def _scale(batch: _Batch, f: Array, g: Array, epsilon: float) -> tuple[Array, Array]:
    """Return the potentials after SCALINGS scalings of each side."""
    rate_a, rate_b = (  # penalty epsilon/(penalty + epsilon)
        epsilon if math.isinf(p) else p * epsilon / (p + epsilon) for p in batch.penalties
    )
    for _ in range(SCALINGS):
        f = rate_a * (batch.log_a - _soft(batch, g[:, None, :], epsilon, 2))
        g = rate_b * (batch.log_b - _soft(batch, f[:, :, None], epsilon, 1))
    return f, g


def _soft(batch: _Batch, other: Array, epsilon: float, axis: int) -> Array:
    """Return ln K of one side; 0 on padding."""
    xp = batch.device.library
    tilt = batch.base + (other - batch.cost) / epsilon
    top = xp.amax(tilt, axis=axis, keepdims=True)
    top = xp.where(xp.isfinite(top), top, 0.0)
    total = xp.exp(tilt - top).sum(axis=axis)
    empty = total == 0
    return xp.where(empty, 0.0, xp.log(xp.where(empty, 1.0, total)) + top.squeeze(axis))


def _iterate(
    batch: _Batch, f: Array, g: Array, epsilon: float
) -> tuple[Array, Array, Floats, Ints]:
    """Return the best potentials, their errors and the scalings; solved ones leave the batch."""
    count = len(f)
    best_f, best_g = f, g  # updated in place: the caller does not read them again
    errors, stale = np.full(count, np.inf), np.zeros(count, dtype=np.int64)
    iterations, running = np.zeros(count, dtype=np.int64), np.arange(count)
    for round_ in range(1, ROUNDS + 1):
        f, g, missed = _round(batch, f, g, epsilon)
        error = batch.device.fetch(missed)  # the only read of a round
        better = np.flatnonzero(error < errors[running])  # a device would read a mask
        places = running[better]
        best_f[places], best_g[places], errors[places] = f[better], g[better], error[better]
        stale[running] += 1
        stale[places] = 0
        iterations[running] = round_ * SCALINGS
        stalled = (errors[running] <= MAX_ERROR) & (stale[running] >= PATIENCE)
        active = np.flatnonzero((error > TARGET_ERROR) & ~stalled)
        if not len(active):
            break
        if len(active) < len(running):
            running, f, g, batch = running[active], f[active], g[active], batch.select(active)
    return best_f, best_g, errors, iterations


def _newton(batch: _Batch, f: Array, g: Array, epsilon: float) -> tuple[Array, Array, Array]:
    """Return the potentials after a Newton step, where it helps, and their error."""
    xp = batch.device.library
    plan, implied = batch.plan(f, g, epsilon), batch.implied(f, g)
    miss_a, miss_b, error = _misses(plan, implied)
    marginals = zip(implied, batch.penalties, (batch.a, batch.b), strict=True)
    excess_a, excess_b = (x / penalty + (weights == 0) for x, penalty, weights in marginals)
    df, dg = _solve_system(batch.device, plan / epsilon, excess_a, excess_b, miss_a, miss_b)
    # Weakly connected parts of the support would shift by far too much, because the derivative of
    # exp is tiny there, so changes are bounded. For small t the misses shrink like 1 - t along
    # Newton's direction: halve t until they do.
    longest = xp.maximum(xp.amax(abs(df), axis=1), xp.amax(abs(dg), axis=1))
    t = (MAX_CHANGE * epsilon / longest.clip(min=epsilon)).clip(max=1.0)
    waiting = error > TARGET_ERROR
    for _ in range(HALVINGS):
        if batch.device is HOST and not waiting.any():  # elsewhere this read would take longer
            break
        new_f, new_g = f + t[:, None] * df, g + t[:, None] * dg
        with np.errstate(over="ignore", invalid="ignore"):  # such a step is rejected
            new_plan = batch.plan(new_f, new_g, epsilon)
            new_error = _misses(new_plan, batch.implied(new_f, new_g))[2]
        good = waiting & (new_error < (1.0 - t / 4) * error)
        f, g = xp.where(good[:, None], new_f, f), xp.where(good[:, None], new_g, g)
        error, waiting, t = xp.where(good, new_error, error), waiting & ~good, t / 2
    return f, g, error


def _solve_system(
    device: Device, weights: Array, excess_a: Array, excess_b: Array, ya: Array, yb: Array
) -> tuple[Array, Array]:
    """Return (df, dg) for W = weights [k, n, m], ha and hb, refined once."""
    # A row may be so expensive that all its entries underflow.
    rows = (weights.sum(axis=2) + excess_a).clip(min=TINY)
    scaled = weights / rows[:, :, None]
    reduced = -(scaled.swapaxes(1, 2) @ weights)
    diagonal = reduced.reshape(len(reduced), -1)[:, :: reduced.shape[1] + 1]  # a view
    diagonal[...] = 0.0
    others = -reduced.sum(axis=2)
    excess = excess_b + (excess_a[:, None, :] @ scaled)[:, 0, :]
    # A component of two tokens has no pivot at all.
    floor = device.library.maximum(EXCESS * others, (1e-20 * weights.sum(axis=1)).clip(min=TINY))
    diagonal[...] = others + device.library.maximum(excess, floor)
    # Weights of tokens may differ by ten orders of magnitude: scale to a unit diagonal first.
    scale = 1.0 / device.library.sqrt(diagonal)
    products = scale[:, :, None] * scale[:, None, :]
    inverse = device.inverse(reduced * products) * products

    def eliminate(ra: Array, rb: Array) -> tuple[Array, Array]:
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
    device = current_device()
    xp = device.library
    for members, cost, a, b in padded(problems, device):
        log_a, log_b = (xp.log(xp.where(side > 0, side, 1.0)) for side in (a, b))
        product = reference == "product"
        weighed = log_a[:, :, None] + log_b[:, None, :] if product else xp.zeros_like(cost)
        real = (a > 0)[:, :, None] & (b > 0)[:, None, :]
        base = xp.where(real, weighed, -math.inf)
        yield members, _Batch(device, penalties, cost, a, b, log_a, log_b, base)
