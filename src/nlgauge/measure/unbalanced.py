"""Exact unbalanced transport with Kullback-Leibler penalties, solved to a certified duality gap.

    min_{P >= 0}  <C, P> + pa KL(P 1 | a) + pb KL(P^T 1 | b),     KL(x|y) = sum x ln(x/y) - x + y
    max_{f + g <= C}  -pa sum a (exp(-f/pa) - 1) - pb sum b (exp(-g/pb) - 1)

An infinite penalty turns its dual term into <a, f>. Any P >= 0 and any f + g <= C bound the optimum
from both sides, so the difference of the two values proves how exact a plan is. Scaling (Sinkhorn)
and majorisation-minimisation converge linearly with a rate that tends to 1 for large penalties; the
interior-point method of kernels/interior_point.py needs about 10 Newton steps for any of them. It
shares mass evenly among equal tokens. Large problems, for which a step takes too long, are solved
by kernels/active_set.py, which may fail by underflow if penalties are below 1/500 of the costs.
"""

import math
from typing import NamedTuple

import numpy as np

from nlgauge.kernels import active_set, interior_point
from nlgauge.measure.problem import Problem, Solution, solve_concatenated

LARGE = 1 << 14  # pairs of tokens from which on a problem is large
LARGEST_COST_RATIO = 750.0  # of a cost to the sum of the penalties
MIN_COST_RATIO = 1e-4  # costs below this share of a penalty are within its rounding


class Method(NamedTuple):
    """Parameters of the interior-point method."""

    steps: int  # Newton steps at most
    corrector: float  # share of Mehrotra's second-order correction
    centring: float  # least share of mu to aim at
    boundary: float  # largest share of the distance to the boundary in one step
    centrality: float  # least product P S, relative to its value on the central path


FAST = Method(steps=60, corrector=1.0, centring=0.0, boundary=0.99, centrality=1e-4)
ROBUST = Method(steps=400, corrector=0.0, centring=0.3, boundary=0.9, centrality=0.1)


def solve(problems: list[Problem], penalty_a: float, penalty_b: float) -> list[Solution]:
    """Return the solutions for penalties > 0, of which at most one is infinite."""
    # A pair has a mass of at most exp(-cost / (pa + pb)), which underflows from the limit on.
    limit = LARGEST_COST_RATIO * (penalty_a + penalty_b)
    costly = [float(problem.cost.max()) >= limit for problem in problems]
    limited = [
        problem._replace(cost=np.minimum(problem.cost, limit)) if has_limit else problem
        for problem, has_limit in zip(problems, costly, strict=True)
    ]
    solutions = _solve(limited, penalty_a, penalty_b)
    for problem, solution, has_limit in zip(problems, solutions, costly, strict=True):
        if has_limit:
            solution.coupling[problem.cost >= limit] = 0.0
    return solutions


def _solve(problems: list[Problem], penalty_a: float, penalty_b: float) -> list[Solution]:
    """Return the solutions for costs that move mass, or are at the limit."""
    least_scale = max(MIN_COST_RATIO * p for p in (penalty_a, penalty_b) if p < math.inf)
    rates = 1.0 / penalty_a, 1.0 / penalty_b
    results = [Solution(problem.cost, math.inf, 0, False) for problem in problems]
    for k, problem in enumerate(problems):
        if problem.cost.size >= LARGE:
            (results[k],) = solve_concatenated([problem], active_set.solve_all, *rates, least_scale)
    for method in (FAST, ROBUST):  # one problem in thousands needs the robust one
        for tall in (False, True):  # tall problems are transposed
            unsolved = (k for k, one in enumerate(results) if not one.converged)
            members = [k for k in unsolved if (len(problems[k].a) > len(problems[k].b)) == tall]
            oriented = [problems[k].transposed() if tall else problems[k] for k in members]
            options = *(rates[::-1] if tall else rates), least_scale, np.array(method, dtype=float)
            solutions = solve_concatenated(oriented, interior_point.solve_all, *options)
            for k, solution in zip(members, solutions, strict=True):
                coupling = solution.coupling.T if tall else solution.coupling
                steps = max(results[k].iterations, 0) + solution.iterations
                results[k] = solution._replace(coupling=coupling, iterations=steps)
    return results
