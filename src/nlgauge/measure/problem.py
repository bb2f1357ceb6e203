"""Transport problems and their solutions, as the solvers exchange them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, ShapeError


class Problem(NamedTuple):
    """A cost matrix and weights that sum to 1; solvers take positive ones only."""

    cost: Floats
    a: Floats
    b: Floats

    def transposed(self) -> "Problem":
        """Return the problem with rows and columns exchanged."""
        return Problem(self.cost.T, self.b, self.a)

    def without_zeros(self) -> "Problem":
        """Return the problem without its tokens of weight 0."""
        cost, a, b = self
        if a.all() and b.all():
            return self
        return Problem(cost[np.ix_(a > 0, b > 0)], a[a > 0], b[b > 0])


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
    costs, a, b = (_concatenate(part) for part in zip(*problems, strict=True))
    couplings, gaps = np.empty(len(costs)), np.empty(count)
    steps, solved = np.ones(count, np.intp), np.empty(count, np.intp)
    with np.errstate(all="ignore"):  # uncompiled kernels overflow as compiled ones do
        kernel(costs, a, b, shapes, *options, couplings, gaps, steps, solved)
    parts = np.split(couplings, shapes.prod(axis=1).cumsum()[:-1])
    if count > 1:  # a plan must not keep those of all others in memory
        parts = [part.copy() for part in parts]
    fields = zip(parts, shapes, gaps.tolist(), steps.tolist(), solved, strict=True)
    return [Solution(x.reshape(n), gap, step, bool(ok)) for x, n, gap, step, ok in fields]


def _concatenate(arrays: tuple[Floats, ...]) -> Floats:
    """Return arrays one after another; a single one, which may be large, without a copy."""
    flat = [*map(np.ravel, arrays)]
    return flat[0] if len(flat) == 1 and flat[0].flags.writeable else np.concatenate(flat)


def normalised(weights: ArrayLike | None, n: int, side: str = "") -> Floats:
    """Return n weights scaled to sum 1, uniform if none are given; raise an error for others."""
    mass = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if mass.shape != (n,):
        raise ShapeError(f"{n} tokens need {n} weights, got shape {mass.shape}.")
    total = mass.sum()
    if not (0 < total < np.inf and (mass >= 0).all()):
        raise DataError(
            f"weights {side} must be at least 0 and have a positive finite sum, got {n} weights "
            f"that sum to {total:g}; a text without weight has no plan."
        )
    return np.asarray(mass / total)
