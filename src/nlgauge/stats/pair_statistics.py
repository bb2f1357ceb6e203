"""Statistics over pairs of systems, from two system x input matrices; NaN if undefined.

Unlike the coefficients of two vectors, they need the whole matrix: for a common tie threshold of
all inputs, tests between systems, or differences within inputs.
"""

from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Bools, Floats, Ints
from nlgauge.stats.coefficients import TOLERANCE, pearson_rows, row_means
from nlgauge.stats.validation import Seed, resample


def differences(values: Floats, first: Ints | int, second: Ints | int) -> Floats:
    """Return values[first] - values[second], 0 if they are equal up to rounding."""
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
        """Return acc_eq at a tie threshold; there must be a pair."""
        return float((self.right(epsilon) * self.weight).sum())

    def right(self, epsilon: float) -> Bools:
        """Return whether the metric is right about each pair at a tie threshold."""
        return np.where(self.size <= epsilon * (1 + TOLERANCE), self.if_tied, self.if_ordered)

    def best(self) -> tuple[float, float]:
        """Return the best accuracy and the smallest threshold of differences that attains it."""
        if not self.inputs:
            return float("nan"), float("nan")
        # When the threshold exceeds a pair's difference, the pair becomes a tie.
        order = np.argsort(self.size)
        sizes = np.concatenate([[0.0], self.size[order]])
        gain = (self.if_tied * self.weight - self.if_ordered * self.weight)[order]
        start = float((self.if_ordered * self.weight).sum())
        reached = start + np.concatenate([[0.0], np.cumsum(gain)])
        # A threshold applies to all pairs of equal difference: only the last of a run is used.
        last = np.concatenate([sizes[1:] > sizes[:-1] * (1 + TOLERANCE), [True]])
        sizes, reached = sizes[last], reached[last]
        at = int(np.argmax(reached >= reached.max() - 1e-12))
        return float(reached[at]), float(sizes[at])


def decisions(metric: Floats, human: Floats, level: str) -> Decisions:
    """Return the pairs within inputs (text level), or of the systems' means (system level)."""
    x, y, present = columns_at(metric, human, level)
    first, second = np.triu_indices(x.shape[0], 1)
    mask = present[first] & present[second]
    per_input = mask.sum(axis=0)
    inputs = int((per_input > 0).sum())
    weight = np.broadcast_to(1.0 / (max(inputs, 1) * np.maximum(per_input, 1)), mask.shape)[mask]
    dx, dy = differences(x, first, second)[mask], differences(y, first, second)[mask]
    outcomes = np.sign(dx) == np.sign(dy), dy == 0
    return Decisions(np.abs(dx), *outcomes, weight, inputs, x.shape[1] - inputs)


def columns_at(metric: Floats, human: Floats, level: str) -> tuple[Floats, Floats, Bools]:
    """Return the matrices, at the system level one column of means, and which cells both fill."""
    present = np.isfinite(metric) & np.isfinite(human)
    if level != "system":
        return metric, human, present
    x, y = row_means(metric, present)[:, None], row_means(human, present)[:, None]
    return x, y, np.isfinite(x)


def calibrated_accuracy(metric: Floats, human: Floats, level: str) -> float:
    """Return acc_eq at the best tie threshold (Deutsch et al. 2023)."""
    return decisions(metric, human, level).best()[0]


def chance_level(metric: Floats, human: Floats, level: str, count: int, seed: Seed) -> Floats:
    """Return `calibrated_accuracy` of the metric's scores shuffled within inputs, `count` times."""
    x, y, present = columns_at(metric, human, level)
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
        np.where(present, values - row_means(values.T, present.T), 0.0) * np.sqrt(n)
        for values in (metric, human)
    ]
    # Mirrored, because Pearson's r subtracts a mean, which is 0 here.
    x, y = (np.concatenate([values.ravel(), -values.ravel()])[None] for values in scaled)
    mask, pairs = _pairs_of(present), np.triu_indices(len(present), 1)
    if not all(differences(values, *pairs)[mask].any() for values in (metric, human)):
        return float("nan")
    return float(pearson_rows(x, y)[0])


def _pairs_of(present: Bools) -> Bools:
    first, second = np.triu_indices(present.shape[0], 1)
    return np.asarray(present[first] & present[second])


@dataclass(frozen=True)
class SoftAccuracy:
    """Soft pairwise accuracy over pairs of systems."""

    value: float
    pairs: int
    pairs_undefined: int
    """Pairs of systems without a common judged input."""
    count: int


