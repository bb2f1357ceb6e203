"""Power of paired tests: the number of segments that is needed to detect a difference.

A corpus score need not be a mean of segments. Its jackknife pseudo-values
n s - (n - 1) (s without segment i) are the contributions of segments: the score is their mean up
to terms of order 1/n, and exactly if it is a mean. The difference of two systems on the same
segments has one contribution per segment, so a paired comparison is a t test of their mean.

Segments of one document or prompt may be similar. Their contributions are summed by cluster; the
design effect is the variance of the mean divided by that for as many independent segments.

The estimates of a pilot are treated as the true values. Tests are two-sided.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, copysign, erfc, inf, isfinite, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.coefficients import TOLERANCE
from nlgauge.stats.groups import number_groups
from nlgauge.stats.paired_tests import as_pair
from nlgauge.stats.validation import as_floats, check_share

FinishAll = Callable[[Floats, Floats], Floats]
"""Computes corpus scores from sums of rows [k, statistics] and their numbers of rows [k]."""

MOST_SEGMENTS = 10**9
"""Larger sample sizes are not considered."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def contributions(first: ArrayLike, second: ArrayLike, finish: FinishAll) -> Floats:
    """Return every segment's contribution to the difference of two corpus scores.

    They are the differences of the jackknife pseudo-values of both systems.

    Parameters
    ----------
    first, second : array_like, statistics of the two systems, one row per segment
    finish : callable, computes corpus scores from sums of rows and their numbers of rows

    Returns
    -------
    ndarray, one number per segment; for a mean, the differences of the segments' scores

    Raises
    ------
    ShapeError or DataError
        For different numbers of segments, for fewer than 2, and for undefined statistics.

    Examples
    --------
    >>> mean = lambda totals, counts: totals[:, 0] / counts
    >>> contributions([3, 5, 7], [1, 1, 1], mean)
    array([2., 4., 6.])
    """
    a, b = as_pair(first, second)
    n = a.shape[0]
    if n < 2:
        raise DataError(f"a pilot of {n} segment has no variance; at least 2 are needed.")
    return _pseudo_values(a, finish, n) - _pseudo_values(b, finish, n)


def _pseudo_values(rows: Floats, finish: FinishAll, n: int) -> Floats:
    total = rows.sum(axis=0)
    full = finish(total[None], np.array([float(n)]))
    without = finish(total - rows, np.full(n, n - 1.0))
    return np.asarray(n * full - (n - 1) * without)


@dataclass(frozen=True)
class Pilot:
    """The difference of two systems in a pilot, and its variance per segment."""

    difference: float
    """Mean contribution of a segment."""
    deviation: float
    """Standard deviation of a segment's contribution."""
    segments: int
    clusters: int
    """Independent units: documents or prompts, or segments if they are independent."""
    design_effect: float
    """Variance of the mean over that of as many independent segments."""
    skewness: float = 0.0
    """Skewness of a cluster's contribution."""
    kurtosis: float = 0.0
    """Excess kurtosis of a cluster's contribution."""

    @property
    def cluster_size(self) -> float:
        """Mean number of segments of a cluster."""
        return self.segments / self.clusters

    def standard_error(self, segments: float) -> float:
        """Return the standard error of the difference on other segments like these."""
        return self.deviation * sqrt(self.design_effect / segments)

    def degrees(self, segments: float) -> float:
        """Return the degrees of freedom of a t test on this many segments."""
        return segments / self.cluster_size - 1

    def shape(self, segments: float) -> tuple[float, float]:
        """Return skewness and excess kurtosis of the difference on this many segments."""
        clusters = segments / self.cluster_size
        return self.skewness / sqrt(clusters), self.kurtosis / clusters


