"""Transport problems and their solutions, as the solvers exchange them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nlgauge.core.arrays import Floats


class Problem(NamedTuple):
    """A cost matrix and positive weights that sum to 1."""

    cost: Floats
    a: Floats
    b: Floats

    def transposed(self) -> "Problem":
        """Return the problem with rows and columns exchanged."""
        return Problem(self.cost.T, self.b, self.a)


class Solution(NamedTuple):
    """A coupling; `residual` is its certified duality gap or the L1 error of its marginals."""

    coupling: Floats
    residual: float
    iterations: int
    converged: bool


def solve_concatenated(
    problems: list[Problem], kernel: Callable[..., None], *options: Any
) -> list[Solution]:
    """Return the solutions of a kernel that takes all problems as concatenated arrays."""
    if not problems:
        return []
    count = len(problems)
    shapes = np.array([problem.cost.shape for problem in problems], dtype=np.intp)
    costs = np.concatenate([problem.cost.ravel() for problem in problems])
    a = np.concatenate([problem.a for problem in problems])
    b = np.concatenate([problem.b for problem in problems])
    couplings, gaps = np.empty(len(costs)), np.empty(count)
    steps, solved = np.ones(count, np.intp), np.empty(count, np.intp)
    with np.errstate(all="ignore"):  # uncompiled kernels overflow as compiled ones do
        kernel(costs, a, b, shapes, *options, couplings, gaps, steps, solved)
    ends = shapes.prod(axis=1).cumsum()[:-1]
    return [
        Solution(part.reshape(shape).copy(), gap, step, bool(flag))
        for part, shape, gap, step, flag in zip(
            np.split(couplings, ends), shapes, gaps.tolist(), steps.tolist(), solved, strict=True
        )
    ]
