"""Two further distances of clouds: sliced Wasserstein and MMD."""

import math

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError, ShapeError
from nlgauge.measure.cost import squared_euclid
from nlgauge.measure.depth import directions
from nlgauge.measure.problem import normalised


def sliced_wasserstein(
    x: ArrayLike, y: ArrayLike, *, p: float = 2.0, count: int = 5000, seed: int = 0
) -> float:
    """Return ( mean_u W_p^p(<u, x>, <u, y>) )^{1/p} of two clouds whose points weigh the same.

    On a line optimal transport couples equal quantiles. The levels at which either cloud changes to
    its next point are the same for every direction, so all share one pair of index arrays.
    """
    left, right = _pair(x, y)
    if not p >= 1:
        raise OptionError(f"p must be at least 1, got {p}.")
    n, m = len(left), len(right)
    # Levels in units of 1/(n m) are whole numbers, so equal steps of both clouds coincide exactly.
    steps = np.union1d(np.arange(n) * m, np.arange(m) * n)
    widths = np.diff(np.append(steps, n * m)) / (n * m)
    along = directions(left.shape[1], count, seed).T
    from_left = np.sort(left @ along, axis=0)[steps // m]
    from_right = np.sort(right @ along, axis=0)[steps // n]
    powers = (np.abs(from_left - from_right) ** p).mean(axis=1)
    return math.pow(widths @ powers, 1.0 / p)


def mmd(
    x: ArrayLike,
    y: ArrayLike,
    a: ArrayLike | None = None,
    b: ArrayLike | None = None,
    *,
    bandwidth: float = 0.05,
) -> float:
    """Return the squared maximum mean discrepancy, a'K a - 2 a'K b + b'K b, of two clouds.

    K = exp(-||x - y||^2 / (2 bandwidth^2)); weights are uniform if not given. This is the biased
    estimate, never negative; nlg_eval (through geomloss, blur .05) reports one half of it.
    """
    left, right = _pair(x, y)
    if not bandwidth > 0:
        raise OptionError(f"bandwidth must be above 0, got {bandwidth}.")
    first, second = normalised(a, len(left)), normalised(b, len(right))

    def kernel(rows: Floats, columns: Floats) -> Floats:
        squared = squared_euclid(rows, columns, normalise=False)
        return np.asarray(np.exp(-squared / (2.0 * bandwidth**2)))

    within = first @ kernel(left, left) @ first + second @ kernel(right, right) @ second
    return max(float(within - 2.0 * (first @ kernel(left, right) @ second)), 0.0)


def _pair(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    left, right = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    shapes = left.shape, right.shape
    if left.ndim != 2 or right.ndim != 2 or 0 in (*left.shape, *right.shape):
        raise ShapeError(f"clouds must be arrays [tokens, d] without empty axes, got {shapes}.")
    if left.shape[1] != right.shape[1]:
        raise ShapeError(f"clouds must have one dimension, got shapes {shapes}.")
    return left, right