def soft_accuracy(metric: Floats, human: Floats, count: int, seed: Seed) -> SoftAccuracy:
    """Return 1 - mean |p_human - p_metric| over pairs of systems with common inputs."""
    present = np.isfinite(metric) & np.isfinite(human)
    mask = _pairs_of(present)
    shared = mask.any(axis=1)
    pairs = int(shared.sum())
    if not pairs:
        return SoftAccuracy(float("nan"), 0, shared.size, count)
    p_metric, p_human = _swap_p_values(np.stack([metric, human]), present, count, seed)
    value = 1.0 - float(np.abs(p_human - p_metric)[shared].mean())
    return SoftAccuracy(value, pairs, shared.size - pairs, count)


def soft_accuracies(metric: Floats, human: Floats) -> Floats:
    """Return the soft pairwise accuracy of every matrix of two stacks, NaN where undefined."""
    filled = np.isfinite(metric)
    present = filled[0] & np.isfinite(human[0])
    shared = len(present) > 1 and human.strides[0] == 0 and bool((filled == filled[0]).all())
    if not (shared and _all_or_none(present)):
        pairs = zip(metric, human, strict=True)
        return np.asarray([soft_accuracy(x, y, 1000, 0).value for x, y in pairs])
    # All matrices are compared with the same judgements; their p-values are computed once.
    stack = np.concatenate([human[:1], metric])
    p_human, *p_metric = _swap_p_values(stack, present, 1000, 0)
    return np.asarray([1.0 - float(np.abs(p_human - p).mean()) for p in p_metric])


def _all_or_none(present: Bools) -> bool:
    """Return whether every input that has a cell has those of all systems, and some input does."""
    return bool((present.all(axis=0) == present.any(axis=0)).all() and present.any())


def _swap_p_values(values: Floats, present: Bools, count: int, seed: Seed) -> Floats:
    """Return one-sided p-values of paired permutation tests between systems, over inputs.

    `values` are a stack of matrices; the result has a row for each and a column for each pair of
    systems. Equal outcomes count half (mid-p), so that p(A beats B) + p(B beats A) = 1.
    """
    first, second = np.triu_indices(values.shape[1], 1)
    complete, mask = _all_or_none(present), _pairs_of(present)
    means = row_means(values.swapaxes(1, 2), present.T)[:, None]
    centred = np.where(present, values - means, 0.0)

    def above(size: int, rng: np.random.Generator) -> Floats:
        signs = rng.integers(0, 2, size=(size, values.shape[2])).T * 2.0 - 1.0
        counted = []
        for matrix, deviations in zip(values, centred, strict=True):
            difference = np.where(mask, differences(matrix, first, second), 0.0)
            slack = TOLERANCE * np.abs(difference).sum(axis=-1, keepdims=True)
            if complete:  # sums of systems are fewer than those of pairs
                size_of = 1e-12 * np.abs(deviations).sum(axis=-1, keepdims=True)
                slack = np.maximum(slack, size_of[first] + size_of[second])
                sums = deviations @ signs
                null = sums[first] - sums[second]
            else:
                null = difference @ signs
            null = null - difference.sum(axis=-1, keepdims=True)
            larger = np.count_nonzero(null > slack, axis=-1)
            counted.append(0.5 * (larger + np.count_nonzero(null >= -slack, axis=-1)))
        return np.asarray(counted)[None]

    return np.asarray(resample(above, count, seed, max(mask.shape)).sum(axis=0) / count)


def mt_metrics_eval_soft_accuracy(metric: Floats, human: Floats, count: int, seed: Seed) -> float:
    """Return the soft pairwise accuracy of mt-metrics-eval's pce.py, with its random numbers.

    A permuted difference equal to the observed one counts fully, in float32.
    """
    rng = np.random.default_rng(seed)
    signs = np.rint(rng.random(size=(count, metric.shape[1]), dtype=np.float32)) * 2 - 1
    first, second = np.triu_indices(metric.shape[0], 1)
    p = []
    # In rows, as its sums of float32 depend on the order in memory.
    for values in (np.ascontiguousarray(scores, np.float32) for scores in (metric, human)):
        sums, swapped = values.sum(axis=1), signs @ values.T
        null = swapped[:, first] - swapped[:, second]
        p.append((null >= sums[first] - sums[second]).sum(axis=0) / count)
    return 1.0 - float(np.abs(p[0] - p[1]).mean())
