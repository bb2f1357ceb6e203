"""Pairwise accuracy with calibrated ties, and soft pairwise accuracy.

The plain pairwise accuracy is the coefficient "accuracy" of `correlate`. The first of these two
also needs a threshold below which a metric's difference is a tie, the second the metric's own
confidence. They are the coefficients "acc_eq" (`calibrate_ties`) and "spa"
(`soft_pairwise_accuracy`) of `correlate`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, OptionError
from nlgauge.stats.intervals import Interval, percentile_interval
from nlgauge.stats.levels import choose_level
from nlgauge.stats.pair_statistics import (
    SoftAccuracy,
    chance_level,
    decisions,
    mt_metrics_eval_soft_accuracy,
    soft_accuracy,
)
from nlgauge.stats.validation import Seed, as_matrices


@dataclass(frozen=True)
class Accuracy:
    """Pairwise accuracy (acc_eq) at a tie threshold."""

    value: float
    epsilon: float
    """Metric differences up to this are ties."""
    level: str
    pairs: int
    rows_used: int
    rows_undefined: int
    calibrated: bool
    """Whether epsilon was chosen on the same pairs (then the value is optimistic)."""


def _accuracy(metric: ArrayLike, human: ArrayLike, level: str, epsilon: float | None) -> Accuracy:
    """Return the accuracy at a tie threshold, or at the best one if it is None."""
    x, y, level = _check_inputs(metric, human, level)
    pairs = decisions(x, y, level)
    if not pairs.inputs:
        raise DataError(f"no input has two of the {x.shape[0]} systems both scored and judged.")
    calibrated = epsilon is None
    value, threshold = pairs.best() if epsilon is None else (pairs.accuracy(epsilon), epsilon)
    sizes = pairs.size.size, pairs.inputs, pairs.inputs_without
    return Accuracy(value, threshold, level, *sizes, calibrated)


def _check_inputs(metric: ArrayLike, human: ArrayLike, level: str) -> tuple[Floats, Floats, str]:
    """Return both matrices and the level, which is "text" or "system"."""
    level = choose_level(level)
    x, y = as_matrices(metric=metric, human=human)
    if level not in ("text", "system"):
        raise OptionError(
            f"ties are calibrated at the text or system level, not at {level!r}; the "
            "coefficient 'accuracy' of `correlate` counts pairs at every level."
        )
    return x, y, level


def pairwise_accuracy(
    metric: ArrayLike, human: ArrayLike, level: str = "text", *, epsilon: float = 0.0
) -> Accuracy:
    """Return acc_eq of Deutsch et al. 2023: the share of pairs of systems decided as by people.

    Parameters
    ----------
    metric, human : array_like, systems x inputs
    level : "text" (pairs within an input, averaged over inputs) or "system" (pairs of means)
    epsilon : float, largest metric difference that is a tie, up to rounding

    Returns
    -------
    Accuracy

    Examples
    --------
    >>> pairwise_accuracy([[1], [2], [2.1]], [[1], [2], [2]], epsilon=0.2).value
    1.0
    """
    if not epsilon >= 0:
        raise OptionError(f"epsilon is {epsilon}; a tie threshold is at least 0.")
    return _accuracy(metric, human, level, epsilon)


def calibrate_ties(metric: ArrayLike, human: ArrayLike, level: str = "text") -> Accuracy:
    """Return the best acc_eq over all tie thresholds, at the smallest threshold that attains it.

    Parameters are those of `pairwise_accuracy`, which evaluates the fitted threshold on other data.

    Returns
    -------
    Accuracy

    Examples
    --------
    >>> calibrate_ties([[1.0], [2.0], [2.5]], [[1], [2], [2]]).epsilon
    0.5
    """
    return _accuracy(metric, human, level, None)


def chance_accuracy(
    metric: ArrayLike,
    human: ArrayLike,
    level: str = "text",
    *,
    count: int = 100,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """Return the chance level of `calibrate_ties`, and the interval of values due to chance.

    The metric's scores are shuffled among the systems of each input, `count` times, and ties are
    calibrated again: the mean is the expected value of an uninformative metric with the same ties.
    It depends on the data: it is at least the share of human ties, which a constant metric gets,
    and about one half without ties.

    Parameters
    ----------
    metric, human, level : as in `pairwise_accuracy`
    count, confidence, seed : shuffles, coverage of the interval, and seed

    Returns
    -------
    Interval

    Examples
    --------
    >>> chance_accuracy([[1], [2], [3]], [[1], [1], [1]]).value
    1.0
    """
    x, y, level = _check_inputs(metric, human, level)
    chance_values = chance_level(x, y, level, count, seed)
    return percentile_interval(float(chance_values.mean()), chance_values, confidence, "shuffles")


def soft_pairwise_accuracy(
    metric: ArrayLike,
    human: ArrayLike,
    *,
    count: int = 1000,
    seed: Seed | None = None,
    compat: str | None = None,
) -> SoftAccuracy:
    """Return 1 - mean |p_human - p_metric| over pairs of systems (Thompson et al. 2024).

    p is the one-sided p-value of a paired permutation test between two systems over their common
    inputs: a metric agrees with people if it is as certain about the order of two systems.

    A permuted difference that equals the observed one counts half (mid-p), so that p(A beats B) is
    1 - p(B beats A), and the value does not depend on the order of the systems. mt-metrics-eval
    counts it fully: with few inputs or many ties its value changes with the order of the systems.

    Parameters
    ----------
    metric, human : array_like, systems x inputs
    count, seed : permutations and their seed; by default 0, for `compat` 4
    compat : "mt-metrics-eval" for the numbers of its pce.py; needs all systems on every input used

    Returns
    -------
    SoftAccuracy

    Examples
    --------
    >>> soft_pairwise_accuracy([[1, 2, 3], [2, 4, 3]], [[1, 2, 3], [2, 4, 3]]).value
    1.0
    """
    x, y = as_matrices(metric=metric, human=human)
    if compat is not None:
        return _mt_metrics_eval_accuracy(x, y, count, 4 if seed is None else seed, compat)
    accuracy = soft_accuracy(x, y, count, 0 if seed is None else seed)
    if not accuracy.pairs:
        raise DataError(f"no two of the {x.shape[0]} systems share a scored and judged input.")
    return accuracy


def _mt_metrics_eval_accuracy(
    x: Floats, y: Floats, count: int, seed: Seed, compat: str
) -> SoftAccuracy:
    if compat != "mt-metrics-eval":
        raise OptionError(f"compat is {compat!r}; it is None or 'mt-metrics-eval'.")
    present = np.isfinite(x) & np.isfinite(y)
    full, partial = present.all(axis=0), present.any(axis=0)
    if x.shape[0] < 2 or not full.any() or (full != partial).any():
        raise DataError(
            f"{int((partial & ~full).sum())} of {full.size} inputs lack some of the {x.shape[0]} "
            "systems; compat='mt-metrics-eval' needs at least 2 systems, all on every input."
        )
    value = mt_metrics_eval_soft_accuracy(x[:, full], y[:, full], count, seed)
    return SoftAccuracy(value, x.shape[0] * (x.shape[0] - 1) // 2, 0, count)
