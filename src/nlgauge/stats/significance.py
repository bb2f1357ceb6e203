"""Williams's test of whether one metric agrees with people better than another; Holm's correction.

It is for Pearson's r of jointly normal scores, and conservative for few points: of two equally good
metrics, 2 % of p are below .05 with 4 points, 4 % with 6 and 4.8 % with 15 (simulated). It is
directed: a small p means that the FIRST metric is better. `permutation_tests` are valid for any
coefficient and level.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError
from nlgauge.stats.coefficients import TOLERANCE, pearson
from nlgauge.stats.levels import choose_level, points
from nlgauge.stats.validation import as_floats, common_cells, require_scipy


@dataclass(frozen=True)
class Williams:
    """Williams's t test that r12 exceeds r13; see `williams`."""

    t: float
    df: int
    p: float
    r12: float
    r13: float
    r23: float
    n: int


def williams(r12: float, r13: float, r23: float, n: int) -> Williams:
    """Return the one-sided test of r12 > r13 for two correlations that share a variable.

        t = (r12 - r13) sqrt((n-1)(1+r23)) / sqrt(2 K (n-1)/(n-3) + (r12+r13)^2/4 (1-r23)^3)
        K = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23,   t ~ Student with n - 3 df

    Signs are kept (no |r|, no |t|): r12 < r13 gives p > .5. Old versions of R's psych::r.test used
    n - 2 degrees of freedom; n - 3 is Williams 1959.

    Parameters
    ----------
    r12, r13, r23 : Pearson's r of people and first metric, people and second metric, both metrics
    n : int, points, at least 4

    Returns
    -------
    Williams

    Raises
    ------
    DataError
        For fewer points, and for correlations that no data can have together.

    Examples
    --------
    >>> round(williams(0.8, 0.5, 0.6, 40).p, 4)
    0.001
    """
    t = williams_statistic(r12, r13, r23, n)
    require_scipy("Williams's test")
    from scipy.stats import t as student

    return Williams(t, n - 3, float(student.sf(t, n - 3)), r12, r13, r23, n)


def williams_statistic(r12: float, r13: float, r23: float, n: int) -> float:
    """Return the t of `williams`, or its limit where the formula divides by 0.

    It is 0 if the two metrics are equal up to scale. If one is the other with the opposite sign,
    it is r12 sqrt((n-3) / (1 - r12^2)). It is infinite if the metrics determine the human
    judgement and r12 is -r13.
    """
    for name, r in (("r12", r12), ("r13", r13), ("r23", r23)):
        if not -1 <= r <= 1:
            raise DataError(f"{name} is {r}; a correlation lies between -1 and 1 (is it defined?).")
    if n < 4:
        raise DataError(f"Williams's test needs at least 4 points (n - 3 df), but n is {n}.")
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if k < -TOLERANCE:
        raise DataError(
            f"no data has the correlations r12={r12:.6g}, r13={r13:.6g}, r23={r23:.6g} "
            f"(their determinant is {k:.6g} < 0); take all three from the same points."
        )
    difference = r12 - r13
    variance = 2 * max(k, 0.0) * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    factor = (n - 1) * (1 + r23)
    if 1 + r23 <= TOLERANCE:
        factor, variance = n - 3.0, 4 - difference**2
    if variance <= TOLERANCE**2:
        equal = difference == 0 or 1 - r23 <= TOLERANCE
        return 0.0 if equal else float(np.copysign(np.inf, difference))
    return float(difference * np.sqrt(factor / variance))


def williams_test(
    first: ArrayLike, second: ArrayLike, human: ArrayLike, level: str = "segment"
) -> Williams:
    """Return Williams's test on the cells that three system x input matrices share.

    Parameters
    ----------
    first, second, human : array_like, scores of two metrics, and judgements
    level : "segment" (points are cells) or "system"; for the text level and other coefficients
        than Pearson's r use `permutation_test`

    Returns
    -------
    Williams

    Raises
    ------
    DataError
        If a correlation is undefined: constant values, or too few points.

    Examples
    --------
    >>> round(williams_test([1, 2, 3, 4, 6], [2, 1, 4, 3, 3], [1, 2, 3, 5, 6]).p, 3)
    0.061
    """
    a, b, people = common_cells(first=first, second=second, human=human)
    level = choose_level(level)
    x, z = points(a, people, level)
    y, _ = points(b, people, level)
    correlations = pearson(z, x), pearson(z, y), pearson(x, y)
    if not np.isfinite(correlations).all():
        variables = {"first metric": x, "second metric": y, "human": z}
        constant = [name for name, v in variables.items() if not np.isfinite(pearson(v, v))]
        raise DataError(
            f"Pearson's r is undefined over the {z.size} common points, because these are "
            f"constant or fewer than two: {', '.join(constant)}."
        )
    return williams(*correlations, z.size)


def holm(p_values: ArrayLike) -> Floats:
    """Return p-values adjusted for multiple tests (Holm 1979, step-down).

    Sorted p_(1) <= ... <= p_(m): adjusted_(i) = max over j <= i of min(1, (m - j + 1) p_(j)).

    Parameters
    ----------
    p_values : array_like; NaN stays NaN and does not count as a test

    Returns
    -------
    ndarray of the same shape

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = as_floats(p_values, "the array of p-values")
    tested = np.isfinite(p)
    if ((p[tested] < 0) | (p[tested] > 1)).any():
        raise DataError(
            f"p-values range from {np.nanmin(p):.6g} to {np.nanmax(p):.6g}, not 0 to 1."
        )
    flat = p[tested]
    order = np.argsort(flat, kind="stable")
    steps = np.minimum(1.0, (flat.size - np.arange(flat.size)) * flat[order])
    flat[order] = np.maximum.accumulate(steps)
    result = np.full(p.shape, np.nan)
    result[tested] = flat
    return result
