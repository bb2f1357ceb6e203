"""Random pairs of items, and the standard error of a mean over pairs that share items."""

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Ints
from nlgauge.core.errors import DataError, ShapeError
from nlgauge.stats.validation import Seed


def draw_pairs(n: int, count: int, seed: Seed = 0) -> Ints:
    """Return a random sample of the n (n - 1) / 2 pairs of different numbers below n.

    Rows of two numbers, no pair twice, in random order and direction; at most all pairs.
    """
    if n < 2 or count < 1:
        raise DataError(f"{count} pairs of {n} items cannot be drawn; a pair needs 2 of them.")
    rng = np.random.default_rng(seed)
    total = n * (n - 1) // 2
    rank = rng.choice(total, size=min(count, total), replace=False)
    # Pair number k is (k - j (j - 1) / 2, j): those with larger j come later.
    larger = ((1 + np.sqrt(1 + 8.0 * rank)) / 2).astype(np.int64)
    larger -= larger * (larger - 1) // 2 > rank  # the root of a large number may be rounded up
    smaller = rank - larger * (larger - 1) // 2
    flip = rng.integers(0, 2, size=len(rank)).astype(np.bool_)
    return np.where(flip[:, None], np.stack([larger, smaller], 1), np.stack([smaller, larger], 1))


def dyadic_error(values: ArrayLike, pairs: ArrayLike) -> float:
    """Return the standard error of the mean of ``values``, one per distinct pair of items.

    Values of pairs that share an item are not independent. With e the deviations from the mean
    (Fafchamps and Gubert 2007):

        N^2 var = sum of e_i e_j over all pairs i, j that share an item (including i = j)

    The sum is at least that of its terms with i = j, because it can be too small by chance.
    """
    x, items = np.asarray(values, dtype=np.float64), np.asarray(pairs, dtype=np.int64)
    if x.ndim != 1 or items.shape != (x.size, 2):
        raise ShapeError(f"{x.shape} values need as many pairs, not an array of {items.shape}.")
    if x.size < 2:
        raise DataError(f"the error of a mean needs at least 2 values, but there are {x.size}.")
    deviations = x - x.mean()
    squares = float(deviations @ deviations)
    # The square of an item's sum contains all products of its pairs; a square is in two of them.
    sums = np.bincount(items.ravel(), weights=np.repeat(deviations, 2))
    shared = float(sums @ sums) - squares
    # The mean uses one degree of freedom.
    return float(np.sqrt(max(shared, squares) / (x.size * (x.size - 1))))
