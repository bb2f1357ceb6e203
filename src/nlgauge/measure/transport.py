"""One transport family with two penalties; precision, recall, EMD and Lazy-EMD are its corners.

P* = argmin_{P >= 0}  <C, P> + pa KL(P 1 | a) + pb KL(P^T 1 | b)  [+ epsilon KL(P | a x b)]

(inf, inf)            Earth Mover's Distance         balanced.py
(inf, 0), (0, inf)    1 - precision, 1 - recall      greedy.py
finite, finite        Lazy-EMD                       unbalanced.py
epsilon > 0           any of them, blurred           sinkhorn.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.errors import DataError, NotConverged, OptionError, ShapeError
from nlgauge.core.plan import Floats, Plan
from nlgauge.measure import balanced, greedy, sinkhorn, unbalanced
from nlgauge.measure.padded_batches import Flags, Solution, Stack, stacks
from nlgauge.measure.sinkhorn import Reference


class _Problem(NamedTuple):
    """A checked problem; `rows` and `columns` say which tokens have weight."""

    cost: Floats
    a: Floats
    b: Floats
    rows: Flags
    columns: Flags


class _Answer(NamedTuple):
    """A coupling of the tokens that have weight."""

    coupling: Floats
    residual: float
    iterations: int
    converged: bool


def match(
    cost: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    penalty_a: float = math.inf,
    penalty_b: float = math.inf,
    epsilon: float = 0.0,
    reference: Reference = "product",
    strict: bool = True,
) -> Plan:
    """Return the optimal plan between weights a (rows) and b (columns), each scaled to sum 1.

    `penalty_a` and `penalty_b` price mass that leaves a or misses b: inf forbids it, 0 ignores that
    side. `epsilon` blurs the plan with an entropy relative to `reference`, the product a x b or the
    constant 1 ("ones"). The plan is exact for epsilon = 0: a duality gap of at most 1e-10 of the
    largest cost (or of 1e-4 of the larger finite penalty, if that is more) is certified. Tokens of
    weight 0 neither give nor take. A plan that did not converge is an error, or is returned with
    `converged=False` when `strict` is off.
    """
    found = match_many(
        [cost],
        [a],
        [b],
        penalty_a=penalty_a,
        penalty_b=penalty_b,
        epsilon=epsilon,
        reference=reference,
        strict=strict,
    )
    return found[0]


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
    """Return one plan for each problem, the same bits as `match` gives one by one, only sooner."""
    _check_options(penalty_a, penalty_b, epsilon, reference)
    if not len(costs) == len(a) == len(b):
        raise ShapeError(
            f"match_many needs as many weights as costs, "
            f"got {len(costs)} costs, {len(a)} a and {len(b)} b."
        )
    problems = [_problem(*given) for given in zip(costs, a, b, strict=True)]
    answers = _solver(penalty_a, penalty_b, epsilon, reference)([_dense(p) for p in problems])
    plans = [
        _plan(problem, answer, penalty_a, penalty_b)
        for problem, answer in zip(problems, answers, strict=True)
    ]
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


def _check_options(
    penalty_a: float, penalty_b: float, epsilon: float, reference: Reference
) -> None:
    for name, penalty in (("penalty_a", penalty_a), ("penalty_b", penalty_b)):
        if not penalty >= 0:
            raise OptionError(f"{name} must be at least 0 (inf is allowed), got {penalty}.")
    if not 0 <= epsilon < math.inf:
        raise OptionError(f"epsilon must be at least 0 and finite, got {epsilon}.")
    if reference not in ("product", "ones"):
        raise OptionError(f"reference must be 'product' or 'ones', got {reference!r}.")


def _problem(cost: ArrayLike, a: ArrayLike, b: ArrayLike) -> _Problem:
    """Return a problem fit to be solved, or say what is wrong with it."""
    matrix = np.ascontiguousarray(cost, dtype=np.float64)
    left, right = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if matrix.ndim != 2 or left.shape != matrix.shape[:1] or right.shape != matrix.shape[1:]:
        raise ShapeError(
            f"a cost of shape (n, m) needs weights of lengths n and m, got {matrix.shape}, "
            f"{left.shape} and {right.shape}."
        )
    for side, weights in (("a", left), ("b", right)):
        total = weights.sum()
        if not (0 < total < math.inf and (weights >= 0).all()):
            raise DataError(
                f"weights {side} must be at least 0 and have a positive finite sum, got "
                f"{len(weights)} weights that sum to {total:g}; a text without weight has no plan."
            )
    if not (matrix.min() >= 0 and matrix.max() < math.inf):
        raise DataError(
            f"a cost must be finite and at least 0, got values from {matrix.min():g} to "
            f"{matrix.max():g}."
        )
    left, right = left / left.sum(), right / right.sum()
    return _Problem(matrix, left, right, left > 0, right > 0)


def _dense(problem: _Problem) -> _Problem:
    """Return the problem without its tokens of weight 0, which no plan touches."""
    if problem.rows.all() and problem.columns.all():
        return problem
    return problem._replace(
        cost=np.ascontiguousarray(problem.cost[np.ix_(problem.rows, problem.columns)]),
        a=problem.a[problem.rows],
        b=problem.b[problem.columns],
    )


def _solver(
    penalty_a: float, penalty_b: float, epsilon: float, reference: Reference
) -> Callable[[list[_Problem]], list[_Answer]]:
    """Return what solves problems with these penalties: one by one where that is quick."""
    if epsilon > 0:
        return lambda problems: _stacked(
            problems,
            lambda stack: sinkhorn.solve(stack, penalty_a, penalty_b, epsilon, reference),
        )
    if min(penalty_a, penalty_b) == 0:
        return lambda problems: [
            _Answer(greedy.solve(p.cost, p.a, p.b, penalty_a, penalty_b), 0.0, 0, True)
            for p in problems
        ]
    if math.isinf(min(penalty_a, penalty_b)):
        return lambda problems: [_balanced(p) for p in problems]
    return lambda problems: _unbalanced(problems, penalty_a, penalty_b)


def _balanced(problem: _Problem) -> _Answer:
    found = balanced.solve(problem.cost, problem.a, problem.b)
    return _Answer(found.coupling, found.residual, 1, found.converged)


def _unbalanced(problems: list[_Problem], penalty_a: float, penalty_b: float) -> list[_Answer]:
    """Return the answers one by one from machine code, and in stacks what it left unsolved."""
    parts = [p.cost for p in problems], [p.a for p in problems], [p.b for p in problems]
    singles = unbalanced.solve_singly(*parts, penalty_a, penalty_b)
    rest = [p for p, single in zip(problems, singles, strict=True) if single is None]
    stacked = iter(_stacked(rest, lambda stack: unbalanced.solve(stack, penalty_a, penalty_b)))
    return [next(stacked) if single is None else _Answer(*single, True) for single in singles]


def _stacked(problems: list[_Problem], solve: Callable[[Stack], Solution]) -> list[_Answer]:
    """Return the answers of a solver that takes many problems of one shape."""
    answers: dict[int, _Answer] = {}
    parts = zip(*((p.cost, p.a, p.b) for p in problems), strict=True)
    for stack in stacks(*map(list, parts)) if problems else ():
        found = solve(stack)
        for row, at in enumerate(stack.members):
            n, m = problems[at].cost.shape
            answers[at] = _Answer(
                found.coupling[row, :n, :m].copy(),
                float(found.residual[row]),
                int(found.iterations[row]),
                bool(found.converged[row]),
            )
    return [answers[at] for at in range(len(problems))]


def _plan(problem: _Problem, answer: _Answer, penalty_a: float, penalty_b: float) -> Plan:
    """Return the answer as a plan over all tokens, those of weight 0 included."""
    coupling = answer.coupling
    if coupling.shape != problem.cost.shape:
        coupling = np.zeros(problem.cost.shape)
        coupling[np.ix_(problem.rows, problem.columns)] = answer.coupling
    value = float((problem.cost * coupling).sum())
    penalties = _penalty(coupling.sum(axis=1), problem.a, penalty_a)
    penalties += _penalty(coupling.sum(axis=0), problem.b, penalty_b)
    return Plan(
        value=value,
        coupling=coupling,
        cost=problem.cost,
        a=problem.a,
        b=problem.b,
        mass=float(coupling.sum()),
        iterations=answer.iterations,
        converged=answer.converged,
        objective=value + penalties,
        residual=answer.residual,
    )


def _penalty(marginal: Floats, weights: Floats, penalty: float) -> float:
    """Return penalty KL(marginal | weights); 0 where it is infinite, because then they agree."""
    if penalty == 0 or math.isinf(penalty):
        return 0.0
    ratio = np.divide(marginal, weights, out=np.ones_like(marginal), where=weights > 0)
    off = np.abs(ratio - 1) > 1e-13  # nearer to 1 is rounding: the term would be below 1e-26
    share = ratio[off]
    gain = share * np.log(np.where(share > 0, share, 1.0)) - share + 1
    return penalty * float((weights[off] * gain).sum())
