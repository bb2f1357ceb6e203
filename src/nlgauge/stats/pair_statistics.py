"""Statistics over pairs of systems, of two system x input matrices; NaN where they are undefined.

Unlike the coefficients of two vectors they need the whole matrix: a tie threshold that all inputs
share, tests between systems, or differences within inputs.
"""

from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Bools, Floats, Ints
from nlgauge.stats.coefficients import TOLERANCE, pearson_rows, system_means
from nlgauge.stats.validation import Seed, resample


def differences(values: Floats, first: Ints, second: Ints) -> Floats:
    """Return values[first] - values[second], 0 for what is equal up to rounding."""
    a, b = values[first], values[second]
    noise = np.abs(a - b) <= TOLERANCE * np.maximum(np.abs(a), np.abs(b))
    return np.where(noise, 0.0, a - b)


@dataclass(frozen=True, eq=False)
class Decisions:
    """Pairs of systems on the same input, and whether a metric is right about them."""

    size: Floats
    """Absolute difference of the metric's scores."""
    if_ordered: Bools
    """Whether the metric is right if the pair is not a tie for it."""
    if_tied: Bools
    """Whether it is right if the pair is a tie for it."""
    weight: Floats
    """Every input has the same weight, however many systems were judged on it; the sum is 1."""
    inputs: int
    """Inputs with a pair."""
    inputs_without: int

    def accuracy(self, epsilon: float) -> float:
        """Return acc_eq at a tie threshold."""
        right = np.where(self.size <= epsilon, self.if_tied, self.if_ordered)
        return float((right * self.weight).sum()) if self.inputs else float("nan")

    def best(self) -> tuple[float, float]:
        """Return the best accuracy and the smallest threshold of differences that attains it."""
        if not self.inputs:
            return float("nan"), float("nan")
        # As the threshold passes a pair's difference, the pair turns from "ordered" to "tied".
        order = np.argsort(self.size, kind="stable")
        sizes = np.concatenate([[0.0], self.size[order]])
        gain = (self.if_tied * self.weight - self.if_ordered * self.weight)[order]
        start = float((self.if_ordered * self.weight).sum())
        reached = start + np.concatenate([[0.0], np.cumsum(gain)])
        # A threshold turns all pairs of equal difference at once: only the last of a run counts.
        last = np.concatenate([sizes[1:] != sizes[:-1], [True]])
        sizes, reached = sizes[last], reached[last]
        at = int(np.argmax(reached >= reached.max() - 1e-12))
        return float(reached[at]), float(sizes[at])


def decisions(metric: Floats, human: Floats, level: str) -> Decisions:
    """Return the pairs within inputs (text level), or of the systems' means (system level)."""
    x, y, present = _columns(metric, human, level)
    first, second = np.triu_indices(x.shape[0], 1)
    both = present[first] & present[second]
    per_input = both.sum(axis=0)
    used = int((per_input > 0).sum())
    weight = np.broadcast_to(1.0 / (max(used, 1) * np.maximum(per_input, 1)), both.shape)[both]
    dx, dy = differences(x, first, second)[both], differences(y, first, second)[both]
    right = np.sign(dx) == np.sign(dy), dy == 0
    return Decisions(np.abs(dx), *right, weight, used, x.shape[1] - used)


def _columns(metric: Floats, human: Floats, level: str) -> tuple[Floats, Floats, Bools]:
    """Return the matrices, at the system level one column of means, and which cells both fill."""
    present = np.isfinite(metric) & np.isfinite(human)
    if level != "system":
        return metric, human, present
    x, y = system_means(metric, present)[:, None], system_means(human, present)[:, None]
    return x, y, np.isfinite(x)


def calibrated_accuracy(metric: Floats, human: Floats, level: str) -> float:
    """Return acc_eq at the best tie threshold (Deutsch et al. 2023)."""
    return decisions(metric, human, level).best()[0]


