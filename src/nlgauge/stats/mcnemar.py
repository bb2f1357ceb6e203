"""McNemar's test: do two systems solve different shares of the same items?"""

import math

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, ShapeError
from nlgauge.stats.intervals import Interval, normal_quantile
from nlgauge.stats.paired_tests import PairedTest
from nlgauge.stats.validation import as_floats

# Up to this many items, binomial coefficients are computed as integers, in 10 ms.
_MAX_EXACT = 10_000


def mcnemar(
    first: ArrayLike, second: ArrayLike, *, mid_p: bool = False, confidence: float = 0.95
) -> PairedTest:
    """Return McNemar's test of two systems with binary outcomes (1 solved, 0 not).

    Only items that exactly one system solves are used: b by the first, c by the second. If the
    systems are equally good, b is Binomial(b + c, 1/2). The exact two-sided p is
    2 P(X <= min(b, c)), at most 1. It is conservative; the mid-p, 2 P(X < min(b, c)) +
    P(X = min(b, c)), is on average nearer to the nominal level (Fagerland et al. 2013). Both are 1
    if b = c. The interval of the difference b/n - c/n is the adjusted Wald interval of Bonett &
    Price 2012, which adds 1 to b and c and 2 to n.

    Parameters
    ----------
    first, second : array_like, outcomes 0 or 1 of the same items in the same order
    mid_p : bool, whether p is the mid-p
    confidence : float, coverage of the interval

    Returns
    -------
    PairedTest

    Raises
    ------
    DataError or ShapeError
        For other values than 0 and 1, for vectors of different lengths.

    Examples
    --------
    >>> mcnemar([1, 1, 1, 1, 0], [0, 0, 0, 1, 0]).p
    0.25
    """
    z = normal_quantile(confidence)
    one, other = _check_outcomes(first, "first"), _check_outcomes(second, "second")
    n = one.size
    if other.size != n:
        raise ShapeError(
            f"the first system has {n} outcomes, the second {other.size}; a paired test needs the "
            "same items for both."
        )
    b, c = int((one > other).sum()), int((other > one).sum())
    equal = _binomial_half(min(b, c), b + c)
    p = 1.0 if b == c else _tail(min(b, c), b + c, equal) * 2 - (equal if mid_p else 0)
    centre, share = (b - c) / (n + 2), (b + c + 2) / (n + 2)
    half = z * math.sqrt((share - centre**2) / (n + 2))
    low, high = max(-1.0, centre - half), min(1.0, centre + half)
    difference = (b - c) / n
    interval = Interval(difference, low, high, confidence, 0, 0, "", "adjusted Wald")
    method = f"McNemar's {'mid-p' if mid_p else 'exact'} test"
    values = float(one.mean()), float(other.mean())
    return PairedTest(*values, difference, min(p, 1.0), method, 0, interval=interval)


def _check_outcomes(values: ArrayLike, name: str) -> Floats:
    array = as_floats(values, name)
    if array.ndim != 1 or array.size == 0:
        raise ShapeError(f"{name} has shape {array.shape}; give one outcome for each item.")
    wrong = array[(array != 0) & (array != 1)]
    if wrong.size:
        raise DataError(
            f"{wrong.size} of {array.size} scores of {name} are not 0 or 1 (such as {wrong[0]:g}); "
            "McNemar's test is for binary outcomes, a permutation test for any scores."
        )
    return array


def _binomial_half(k: int, n: int) -> float:
    """P(X = k) for n fair coins."""
    if n < _MAX_EXACT:
        return math.comb(n, k) / (1 << n)
    log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log - n * math.log(2))


def _tail(k: int, n: int, equal: float) -> float:
    """P(X <= k) for n fair coins, from P(X = k), as P(X = i - 1) = P(X = i) i / (n - i + 1)."""
    i = np.arange(k, 0, -1)
    return float(equal * (1 + np.cumprod(i / (n - i + 1)).sum()))
