"""Partial correlation: the correlation of two variables after controlling for a third one."""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.stats.coefficients import divide, weighted_pearson
from nlgauge.stats.intervals import Interval, bootstrap_statistic
from nlgauge.stats.validation import Seed, defined_points


def partial_correlation(
    first: ArrayLike,
    second: ArrayLike,
    given: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    count: int = 1000,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """Return Pearson's partial correlation of two variables given a third, with its interval.

    It is the correlation of the residuals after linear regression on the third variable,
    (r12 - r13 r23) / sqrt((1 - r13^2) (1 - r23^2)).

    Parameters
    ----------
    first, second, given : array_like, one number per point; points with a NaN are left out
    clusters : array_like, optional, the cluster of every point; whole clusters are drawn
    count, confidence, seed : resamples, coverage and seed of the bootstrap

    Returns
    -------
    Interval, NaN where a variable is constant or determined by the third

    Raises
    ------
    ShapeError, DataError
        For different numbers of points, and if no point has all three values.

    Examples
    --------
    >>> found = partial_correlation([1, 2, 3, 4], [2, 1, 4, 3], [1, 1, 2, 2], count=100)
    >>> round(found.value, 3)
    -1.0
    """
    points, groups = defined_points("points", clusters, first=first, second=second, given=given)

    def statistic(weights: Floats) -> Floats:
        r12, r13, r23 = (
            weighted_pearson(x[None], y[None], weights) for x, y in combinations(points, 2)
        )
        variance = (1 - r13**2) * (1 - r23**2)
        partial = divide(r12 - r13 * r23, np.sqrt(np.where(variance < 1e-12, 0.0, variance)))
        return np.clip(partial, -1, 1)

    options: dict[str, Any] = {"count": count, "confidence": confidence, "seed": seed}
    return bootstrap_statistic(statistic, points.shape[1], groups, unit="points", **options)
