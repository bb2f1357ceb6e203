"""One transport family with two penalties; precision, recall, EMD and Lazy-EMD are its corners.

P* = argmin_{P >= 0}  <C, P> + pa KL(P 1 | a) + pb KL(P^T 1 | b)  [+ epsilon KL(P | a x b)]

(inf, inf)            Earth Mover's Distance         kernels/network_simplex.py
(inf, 0), (0, inf)    1 - precision, 1 - recall      one_sided.py, also with epsilon > 0
finite, finite        Lazy-EMD                       unbalanced.py
epsilon > 0           any of them, regularised       sinkhorn.py
"""

import math
from collections.abc import Sequence
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, NotConverged, OptionError, ShapeError
from nlgauge.core.plan import Plan
from nlgauge.kernels import network_simplex
from nlgauge.measure import one_sided, sinkhorn, unbalanced
from nlgauge.measure.cost import row_blocks
from nlgauge.measure.problem import Problem, Solution, normalised, solve_concatenated
from nlgauge.measure.sinkhorn import Reference

_SUM_RTOL = 1e-6  # relative difference of two sums that is rounding, also of float32
RIGID = 1e10  # finite penalties above this multiple of the largest cost count as infinite


class Options(TypedDict, total=False):
    """Options of `match`: those of `match_many`."""

    penalty_a: float
    penalty_b: float
    epsilon: float
    reference: Reference
    strict: bool


def match(cost: ArrayLike, a: ArrayLike, b: ArrayLike, **options: Unpack[Options]) -> Plan:
    """Return the optimal plan between weights a (rows) and b (columns), both scaled to sum 1.

    If neither penalty is finite, no plan has marginals of different sums, and a and b must have
    the same sum. Otherwise each side is scaled to sum 1 by itself, so the penalties are prices of
    differences between shares, and a common or different factor of the weights has no effect.

    >>> match([[0.0, 1.0], [1.0, 0.0]], [3, 1], [2, 2]).value
    0.25
    """
    return match_many([cost], [a], [b], **options)[0]


def match_many(
    costs: Sequence[ArrayLike],
    a: Sequence[ArrayLike],
    b: Sequence[ArrayLike],
    *,
    penalty_a: float = math.inf,
    penalty_b: float = math.inf,
    epsilon: float = 0.0,
    reference: Reference = "product",
    strict: bool = True,
) -> list[Plan]:
    """Return one plan per problem, with the same bits as `match` but faster.

    A penalty is the price of the difference between a marginal and its weights: inf forbids it, 0
    ignores it. `epsilon` is the entropic regularisation relative to a x b, or to 1 for the
    `reference` "ones". A finite penalty above 1e10 times the largest cost counts as infinite:
    the values differ by less than 1e-10 of it, and rounding errors grow with the penalty.
    `strict` raises NotConverged for plans that have not converged. Without
    regularisation plans are exact: a duality gap of at most 1e-10 of the largest cost (or of 1e-4
    of the larger finite penalty, if that is more) is certified. Tokens of weight 0 have no mass.
    """
    for name, penalty in (("penalty_a", penalty_a), ("penalty_b", penalty_b)):
        if not penalty >= 0:
            raise OptionError(f"{name} must be at least 0 (inf is allowed), got {penalty}.")
    if epsilon and not sinkhorn.MIN_EPSILON <= epsilon < math.inf:
        least = f"at least {sinkhorn.MIN_EPSILON:g} and finite"
        raise OptionError(f"epsilon must be 0, which is exact, or {least}, got {epsilon}.")
    if reference not in ("product", "ones"):
        raise OptionError(f"reference must be 'product' or 'ones', got {reference!r}.")
    if not len(costs) == len(a) == len(b):
        raise ShapeError(
            f"match_many needs as many weights as costs, "
            f"got {len(costs)} costs, {len(a)} a and {len(b)} b."
        )
    if math.isinf(min(penalty_a, penalty_b)):
        _check_sums(a, b)
    problems = list(map(_check_problem, costs, a, b))
    weighted = list(map(Problem.without_zeros, problems))
    penalties = [_effective(problem, penalty_a, penalty_b) for problem in weighted]
    solutions: dict[int, Solution] = {}
    for pair in dict.fromkeys(penalties):
        members = [k for k, other in enumerate(penalties) if other == pair]
        found = _solve([weighted[k] for k in members], pair, epsilon, reference)
        solutions |= zip(members, found, strict=True)
    plans = [_plan(problem, solutions[k], *penalties[k]) for k, problem in enumerate(problems)]
    failed = [at for at, plan in enumerate(plans) if not plan.converged]
    if strict and failed:
        worst = max(failed, key=lambda at: plans[at].residual)
        raise NotConverged(
            f"{len(failed)} of {len(plans)} transport problems did not converge; the worst, number "
            f"{worst} of shape {plans[worst].cost.shape}, stopped after {plans[worst].iterations} "
            f"steps with residual {plans[worst].residual:.1e} (penalties {penalty_a:g} and "
            f"{penalty_b:g}, epsilon {epsilon:g}). A larger epsilon is easier; strict=False "
            "returns the plans as they are."
        )
    return plans


