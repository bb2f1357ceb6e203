"""Power of Williams's test: the number of judged points that is needed to separate two metrics.

The estimates of a pilot are treated as the true values. Tests are two-sided.
"""

from math import nan, sqrt

from nlgauge.stats.power import (
    MOST_SEGMENTS,
    check_plan,
    smallest_size,
    solve_increasing,
    t_power,
)
from nlgauge.stats.significance import williams_statistic


def power_of_williams(r12: float, r13: float, r23: float, n: int, alpha: float = 0.05) -> float:
    """Return the power of Williams's test, two-sided, if these are the true correlations.

    The statistic is a noncentral t whose shift is `williams`'s t at the true correlations. The
    points are independent and jointly normal.

    Parameters
    ----------
    r12, r13, r23 : Pearson's r of people and first metric, people and second metric, both metrics
    n : int, judged points, at least 4
    alpha : float, significance level

    Returns
    -------
    float

    Examples
    --------
    >>> round(power_of_williams(0.5, 0.4, 0.8, 150), 2)
    0.59
    """
    return t_power(williams_statistic(r12, r13, r23, n), n - 3, alpha)


def points_needed(
    r12: float, r13: float, r23: float, power: float = 0.8, alpha: float = 0.05
) -> int | None:
    """Return the judged points with which Williams's test has this power; None if none suffice.

    Examples
    --------
    >>> points_needed(0.5, 0.4, 0.8)
    242
    """
    check_plan(alpha, power)
    if williams_statistic(r12, r13, r23, MOST_SEGMENTS) == 0:
        return None
    return smallest_size(lambda n: power_of_williams(r12, r13, r23, n, alpha), power, 4)


def detectable_correlation(
    r: float, r23: float, n: int, power: float = 0.8, alpha: float = 0.05
) -> float:
    """Return the smallest difference of two correlations that Williams's test detects at n points.

    The correlations are r plus and minus half the difference, and r23 that of the two metrics. NaN
    if no correlations that data can have are far enough apart.

    Examples
    --------
    >>> round(detectable_correlation(0.45, 0.8, 242), 3)
    0.1
    """
    check_plan(alpha, power)
    # The determinant 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23 is 0 at the largest difference.
    squared = 2 * ((1 - r23**2) - 2 * r**2 * (1 - r23)) / (1 + r23) if r23 > -1 else 0.0
    largest = sqrt(max(squared, 0.0)) * (1 - 1e-9)

    def power_at(gap: float) -> float:
        return power_of_williams(r + gap / 2, r - gap / 2, r23, n, alpha)

    if largest <= 0 or power_at(largest) < power:
        return nan
    return solve_increasing(lambda gap: power_at(min(gap, largest)), power)