def pilot_of(values: ArrayLike, clusters: Sequence[object] | None = None) -> Pilot:
    """Return mean, deviation, design effect and shape of the segments' contributions.

    With the sums S_g of deviations from the mean in G clusters of n segments, the variance of the
    mean is G/(G-1) sum S_g^2 / n^2 (the cluster-robust variance, also for clusters of different
    sizes). Without clusters it is the variance of a mean of independent segments.

    Parameters
    ----------
    values : array_like, `contributions`
    clusters : sequence, optional, the document or prompt of every segment

    Returns
    -------
    Pilot

    Raises
    ------
    DataError or ShapeError
        For fewer than 2 clusters, for undefined or constant values, and for another number of
        labels.

    Examples
    --------
    >>> found = pilot_of([1, 1, 3, 3], ["a", "a", "b", "b"])
    >>> found.difference, round(found.design_effect, 6)
    (2.0, 3.0)
    """
    x = as_floats(values, "the pilot")
    if x.ndim != 1 or x.size < 2:
        raise DataError(f"a pilot has shape {x.shape}; give one value for each of 2 segments.")
    if undefined := int((~np.isfinite(x)).sum()):
        raise DataError(
            f"{undefined} of {x.size} segments have no defined score; leave them out of the pilot."
        )
    n = x.size
    unit = 2.0 ** float(np.frexp(np.abs(x).max())[1] - 1)  # so that squares do not overflow
    mean = float((x / unit).mean())
    deviations = x / unit - mean
    variance = float(deviations @ deviations) / (n - 1)
    if variance <= (TOLERANCE * max(abs(mean), 1e-300)) ** 2:
        raise DataError(
            f"the difference is {mean * unit:.6g} on each of the {n} segments, so the pilot has no "
            "variance from which power could be computed; use systems that differ, and more "
            "segments."
        )
    if clusters is None:
        return Pilot(mean * unit, sqrt(variance) * unit, n, n, 1.0, *_shape(deviations))
    if len(clusters) != n:
        raise ShapeError(f"{n} segments need {n} cluster labels, but there are {len(clusters)}.")
    names, member = number_groups(clusters)
    count = len(names)
    if count < 2:
        raise DataError(
            f"all {n} segments are in 1 cluster; the variance between clusters needs at least 2."
        )
    sums: Floats = np.bincount(member, weights=deviations).astype(np.float64)
    between = count / (count - 1) * float(sums @ sums) / n**2
    if between <= TOLERANCE**2 * variance / n:
        raise DataError(
            f"the {count} clusters have equal means, so the pilot has no variance between them; "
            "use more clusters."
        )
    effect = between / (variance / n)
    return Pilot(mean * unit, sqrt(variance) * unit, n, count, effect, *_shape(sums))


def _shape(deviations: Floats) -> tuple[float, float]:
    """Return skewness and excess kurtosis."""
    squares = float((deviations**2).mean())
    skewness = float((deviations**3).mean()) / squares**1.5
    return skewness, float((deviations**4).mean()) / squares**2 - 3


def difference_interval(pilot: Pilot, confidence: float = 0.95) -> tuple[float, float]:
    """Return the confidence interval of the pilot's difference, from Student's t."""
    check_share("confidence", confidence, ".95")
    limit = critical_value(1 - confidence, pilot.clusters - 1)
    half = limit * pilot.standard_error(pilot.segments)
    return pilot.difference - half, pilot.difference + half


def check_plan(alpha: float, power: float) -> None:
    """Raise OptionError unless significance level and target power are possible."""
    check_share("alpha", alpha, ".05")
    check_share("power", power, ".8")
    if power <= alpha:
        raise OptionError(
            f"power {power:g} is not above alpha {alpha:g}, which a test reaches without any "
            "difference; .8 and .05 are usual."
        )


def _upper(z: Floats) -> Floats:
    """Return P(Z > z) of standard normal Z."""
    return np.array([erfc(value) for value in (z / sqrt(2)).tolist()]) / 2


@lru_cache(maxsize=4096)
def _rejection(limit: float, shift: float, df: float) -> float:
    """Return P(|T| > limit) of a noncentral t variable T = (Z + shift) / S.

    S^2 is chi-square over its degrees of freedom: the mean over S of the normal probabilities, by
    Gauss-Legendre quadrature within 9 deviations around 1, split where the probabilities vanish.
    """
    width = 9 / sqrt(2 * df)
    low, high = max(0.0, 1 - width), 1 + width
    middle = min(max((abs(shift) + 9) / limit, low), high) if limit > 0 else high
    half = np.array([[middle - low], [high - middle]]) / 2
    s = (half * _NODES + np.array([[middle + low], [high + middle]]) / 2).ravel()
    logarithm = (df - 1) * np.log(s) - df * s**2 / 2
    weights = (half * _WEIGHTS).ravel() * np.exp(logarithm - logarithm.max())
    outside = _upper(limit * s - shift) + _upper(limit * s + shift)
    return float(weights @ outside / weights.sum())


