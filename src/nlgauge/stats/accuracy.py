"""Pairwise accuracy with calibrated ties, and soft pairwise accuracy.

The plain pairwise accuracy is the coefficient "accuracy" of `correlate`; these two also need a
threshold below which a metric's difference is a tie, or the metric's own confidence.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats, Ints
from nlgauge.core.errors import DataError, OptionError
from nlgauge.stats.coefficients import TOLERANCE
from nlgauge.stats.levels import choose_level, system_means
from nlgauge.stats.validation import Seed, as_matrices, resample


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
    """Whether epsilon was chosen on these very pairs (then the value is optimistic)."""


def _difference(values: Floats, first: Ints, second: Ints) -> Floats:
    a, b = values[first], values[second]
    noise = np.abs(a - b) <= TOLERANCE * np.maximum(np.abs(a), np.abs(b))
    return np.where(noise, 0.0, a - b)


def _accuracy(metric: ArrayLike, human: ArrayLike, level: str, epsilon: float | None) -> Accuracy:
    """Return the accuracy at a tie threshold, or at the best one if it is None."""
    level = choose_level(level)
    x, y = as_matrices(metric=metric, human=human)
    present = np.isfinite(x) & np.isfinite(y)
    if level == "system":
        x, y = system_means(x, present)[:, None], system_means(y, present)[:, None]
        present = np.isfinite(x)
    elif level != "text":
        raise OptionError(
            f"ties are calibrated at the text or system level, not at {level!r}; pairs across "
            "inputs have no common scale (correlate(..., 'segment', 'accuracy') counts them)."
        )
    first, second = np.triu_indices(x.shape[0], 1)
    both = present[first] & present[second]
    per_row = both.sum(axis=0)
    used = int((per_row > 0).sum())
    if not used:
        raise DataError(f"no input has two of the {x.shape[0]} systems both scored and judged.")
    # Every input has the same weight, however many systems were judged on it.
    weight = np.broadcast_to(1.0 / (used * np.maximum(per_row, 1)), both.shape)[both]
    dx, dy = _difference(x, first, second)[both], _difference(y, first, second)[both]
    size, if_ordered, if_tied = np.abs(dx), np.sign(dx) == np.sign(dy), dy == 0
    if epsilon is None:
        value, threshold = _best_threshold(size, if_ordered * weight, if_tied * weight)
    else:
        right = np.where(size <= epsilon, if_tied, if_ordered)
        value, threshold = float((right * weight).sum()), epsilon
    return Accuracy(value, threshold, level, size.size, used, x.shape[1] - used, epsilon is None)


def _best_threshold(size: Floats, if_ordered: Floats, if_tied: Floats) -> tuple[float, float]:
    """Return the best accuracy and the smallest threshold of differences that attains it."""
    # As the threshold passes a pair's difference, the pair turns from "ordered" to "tied".
    order = np.argsort(size, kind="stable")
    sizes = np.concatenate([[0.0], size[order]])
    change = np.cumsum((if_tied - if_ordered)[order])
    reached = float(if_ordered.sum()) + np.concatenate([[0.0], change])
    # A threshold turns all pairs of equal difference at once: only the last of a run is reachable.
    last = np.concatenate([sizes[1:] != sizes[:-1], [True]])
    sizes, reached = sizes[last], reached[last]
    best = int(np.argmax(reached >= reached.max() - 1e-12))
    return float(reached[best]), float(sizes[best])


def pairwise_accuracy(
    metric: ArrayLike, human: ArrayLike, level: str = "text", *, epsilon: float = 0.0
) -> Accuracy:
    """Return acc_eq of Deutsch et al. 2023: the share of pairs of systems decided as by people.

    Parameters
    ----------
    metric, human : array_like, systems x inputs
    level : "text" (pairs within an input, averaged over inputs) or "system" (pairs of means)
    epsilon : float, largest metric difference that is a tie

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


@dataclass(frozen=True)
class SoftAccuracy:
    """Soft pairwise accuracy over pairs of systems."""

    value: float
    pairs: int
    pairs_undefined: int
    """Pairs of systems without a common judged input."""
    count: int


def _swap_p_values(difference: Floats, count: int, seed: Seed) -> Floats:
    """Return one-sided p-values of paired permutation tests over the last axis (inputs).

    Equal outcomes count half (mid-p), so that p(A beats B) + p(B beats A) = 1.
    """
    observed = difference.sum(axis=-1, keepdims=True)
    slack = TOLERANCE * np.abs(difference).sum(axis=-1, keepdims=True)
    inputs = difference.shape[-1]

    def above(size: int, rng: np.random.Generator) -> Floats:
        signs = rng.integers(0, 2, size=(size, inputs)) * 2.0 - 1.0
        excess = difference @ signs.T - observed
        counted = (excess > slack) + 0.5 * (np.abs(excess) <= slack)
        return np.expand_dims(counted.sum(axis=-1), 0)

    return np.asarray(resample(above, count, seed, inputs).sum(axis=0) / count)


def soft_pairwise_accuracy(
    metric: ArrayLike, human: ArrayLike, *, count: int = 1000, seed: Seed = 0
) -> SoftAccuracy:
    """Return 1 - mean |p_human - p_metric| over pairs of systems (Thompson et al. 2024).

    p is the one-sided p-value of a paired permutation test between two systems over their common
    inputs: a metric is right if it is as certain of the order of two systems as people are.

    Parameters
    ----------
    metric, human : array_like, systems x inputs
    count, seed : permutations and their seed

    Returns
    -------
    SoftAccuracy

    Examples
    --------
    >>> soft_pairwise_accuracy([[1, 2, 3], [2, 4, 3]], [[1, 2, 3], [2, 4, 3]]).value
    1.0
    """
    x, y = as_matrices(metric=metric, human=human)
    present = np.isfinite(x) & np.isfinite(y)
    first, second = np.triu_indices(x.shape[0], 1)
    both = present[first] & present[second]
    shared = both.any(axis=1)
    if not shared.any():
        raise DataError(f"no two of the {x.shape[0]} systems share a scored and judged input.")
    both, first, second = both[shared], first[shared], second[shared]
    stack = np.stack([np.where(both, _difference(v, first, second), 0.0) for v in (x, y)])
    p_metric, p_human = _swap_p_values(stack, count, seed)
    value, pairs = 1.0 - float(np.abs(p_human - p_metric).mean()), int(shared.sum())
    return SoftAccuracy(value, pairs, shared.size - pairs, count)
