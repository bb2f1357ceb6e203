"""Tests of differences between the corpus scores of systems, and clusters of a ranking.

The tests use rows of sufficient statistics, one per segment, with the same segments in the same
order for both systems, and a function `finish` that computes the corpus score of summed rows.
Segments that are not independent (sentences of a document) are grouped with `groups.sum_groups`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, ShapeError
from nlgauge.stats.coefficients import TOLERANCE
from nlgauge.stats.intervals import Finish, Interval, percentile_interval, resample_weights
from nlgauge.stats.validation import Seed, as_floats, as_rows, check_share, p_value, resample

MAX_ENUMERATED = 15
"""Up to this many differing segments, `paired_permutation` enumerates all exchanges (2^14)."""


@dataclass(frozen=True)
class PairedTest:
    """A two-sided test that two systems have the same corpus score."""

    first: float
    second: float
    difference: float
    p: float
    method: str
    count: int
    """Random resamples or exchanges; 0 for an exact test."""
    wins: float | None = None
    """Share of resamples in which the first system scores higher (bootstrap only)."""
    interval: Interval | None = None
    """Interval of the difference (bootstrap and McNemar's test only)."""


def paired_bootstrap(
    first: ArrayLike,
    second: ArrayLike,
    finish: Finish,
    *,
    count: int = 1000,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> PairedTest:
    """Return the paired bootstrap test (Koehn 2004) with the shifted p of Riezler & Maxwell 2005.

    Segments are drawn with replacement, the same draw for both systems. The resampled differences
    centre on the observed one, so the null distribution is made by subtracting their mean:
    p = (1 + #{|d* - mean d*| >= |d|}) / (1 + count).

    sacrebleu's p, (1 + #{|d*| - mean |d*| > |d|}) / (1 + count), is smaller: for normal d* it is
    .024 where this p is .05, .085 at .2, .18 at .5 and .42 at 1. Only a small p is about twice
    sacrebleu's.

    Parameters
    ----------
    first, second : array_like, statistics of the two systems, one row per segment
    finish : callable, computes the corpus score of a summed row
    count, confidence, seed : resamples, coverage of the interval, and seed

    Returns
    -------
    PairedTest

    Raises
    ------
    DataError
        For a single segment, of which every resample is the same.

    Examples
    --------
    >>> paired_bootstrap([1, 1, 1, 0], [0, 0, 1, 0], lambda total: total[0] / 4).difference
    0.5
    """
    a, b = as_pair(first, second)
    if len(a) < 2:
        raise DataError(
            "a bootstrap of 1 segment (or group) is meaningless: all resamples are equal; "
            "give at least 2, or use a permutation test."
        )

    def draw(size: int, rng: np.random.Generator) -> Floats:
        weights = resample_weights(len(a), size, rng)
        return _differences(weights @ a, weights @ b, finish)

    resampled = resample(draw, count, seed, len(a))
    one, other = _corpus_scores(a, b, finish)
    p = _two_sided(resampled - resampled.mean(), one, other)
    interval = percentile_interval(one - other, resampled, confidence, "segments")
    wins = float((resampled > 0).mean())
    return PairedTest(one, other, one - other, p, "paired bootstrap", count, wins, interval)


def paired_randomisation(
    first: ArrayLike, second: ArrayLike, finish: Finish, *, count: int = 10_000, seed: Seed = 0
) -> PairedTest:
    """Return the paired approximate randomisation test (Riezler & Maxwell 2005).

    Under the null hypothesis the two outputs for a segment are exchangeable. Every trial swaps
    about half of the rows: p = (1 + #{|d of the swapped pair| >= |d|}) / (1 + count). Parameters
    are those of `paired_bootstrap`.

    Returns
    -------
    PairedTest

    Examples
    --------
    >>> paired_randomisation([1, 2], [1, 2], lambda total: total[0], count=100).p
    1.0
    """
    a, b = as_pair(first, second)

    def draw(size: int, rng: np.random.Generator) -> Floats:
        moved = rng.integers(0, 2, size=(size, len(a))).astype(np.float64) @ (b - a)
        return _differences(a.sum(axis=0) + moved, b.sum(axis=0) - moved, finish)

    resampled = resample(draw, count, seed, len(a))
    one, other = _corpus_scores(a, b, finish)
    p = _two_sided(resampled, one, other)
    return PairedTest(one, other, one - other, p, "paired approximate randomisation", count)


def paired_permutation(
    first: ArrayLike, second: ArrayLike, finish: Finish, *, count: int = 10_000, seed: Seed = 0
) -> PairedTest:
    """Return the paired permutation test, exact if few segments differ.

    If at most `MAX_ENUMERATED` rows differ between the systems, all exchanges of these are
    enumerated: p = share of exchanges with |d| at least as large as observed. Otherwise `count`
    random exchanges are drawn, as in `paired_randomisation`. Parameters are those of
    `paired_bootstrap`.

    Returns
    -------
    PairedTest

    Examples
    --------
    >>> paired_permutation([1, 1, 1, 0], [0, 0, 0, 0], lambda total: total[0] / 4).p
    0.25
    """
    a, b = as_pair(first, second)
    moved = (b - a)[(a != b).any(axis=1)]
    k = len(moved)
    if k > MAX_ENUMERATED:
        return paired_randomisation(a, b, finish, count=count, seed=seed)
    one, other = _corpus_scores(a, b, finish)
    # Exchanging all rows changes the sign of d only, so the first row stays where it is.
    swapped = (np.arange(2 ** max(k - 1, 0))[:, None] >> np.arange(k)[::-1]) & 1
    moves = swapped @ moved
    null = _differences(a.sum(axis=0) + moves, b.sum(axis=0) - moves, finish)
    p = float((np.abs(null) >= abs(one - other) - _rounding(one, other)).mean())
    return PairedTest(one, other, one - other, p, "exact paired permutation", 0)


def as_pair(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """Return the rows of two systems, of the same shape."""
    a, b = as_rows(first, "the first system"), as_rows(second, "the second system")
    if a.shape != b.shape:
        raise ShapeError(
            f"the first system has {a.shape[0]} segments of {a.shape[1]} statistics, the second "
            f"{b.shape[0]} of {b.shape[1]}; a paired test needs the same segments for both."
        )
    return a, b


def _corpus_scores(a: Floats, b: Floats, finish: Finish) -> tuple[float, float]:
    one, other = _finish_all(np.stack([a.sum(axis=0), b.sum(axis=0)]), finish).tolist()
    return one, other


def _differences(first: Floats, second: Floats, finish: Finish) -> Floats:
    return _finish_all(first, finish) - _finish_all(second, finish)


def _finish_all(totals: Floats, finish: Finish) -> Floats:
    values = np.asarray([float(finish(total)) for total in totals], dtype=np.float64)
    if undefined := int((~np.isfinite(values)).sum()):
        share = f"{undefined} undefined scores for {values.size} resampled totals"
        raise DataError(f"finish gave {share}; it must define a value for every sum of rows.")
    return values


def _two_sided(null: Floats, one: float, other: float) -> float:
    return p_value(np.abs(null), abs(one - other), _rounding(one, other))


def _rounding(one: float, other: float) -> float:
    """Return the largest difference of two corpus scores that are equal up to rounding."""
    return TOLERANCE * max(abs(one), abs(other))


@dataclass(frozen=True)
class Cluster:
    """Systems without a significant separation, best first, with their range of ranks."""

    names: tuple[str, ...]
    best_rank: int
    worst_rank: int


def rank_clusters(
    names: Sequence[str], scores: ArrayLike, p_values: ArrayLike, *, alpha: float = 0.05
) -> tuple[Cluster, ...]:
    """Return the clusters of a ranking, as reported by WMT.

    Systems are sorted by score; a new cluster starts where every system above is better than every
    system below with p < alpha. Every pair across the cut must be significant, so p needs no
    correction for several pairs (an intersection-union test). Two systems of one cluster may still
    differ significantly. An undefined p separates nothing.

    Parameters
    ----------
    names, scores : the n systems and their scores, higher is better
    p_values : array_like, n x n; `p_values[i, j]` is the p of "i is better than j" (one-sided, as
        at WMT) or of "i and j differ" (two-sided, then symmetric)
    alpha : float, significance level

    Returns
    -------
    tuple of Cluster

    Examples
    --------
    >>> p = [[0.5, 0.4, 0.01], [0.6, 0.5, 0.02], [0.99, 0.98, 0.5]]
    >>> [cluster.names for cluster in rank_clusters(["a", "b", "c"], [3, 2, 1], p)]
    [('a', 'b'), ('c',)]
    """
    check_share("alpha", alpha, ".05")
    score, p = as_floats(scores, "scores"), as_floats(p_values, "p_values")
    n = len(names)
    if score.shape != (n,) or p.shape != (n, n):
        shapes = f"{score.shape} and {p.shape}"
        raise ShapeError(f"{n} names need {n} scores and {n} x {n} p-values, not {shapes}.")
    if not np.isfinite(score).all():
        raise DataError(f"{int((~np.isfinite(score)).sum())} of {n} scores are NaN or infinite.")
    order = np.argsort(-score, kind="stable")
    better = p[np.ix_(order, order)] < alpha
    starts = [0, *(cut for cut in range(1, n) if better[:cut, cut:].all()), n]
    return tuple(
        Cluster(tuple(names[i] for i in order[start:stop]), start + 1, stop)
        for start, stop in pairwise(starts)
        if stop > start
    )
