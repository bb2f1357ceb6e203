"""Exact balanced transport: both marginals are met at the least cost.

min <C, P>   with   P >= 0,   P 1 = a,   P^T 1 = b
"""

from __future__ import annotations

from nlgauge.measure.kernels import network_simplex
from nlgauge.measure.problem import Problem, Solution, solve_concatenated


def solve(problems: list[Problem]) -> list[Solution]:
    """Return the optimal solutions."""
    return solve_concatenated(problems, network_simplex.solve_all)