def _check_problem(cost: ArrayLike, a: ArrayLike, b: ArrayLike) -> Problem:
    """Return a problem with normalised weights; raise an error if it is invalid."""
    matrix = np.ascontiguousarray(cost, dtype=np.float64)
    if (*np.shape(a), *np.shape(b)) != matrix.shape or matrix.ndim != 2:
        raise ShapeError(
            f"a cost of shape (n, m) needs weights of lengths n and m, got {matrix.shape}, "
            f"{np.shape(a)} and {np.shape(b)}."
        )
    n, m = matrix.shape
    weights_a, weights_b = normalised(a, n, "a"), normalised(b, m, "b")
    if not (matrix.min() >= 0 and matrix.max() < math.inf):
        raise DataError(
            f"a cost must be finite and at least 0, got values from {matrix.min():g} to "
            f"{matrix.max():g}."
        )
    return Problem(matrix, weights_a, weights_b)


def _check_sums(a: Sequence[ArrayLike], b: Sequence[ArrayLike]) -> None:
    """Raise an error if the two sides of a problem differ in their sums by more than rounding."""
    for number, (weights_a, weights_b) in enumerate(zip(a, b, strict=True)):
        sums = float(np.sum(weights_a)), float(np.sum(weights_b))
        if not math.isclose(*sums, rel_tol=_SUM_RTOL) and 0 < min(sums) <= max(sums) < math.inf:
            raise DataError(
                f"weights a sum to {sums[0]:g} and weights b to {sums[1]:g} in problem {number}, "
                "but balanced transport moves all of a onto all of b; divide each by its sum, or "
                "choose finite penalties."
            )


def _effective(problem: Problem, penalty_a: float, penalty_b: float) -> tuple[float, float]:
    """Return the penalties, inf for those that are large beside the costs."""
    rigid = RIGID * (float(problem.cost.max()) or 1.0)
    return (
        math.inf if penalty_a > rigid else penalty_a,
        math.inf if penalty_b > rigid else penalty_b,
    )


def _solve(
    problems: list[Problem], penalties: tuple[float, float], epsilon: float, reference: Reference
) -> list[Solution]:
    """Return the solutions of the method for these penalties."""
    if min(penalties) == 0:
        return [one_sided.solve(problem, penalties, epsilon, reference) for problem in problems]
    if epsilon > 0:
        return sinkhorn.solve(problems, penalties, epsilon, reference)
    if math.isinf(min(penalties)):
        return solve_concatenated(problems, network_simplex.solve_all)
    return unbalanced.solve(problems, *penalties)


def _plan(problem: Problem, solution: Solution, penalty_a: float, penalty_b: float) -> Plan:
    """Return a solution as a plan over all tokens, those of weight 0 included."""
    cost, a, b = problem
    coupling = solution.coupling
    if coupling.shape != cost.shape:
        coupling = np.zeros(cost.shape)
        coupling[np.ix_(a > 0, b > 0)] = solution.coupling
        solution = solution._replace(coupling=coupling)
    value, mass = _total_cost(cost, coupling), float(coupling.sum())
    objective = value
    for axis, weights, penalty in ((1, a, penalty_a), (0, b, penalty_b)):
        if 0 < penalty < math.inf:  # the sums are not needed otherwise
            terms = marginal_penalties(coupling.sum(axis=axis), weights, penalty)
            objective += float(terms.sum())
    fields = {**problem._asdict(), **solution._asdict()}
    return Plan(value=value, mass=mass, objective=objective, **fields)


def _total_cost(cost: Floats, coupling: Floats) -> float:
    """Return <C, P>, in blocks of rows, so that no product has the size of a large problem."""
    return float(sum((cost[part] * coupling[part]).sum() for part in row_blocks(*cost.shape)))


def marginal_penalties(marginal: Floats, weights: Floats, penalty: float) -> Floats:
    """Return the terms of penalty KL(marginal | weights); 0 if it is infinite: then they agree."""
    terms = np.zeros(len(weights))
    if penalty == 0 or math.isinf(penalty):
        return terms
    ratio = np.divide(marginal, weights, out=np.ones_like(marginal), where=weights > 0)
    off = np.abs(ratio - 1) > 1e-13  # nearer to 1 is rounding: the term would be below 1e-26
    share = ratio[off]
    gain = share * np.log(np.where(share > 0, share, 1.0)) - share + 1
    terms[off] = penalty * weights[off] * gain
    return terms