def solve_increasing(function: Callable[[float], float], target: float) -> float:
    """Return where an increasing function of positive numbers reaches the target, or inf."""
    low, high = 0.0, 1.0
    while function(high) < target:
        low, high = high, 2 * high
        if high > 1e15:
            return inf
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high) or high - low < 1e-11 * high:
            break
        low, high = (middle, high) if function(middle) < target else (low, middle)
    return high


@lru_cache(maxsize=1024)
def critical_value(alpha: float, df: float) -> float:
    """Return the two-sided critical value of Student's t."""
    return solve_increasing(lambda t: 1 - _rejection(t, 0.0, df), 1 - alpha)


def t_power(
    shift: float, df: float, alpha: float = 0.05, shape: tuple[float, float] = (0.0, 0.0)
) -> float:
    """Return the power of a two-sided t test whose statistic is shifted by this much.

    The statistic is noncentral t for a normal mean. A mean with skewness g and excess kurtosis k
    is correlated with its estimated variance, whose own variance is larger by k; by the delta
    method this changes the statistic's mean by 3/8 k shift - g/2 and its variance, 1, by
    k shift^2 / 4 - g shift.

    Parameters
    ----------
    shift : float, the true difference over its standard error
    df : float, degrees of freedom; the power is NaN for fewer than 1
    alpha : float, significance level
    shape : skewness and excess kurtosis of the mean: those of one value over the root of their
        number, and over their number

    Returns
    -------
    float

    Examples
    --------
    >>> round(t_power(2.8, 1000), 3)
    0.799
    """
    check_share("alpha", alpha, ".05")
    if df < 1:
        return nan
    if abs(shift) == inf:
        return 1.0
    skewness, kurtosis = shape
    variance = 1 + kurtosis * shift**2 / 4 - skewness * shift
    centre = shift + 3 / 8 * kurtosis * shift - skewness / 2
    spread = sqrt(min(max(variance, 0.25), 4.0))  # the expansion holds for small changes only
    return _rejection(critical_value(alpha, df) / spread, centre / spread, df)


def power_of_difference(
    pilot: Pilot, difference: float, segments: int, alpha: float = 0.05
) -> float:
    """Return the probability that a paired test on this many segments detects the difference.

    Examples
    --------
    >>> round(power_of_difference(pilot_of([1, -1, 2, -2, 0.5]), 0.5, 100), 2)
    0.87
    """
    shift = difference / pilot.standard_error(segments)
    return t_power(shift, pilot.degrees(segments), alpha, pilot.shape(segments))


def segments_needed(
    pilot: Pilot, difference: float, power: float = 0.8, alpha: float = 0.05
) -> int | None:
    """Return the smallest number of segments with this power; None above `MOST_SEGMENTS`.

    With clusters, the segments come in clusters of the pilot's mean size.

    Raises
    ------
    OptionError
        For a difference of 0, and for a power or alpha outside (0, 1).

    Examples
    --------
    >>> segments_needed(pilot_of([1, -1, 2, -2, 0.5]), 0.5)
    84
    """
    check_plan(alpha, power)
    if difference == 0 or not isfinite(difference):
        raise OptionError(
            f"the difference to detect is {difference:g}; give a finite number other than 0, in "
            "the metric's units."
        )
    least = ceil(pilot.cluster_size) + 1
    return smallest_size(lambda n: power_of_difference(pilot, difference, n, alpha), power, least)


def smallest_size(power_at: Callable[[int], float], target: float, least: int) -> int | None:
    """Return the smallest number whose power reaches the target; power increases with it."""
    low, high = least - 1, least
    while not power_at(high) >= target:
        if high >= MOST_SEGMENTS:
            return None
        low, high = high, min(2 * high, MOST_SEGMENTS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_at(middle) >= target else (middle, high)
    return high


def detectable_difference(
    pilot: Pilot, segments: int, power: float = 0.8, alpha: float = 0.05
) -> float:
    """Return the smallest difference that a test on this many segments detects with this power.

    It has the sign of the pilot's difference, and is NaN for fewer than 2 clusters.

    Examples
    --------
    >>> round(detectable_difference(pilot_of([1, -1, 2, -2, 0.5]), 84), 2)
    0.5
    """
    check_plan(alpha, power)
    if pilot.degrees(segments) < 1:
        return nan
    unit = copysign(pilot.standard_error(segments), pilot.difference)
    return unit * solve_increasing(
        lambda shift: power_of_difference(pilot, shift * unit, segments, alpha), power
    )
