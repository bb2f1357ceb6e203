"""Biases of a judge: towards positions, long texts, and outputs of the judge's own system.

The gap of an item is the judge's label minus the mean label of people, so that differences in
quality that both see cancel out.
"""

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Bools, Floats
from nlgauge.core.errors import OptionError
from nlgauge.stats.coefficients import divide, mean_ranks, weighted_pearson
from nlgauge.stats.intervals import Interval, bootstrap_statistic, normal_quantile
from nlgauge.stats.validation import Seed, defined_points


def wilson_interval(successes: int, trials: int, *, confidence: float = 0.95) -> Interval:
    """Return a share and its interval by Wilson's score (1927).

    Parameters
    ----------
    successes, trials : int
    confidence : float, coverage

    Returns
    -------
    Interval, NaN without trials

    Examples
    --------
    >>> found = wilson_interval(8, 10)
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.8, 0.49, 0.943)
    """
    z = normal_quantile(confidence)
    if not 0 <= successes <= trials:
        raise OptionError(f"{successes} successes of {trials} trials; give 0 to {trials}.")
    if trials == 0:
        return Interval(np.nan, np.nan, np.nan, confidence, 0, 0, "", "wilson")
    share, scale = successes / trials, 1 + z**2 / trials
    centre = (share + z**2 / (2 * trials)) / scale
    half = z * np.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2)) / scale
    low = 0.0 if successes == 0 else float(centre - half)
    high = 1.0 if successes == trials else float(centre + half)
    return Interval(share, low, high, confidence, 0, 0, "", "wilson")


def length_bias(
    gaps: ArrayLike,
    lengths: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    count: int = 1000,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """Return Spearman's correlation of gaps with lengths, and its bootstrap interval over items.

    Parameters
    ----------
    gaps : array_like, the judge's label minus the mean label of people; NaN for none
    lengths : array_like, of texts, or differences of the lengths of two texts; NaN for none
    clusters, count, confidence, seed : as in `bootstrap_agreement`

    Returns
    -------
    Interval, positive if the judge favours long texts

    Examples
    --------
    >>> length_bias([0, 1, 1, 2, 3], [10, 20, 30, 40, 50], count=100).value > 0.9
    True
    """
    (gap, length), groups = defined_points("items", clusters, gaps=gaps, lengths=lengths)

    def statistic(weights: Floats) -> Floats:
        first, second = (mean_ranks(values[None], weights) for values in (gap, length))
        return weighted_pearson(first, second, weights)

    return bootstrap_statistic(
        statistic, gap.size, groups, count=count, confidence=confidence, seed=seed
    )


def self_preference(
    gaps: ArrayLike,
    own: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    count: int = 1000,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """Return the mean gap of the judge's own outputs minus that of others, and its interval.

    Parameters
    ----------
    gaps : array_like, the judge's label minus the mean label of people; NaN for none
    own : array_like of bool, whether the output is of the judge's own system or family
    clusters, count, confidence, seed : as in `bootstrap_agreement`

    Returns
    -------
    Interval, positive if the judge favours its own outputs

    Examples
    --------
    >>> self_preference([2, 1, 0, 0, 1], [True, True, False, False, False], count=100).value
    1.1666666666666667
    """
    (gap, is_own), groups = defined_points("items", clusters, gaps=gaps, own=own)
    masks: tuple[Bools, Bools] = (is_own > 0, is_own == 0)

    def statistic(weights: Floats) -> Floats:
        first, second = (
            divide(weights[:, side] @ gap[side], weights[:, side].sum(axis=1)) for side in masks
        )
        return first - second

    return bootstrap_statistic(
        statistic, gap.size, groups, count=count, confidence=confidence, seed=seed
    )