def chance_level(metric: Floats, human: Floats, level: str, count: int, seed: Seed) -> Floats:
    """Return `calibrated_accuracy` of the metric's scores shuffled within inputs, `count` times."""
    x, y, present = _columns(metric, human, level)
    cells = np.argsort(~present, axis=0, kind="stable")  # the present ones first

    def draw(size: int, rng: np.random.Generator) -> Floats:
        values = []
        for _ in range(size):
            order = np.argsort(np.where(present, rng.random(x.shape), 2.0), axis=0)
            shuffled = np.full(x.shape, np.nan)
            np.put_along_axis(shuffled, cells, np.take_along_axis(x, order, axis=0), axis=0)
            values.append(decisions(np.where(present, shuffled, np.nan), y, "text").best()[0])
        return np.asarray(values)

    return resample(draw, count, seed, x.size)


def pairwise_pearson(metric: Floats, human: Floats) -> float:
    """Return Pearson's r of all differences between two systems on one input, both signs.

    Their mean is 0, so r = sum dx dy / sqrt(sum dx^2 sum dy^2). An input of n systems has
    sum dx dy = n sum (x - mean x)(y - mean y) over its pairs.
    """
    present = np.isfinite(metric) & np.isfinite(human)
    n = present.sum(axis=0)
    scaled = [
        np.where(present, values - system_means(values.T, present.T), 0.0) * np.sqrt(n)
        for values in (metric, human)
    ]
    # Mirrored, because Pearson's r subtracts a mean, which is 0 here.
    x, y = (np.concatenate([values.ravel(), -values.ravel()])[None] for values in scaled)
    both, pairs = _pairs_of(present), np.triu_indices(len(present), 1)
    if not all(differences(values, *pairs)[both].any() for values in (metric, human)):
        return float("nan")
    return float(pearson_rows(x, y)[0])


def _pairs_of(present: Bools) -> Bools:
    first, second = np.triu_indices(present.shape[0], 1)
    return np.asarray(present[first] & present[second])


@dataclass(frozen=True)
class SharedPairs:
    """Soft pairwise accuracy, and how many pairs of systems it has."""

    value: float
    pairs: int
    undefined: int


def soft_accuracy(metric: Floats, human: Floats, count: int, seed: Seed) -> SharedPairs:
    """Return 1 - mean |p_human - p_metric| over pairs of systems with common inputs."""
    both = _pairs_of(np.isfinite(metric) & np.isfinite(human))
    first, second = np.triu_indices(metric.shape[0], 1)
    shared = both.any(axis=1)
    pairs = int(shared.sum())
    if not pairs:
        return SharedPairs(float("nan"), 0, shared.size)
    both, first, second = both[shared], first[shared], second[shared]
    pair = (np.where(both, differences(values, first, second), 0.0) for values in (metric, human))
    p_metric, p_human = _swap_p_values(np.stack(list(pair)), count, seed)
    value = 1.0 - float(np.abs(p_human - p_metric).mean())
    return SharedPairs(value, pairs, shared.size - pairs)


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


def mt_metrics_eval_soft_accuracy(metric: Floats, human: Floats, count: int, seed: Seed) -> float:
    """Return the soft pairwise accuracy of mt-metrics-eval's pce.py, with its random numbers.

    A permuted difference equal to the observed one counts fully, in float32.
    """
    rng = np.random.default_rng(seed)
    signs = np.rint(rng.random(size=(count, metric.shape[1]), dtype=np.float32)) * 2 - 1
    first, second = np.triu_indices(metric.shape[0], 1)
    p = []
    for values in (metric.astype(np.float32), human.astype(np.float32)):
        sums, swapped = values.sum(axis=1), signs @ values.T
        null = swapped[:, first] - swapped[:, second]
        p.append((null >= sums[first] - sums[second]).sum(axis=0) / count)
    return 1.0 - float(np.abs(p[0] - p[1]).mean())
