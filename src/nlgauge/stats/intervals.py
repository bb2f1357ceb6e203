"""Confidence intervals of correlations and of corpus scores."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, ShapeError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.stats.coefficients import pearson
from nlgauge.stats.levels import Average, Which, choose_level, correlation_of, points
from nlgauge.stats.validation import (
    Over,
    Seed,
    as_matrices,
    as_rows,
    check_over,
    check_share,
    resample,
)

Finish = Callable[[Floats], float]


@dataclass(frozen=True)
class Interval:
    """A value and its confidence interval, from bootstrap percentiles unless `method` differs."""

    value: float
    low: float
    high: float
    confidence: float
    count: int
    """Resamples with a defined value, on which the interval is based."""
    undefined: int
    """Resamples without one (a constant draw, for example)."""
    over: str
    """What was resampled; empty for an interval without resampling."""
    method: str = "bootstrap"
    """"bootstrap" (percentiles of resamples), "fisher" (z transformation), "wilson" (score) or
    "adjusted Wald"."""

    def to_dict(self) -> dict[str, Any]:
        """Return the limits and their meaning for JSON; None for an undefined limit."""
        low, high = to_jsonable((self.low, self.high))
        limits = {"low": low, "high": high, "confidence": self.confidence}
        return {**limits, "interval": self.method, "resampled": self.over or None}


def normal_quantile(confidence: float) -> float:
    """Return the deviations around a normal mean within which this share of values lies."""
    check_share("confidence", confidence, ".95")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def percentile_interval(value: float, resampled: Floats, confidence: float, over: str) -> Interval:
    """Return the interval between the (1 - confidence)/2 and (1 + confidence)/2 quantiles."""
    check_share("confidence", confidence, ".95")
    defined = resampled[np.isfinite(resampled)]
    n, tail = defined.size, (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail]) if n else (np.nan, np.nan)
    return Interval(value, float(low), float(high), confidence, n, resampled.size - n, over)


def resample_weights(n: int, count: int, rng: np.random.Generator) -> Floats:
    """Return how often each of n segments is drawn in each of `count` resamples of size n."""
    indices = rng.integers(n, size=(count, n)) + np.arange(count)[:, None] * n
    return np.bincount(indices.ravel(), minlength=count * n).reshape(count, n).astype(np.float64)


def bootstrap_statistic(
    statistic: Callable[[Floats], Floats],
    items: int,
    clusters: ArrayLike | None = None,
    *,
    unit: str = "items",
    count: int = 1000,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """Return a statistic of weighted items and its interval.

    `statistic` takes weights, resamples x items, and returns a value per resample.
    """

    def column(weights: Floats) -> Floats:
        return statistic(weights)[:, None]

    values, draws = bootstrap_items(column, items, clusters=clusters, count=count, seed=seed)
    over = unit if clusters is None else "clusters"
    return percentile_interval(float(values[0]), draws[:, 0], confidence, over)


def bootstrap_items(
    statistics: Callable[[Floats], Floats],
    items: int,
    *,
    clusters: ArrayLike | None = None,
    count: int = 1000,
    seed: Seed = 0,
) -> tuple[Floats, Floats]:
    """Return statistics of weighted items, and those of resamples (a row each).

    The latter are NaN for a single item or cluster, whose resamples are all equal. `statistics`
    takes weights, resamples x items, and returns resamples x statistics.
    """
    if items < 1:
        raise DataError("there are 0 items; at least 1 is needed.")
    groups = np.arange(items)
    if clusters is not None:
        labels = np.asarray(clusters)
        if labels.shape != (items,):
            raise ShapeError(f"{items} items need {items} clusters, not {labels.shape}.")
        groups = np.unique(labels, return_inverse=True)[1]
    size = int(groups.max()) + 1

    def draw(number: int, rng: np.random.Generator) -> Floats:
        drawn = statistics(resample_weights(size, number, rng)[:, groups])
        return drawn if size > 1 else drawn * np.nan

    return statistics(np.ones((1, items)))[0], resample(draw, count, seed, 4 * items)


def bootstrap(
    rows: ArrayLike, finish: Finish, *, count: int = 1000, confidence: float = 0.95, seed: Seed = 0
) -> Interval:
    """Return the corpus value `finish(sum of rows)` and its interval over segments.

    Parameters
    ----------
    rows : array_like, one row of sufficient statistics per segment (n-gram matches and lengths for
        BLEU; the score and a 1 for a mean)
    finish : callable, computes the corpus value of a summed row
    count, confidence, seed : resamples, coverage and seed

    Returns
    -------
    Interval, with NaN limits for a single segment

    Examples
    --------
    >>> bootstrap([[1, 1], [2, 1], [3, 1]], lambda total: total[0] / total[1]).value
    2.0
    """
    table = as_rows(rows, "rows")

    def corpus_values(weights: Floats) -> Floats:
        return np.asarray([float(finish(total)) for total in weights @ table])

    options: dict[str, Any] = {"count": count, "confidence": confidence, "seed": seed}
    return bootstrap_statistic(corpus_values, len(table), unit="segments", **options)


def _bootstrap_matrices(
    statistic: Callable[..., Floats],
    matrices: tuple[Floats, ...],
    over: Over,
    count: int,
    confidence: float,
    seed: Seed,
) -> Interval:
    """Return a statistic of stacks of matrices and its interval; all share the drawn cells."""
    systems, inputs = matrices[0].shape
    check_over(over, systems, inputs)

    def draw(size: int, rng: np.random.Generator) -> Floats:
        row, column = (
            np.tile(np.arange(n), (size, 1)) if over == fixed else rng.integers(n, size=(size, n))
            for n, fixed in ((systems, "inputs"), (inputs, "systems"))
        )
        return statistic(*(matrix[row[:, :, None], column[:, None]] for matrix in matrices))

    value = float(statistic(*(matrix[None] for matrix in matrices))[0])
    resampled = resample(draw, count, seed, systems * inputs)
    return percentile_interval(value, resampled, confidence, over)


def bootstrap_correlation(
    metric: ArrayLike,
    human: ArrayLike,
    level: str = "segment",
    coefficient: Which = "pearson",
    *,
    over: Over = "inputs",
    average: Average = "macro",
    count: int = 1000,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """Return a correlation and its bootstrap interval over inputs, systems or both.

    BOOT-INPUTS, BOOT-SYSTEMS and BOOT-BOTH of Deutsch et al. 2021. The same rows and columns are
    drawn for the metric and for people. A system that is drawn twice is a tie for both, so limits
    of "accuracy", "acc_eq" and "spa" over n systems are too high, by about (1 - value) / n.

    Parameters
    ----------
    metric, human, level, coefficient, average : as in `correlate`
    over : "inputs", "systems" or "both", what is drawn with replacement
    count, confidence, seed : resamples, coverage and seed

    Returns
    -------
    Interval

    Examples
    --------
    >>> round(bootstrap_correlation([1, 2, 3, 5], [2, 1, 4, 5], count=200).value, 3)
    0.855
    """
    correlation = correlation_of(level, coefficient, average)
    matrices = as_matrices(metric=metric, human=human)
    return _bootstrap_matrices(correlation, matrices, over, count, confidence, seed)


def fisher_interval(
    metric: ArrayLike, human: ArrayLike, level: str = "segment", *, confidence: float = 0.95
) -> Interval:
    """Return Pearson's r at the segment or system level and its interval by Fisher's z.

    tanh(atanh(r) +- z / sqrt(n - 3)) over n points, for independent points of a bivariate normal
    distribution. Segments of one input or system are not independent, so the interval at the
    segment level is often too narrow; the bootstrap over inputs is not.

    Parameters
    ----------
    metric, human : array_like, systems x inputs
    level : "segment" or "system"
    confidence : float, coverage

    Returns
    -------
    Interval, with NaN limits for fewer than 4 points

    Examples
    --------
    >>> found = fisher_interval([1, 2, 3, 5, 4], [2, 1, 4, 5, 3])
    >>> round(found.low, 3), round(found.high, 3)
    (-0.28, 0.986)
    """
    deviations = normal_quantile(confidence)
    one, other = as_matrices(metric=metric, human=human)
    x, y = points(one, other, choose_level(level))
    r, n = pearson(x, y), x.size
    low = high = float("nan")
    if n > 3 and np.isfinite(r):
        z = deviations / np.sqrt(n - 3)
        centre = np.arctanh(r) if abs(r) < 1 else np.copysign(np.inf, r)
        low, high = float(np.tanh(centre - z)), float(np.tanh(centre + z))
    return Interval(r, low, high, confidence, 0, 0, "", "fisher")


def bootstrap_difference(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    level: str = "segment",
    coefficient: Which = "pearson",
    *,
    over: Over = "inputs",
    count: int = 1000,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """Return the first metric's correlation with people minus the second's, and its interval.

    Every draw of rows and columns is used for both metrics and for people. Parameters are those of
    `bootstrap_correlation`, with two metrics.

    Returns
    -------
    Interval

    Examples
    --------
    >>> people = [1, 2, 3, 4, 5]
    >>> round(bootstrap_difference(people, [2, 1, 3, 5, 4], people, count=200).value, 3)
    0.2
    """
    correlation = correlation_of(level, coefficient)

    def difference(one: Floats, other: Floats, people: Floats) -> Floats:
        return correlation(one, people) - correlation(other, people)

    matrices = as_matrices(first=first, second=second, human=human)
    return _bootstrap_matrices(difference, matrices, over, count, confidence, seed)
