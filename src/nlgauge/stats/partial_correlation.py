"""Partial correlation: the correlation of two variables after controlling for a third one."""

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, ShapeError
from nlgauge.stats.coefficients import divide
from nlgauge.stats.intervals import Interval, percentile_interval
from nlgauge.stats.rater_agreement import bootstrap_items
from nlgauge.stats.validation import Seed, as_floats


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
    rows = [as_floats(each, "a variable") for each in (first, second, given)]
    if len({row.shape for row in rows}) > 1 or rows[0].ndim != 1:
        shapes = ", ".join(str(row.shape) for row in rows)
        raise ShapeError(f"three variables of the same points are needed, got shapes {shapes}.")
    points = np.stack(rows)
    defined = np.isfinite(points).all(axis=0)
    if not defined.any():
        raise DataError(f"none of {defined.size} points has all three values.")
    points = points[:, defined]
    points = points / np.maximum(np.abs(points).max(axis=1, keepdims=True), 1e-300)
    scaled = points - points.mean(axis=1, keepdims=True)  # large means would cost digits
    products = np.stack([a * b for i, a in enumerate(scaled) for b in scaled[i:]], axis=1)

    def statistic(weights: Floats) -> Floats:
        total = weights.sum(axis=1, keepdims=True)
        centres = weights @ scaled.T / total
        squares = weights @ products / total
        places = [(i, j) for i in range(3) for j in range(i, 3)]
        covariance = {
            place: squares[:, k] - centres[:, place[0]] * centres[:, place[1]]
            for k, place in enumerate(places)
        }

        def r(i: int, j: int) -> Floats:
            spread = covariance[i, i] * covariance[j, j]
            constant = np.minimum(covariance[i, i], covariance[j, j]) <= 1e-14
            return divide(covariance[i, j], np.sqrt(np.where(constant, 0.0, np.abs(spread))))

        r12, r13, r23 = r(0, 1), r(0, 2), r(1, 2)
        variance = np.maximum((1 - r13**2) * (1 - r23**2), 0.0)
        partial = divide(r12 - r13 * r23, np.sqrt(np.where(variance < 1e-12, 0.0, variance)))
        return np.asarray(np.clip(partial, -1, 1)[:, None])

    groups = None if clusters is None else np.asarray(clusters)[defined]
    values, draws = bootstrap_items(
        statistic, points.shape[1], clusters=groups, count=count, seed=seed
    )
    over = "points" if clusters is None else "clusters"
    return percentile_interval(float(values[0]), draws[:, 0], confidence, over)
