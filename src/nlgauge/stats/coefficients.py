"""Coefficients of agreement between two sets of scores, one value per row of a matrix.

Every coefficient takes two matrices of equal shape and returns one number per row, over the cells
present (not NaN) in both; NaN where it is undefined.

Two adjacent values a <= b of a sorted row are tied if b - a <= TOLERANCE * max(|a|, |b|), and a row
with no larger range is constant. Without a tolerance, scipy returns r = .39 for four scores that
only differ in the last bit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Bools, Floats, Ints
from nlgauge.core.errors import ShapeError
from nlgauge.stats.validation import as_floats

TOLERANCE = 1e-9
"""Relative difference below which two scores are equal: far above the rounding of float64 sums
(1e-15) and below one step of float32 (6e-8), so stored float32 scores keep their order."""

Rowwise = Callable[[Floats, Floats], Floats]

SHORT = 64
"""Rows up to this length count pairs by an n x n sign matrix, longer ones by sorting."""


def constant_rows(x: Floats) -> Bools:
    """Return whether each row spans no more than TOLERANCE of its largest magnitude."""
    present = np.isfinite(x)
    high = np.max(x, axis=1, where=present, initial=-np.inf)
    low = np.min(x, axis=1, where=present, initial=np.inf)
    largest = np.max(np.abs(x), axis=1, where=present, initial=0.0)
    return np.asarray(high - low <= TOLERANCE * largest)  # an empty row spans -inf


def divide(value: Floats, norm: Floats | Ints) -> Floats:
    """Return value / norm, NaN where the norm is 0."""
    return np.where(norm > 0, value / np.where(norm > 0, norm, 1.0), np.nan)


def row_means(values: Floats, present: Bools | None = None) -> Floats:
    """Return the means over the last axis of the present cells; NaN where there are none.

    By default, all finite cells are present.
    """
    present = np.isfinite(values) if present is None else present
    return divide(np.where(present, values, 0.0).sum(axis=-1), present.sum(axis=-1))


def _mask_unpaired(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return both matrices with NaN wherever either lacks a value."""
    present = np.isfinite(x) & np.isfinite(y)
    return np.where(present, x, np.nan), np.where(present, y, np.nan)


def _centre(x: Floats) -> Floats:
    """Return rows minus their means, divided by their largest magnitude (r is invariant)."""
    present = np.isfinite(x)
    total = np.where(present, x, 0.0).sum(axis=1, keepdims=True)
    mean = total / np.maximum(present.sum(axis=1, keepdims=True), 1)
    centred = np.where(present, x - mean, 0.0)
    largest = np.abs(centred).max(axis=1, keepdims=True)
    return np.asarray(centred / np.where(largest > 0, largest, 1.0))


def pearson_rows(x: Floats, y: Floats) -> Floats:
    """Return Pearson's r of each row: cov(x, y) / (sd(x) sd(y))."""
    x, y = _mask_unpaired(x, y)
    cx, cy = _centre(x), _centre(y)
    norm = np.sqrt((cx * cx).sum(axis=1) * (cy * cy).sum(axis=1))
    norm[constant_rows(x) | constant_rows(y)] = 0.0
    return np.clip(divide((cx * cy).sum(axis=1), norm), -1.0, 1.0)


def weighted_sums(weights: Floats, values: Floats) -> Floats:
    """Return a sum of values for every row of weights; values have one row for all, or one each."""
    if len(values) == 1:
        return np.asarray(weights @ values[0])
    return np.asarray(np.einsum("ij,ij->i", weights, values))


def weighted_pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Return Pearson's r of points that count `weights` times, a value per row of weights.

    x and y have no gaps, and one row for all rows of weights or one each.
    """
    cx, cy = (np.where(constant_rows(each)[:, None], 0.0, _centre(each)) for each in (x, y))
    total = weights.sum(axis=1)
    sum_x, sum_y = weighted_sums(weights, cx), weighted_sums(weights, cy)
    covariance = weighted_sums(weights, cx * cy) - sum_x * sum_y / total
    variances = []
    for centred, sums in ((cx, sum_x), (cy, sum_y)):
        squares = weighted_sums(weights, centred**2)
        variance = squares - sums**2 / total
        rounding = np.maximum(1e-12 * squares, TOLERANCE**2 * total)  # if all points are equal
        variances.append(np.where(variance > rounding, variance, 0.0))
    return np.clip(divide(covariance, np.sqrt(variances[0] * variances[1])), -1.0, 1.0)


def dense_ranks(x: Floats, tolerance: float = TOLERANCE) -> Ints:
    """Return the rank of each cell within its row (0, 1, 2, ..., ties equal); -1 where absent."""
    present = np.isfinite(x)
    top = np.max(x, axis=1, where=present, initial=-np.inf, keepdims=True)
    filled = np.where(present, x, np.where(np.isfinite(top), top, 0.0))
    order = np.argsort(filled, axis=1, kind="stable")
    ordered = np.take_along_axis(filled, order, axis=1)
    magnitude = np.maximum(np.abs(ordered[:, 1:]), np.abs(ordered[:, :-1]))
    sorted_ranks = np.zeros(x.shape, dtype=np.int64)
    larger = ordered[:, 1:] - ordered[:, :-1] > tolerance * magnitude
    np.cumsum(larger, axis=1, out=sorted_ranks[:, 1:])
    ranks = np.empty_like(sorted_ranks)
    np.put_along_axis(ranks, order, sorted_ranks, axis=1)
    return np.where(present, ranks, -1)


def merge_ties(values: Floats) -> Floats:
    """Return values of which those that are equal up to rounding are the same number."""
    flat = values.ravel()
    _, at, group = np.unique(dense_ranks(flat[None])[0], return_index=True, return_inverse=True)
    first = flat[at][group]
    equal = np.abs(first - flat) <= TOLERANCE * np.abs(flat)
    return np.where(equal, first, flat).reshape(values.shape)


def _tie_counts(ranks: Ints, weights: Floats | None = None) -> Floats | Ints:
    """Return how many cells of each row have rank 0, 1, 2, ... (a matrix of the same shape)."""
    rows, width = ranks.shape
    present = ranks >= 0
    keys = (ranks + np.arange(rows)[:, None] * width)[present]
    counted = None if weights is None else weights[present]
    return np.bincount(keys, counted, minlength=rows * width).reshape(rows, width)


def mean_ranks(x: Floats, weights: Floats | None = None) -> Floats:
    """Return ranks with ties at their mean rank, NaN where absent.

    With weights, a cell counts as often as its weight says; then x may have a single row.
    """
    ranks = dense_ranks(x)
    if weights is not None:
        ranks = np.broadcast_to(ranks, weights.shape)
    counts = _tie_counts(ranks, weights)
    middle = np.cumsum(counts, axis=1) - (counts - 1) / 2
    spread = np.take_along_axis(middle, np.maximum(ranks, 0), axis=1)
    return np.where(ranks >= 0, spread, np.nan)


def spearman_rows(x: Floats, y: Floats) -> Floats:
    """Return Spearman's rho of each row: Pearson's r of the mean ranks."""
    x, y = _mask_unpaired(x, y)
    return pearson_rows(mean_ranks(x), mean_ranks(y))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Counts of pairs of cells; every field has one number per row."""

    n: Floats
    total: Floats
    concordant: Floats
    discordant: Floats
    tied_x: Floats
    tied_y: Floats
    tied_both: Floats
    distinct: Floats
    """The smaller of the numbers of distinct values in x and in y."""


def _short_signs(rx: Ints, ry: Ints) -> Floats:
    """Return concordant minus discordant pairs of each row, by all n x n sign products."""
    score = np.empty(rx.shape[0])
    width = rx.shape[1]
    step = max(1, 2_000_000 // (width * width))
    # Ranks of short rows and their differences fit int8, which makes the n x n block cheap. Absent
    # cells have rank -1 in both x and y, and are masked in one of the two factors.
    for start in range(0, rx.shape[0], step):
        a, b = (ranks[start : start + step].astype(np.int8) for ranks in (rx, ry))
        live = a >= 0
        product = np.sign(a[:, :, None] - a[:, None, :])
        product *= np.sign(b[:, :, None] - b[:, None, :])
        if not live.all():
            product *= live[:, :, None] & live[:, None, :]
        score[start : start + step] = product.sum(axis=(1, 2), dtype=np.int64) / 2
    return score


def _count_discordant(rx: Ints, ry: Ints) -> Floats:
    """Return the discordant pairs of each row: the inversions of y in the order of x."""
    order = np.argsort(rx * rx.shape[1] + ry, axis=1)  # x, then y: a pair tied in x is in order
    y = np.take_along_axis(ry, order, axis=1).astype(np.int32)
    columns = np.arange(y.shape[1], dtype=np.int32)
    counts = np.zeros(y.shape[0])
    # Bit by bit from the highest: cells that agree in all higher bits are adjacent, in the order of
    # x. A pair of them is inverted if the first has the bit and the second does not.
    for bit in reversed(range(int(ry.max(initial=0)).bit_length())):
        shifted = y >> bit
        starts = np.zeros(y.shape, dtype=np.int32)
        np.multiply(shifted[:, 1:] >> 1 != shifted[:, :-1] >> 1, columns[1:], out=starts[:, 1:])
        group = np.maximum.accumulate(starts, axis=1)
        zero = (shifted & 1) == 0  # never in an absent cell, whose rank is -1
        zeros = np.cumsum(zero, axis=1, dtype=np.int32)
        # Cells with the bit to the left of a zero in its group: its place minus the zeros there.
        base = np.take_along_axis(zeros - zero, group, axis=1)
        counts += np.sum(columns - group - (zeros - 1 - base), axis=1, where=zero, dtype=np.float64)
        # Integers of 16 bits are sorted by radix, in linear time. Cells that agree in these 16 bits
        # only are in separate groups already, which a stable sort does not mix.
        keys = shifted.astype(np.int16)
        y = np.take_along_axis(y, np.argsort(keys, axis=1, kind="stable"), axis=1)
    return counts


def count_pairs(x: Floats, y: Floats) -> Pairs:
    """Return concordant, discordant and tied pairs of cells, per row."""
    x, y = _mask_unpaired(x, y)
    rx, ry = dense_ranks(x), dense_ranks(y)
    n = (rx >= 0).sum(axis=1).astype(np.float64)
    # A cell's joint rank: cells tied in both x and y share it.
    joint = np.where(rx >= 0, rx * x.shape[1] + ry, np.nan)

    counts = (_tie_counts(ranks) for ranks in (rx, ry, dense_ranks(joint, tolerance=0.0)))
    tied_x, tied_y, tied_both = ((k * (k - 1) / 2).sum(axis=1) for k in counts)
    total = n * (n - 1) / 2
    untied = total - tied_x - tied_y + tied_both
    short = x.shape[1] <= SHORT
    discordant = (untied - _short_signs(rx, ry)) / 2 if short else _count_discordant(rx, ry)
    concordant = untied - discordant
    distinct = np.minimum(rx.max(axis=1), ry.max(axis=1)) + 1.0
    return Pairs(n, total, concordant, discordant, tied_x, tied_y, tied_both, distinct)


def kendall_b_rows(x: Floats, y: Floats) -> Floats:
    """Return Kendall's tau-b of each row: (C - D) / sqrt((N - Tx)(N - Ty)), N = n(n-1)/2."""
    pairs = count_pairs(x, y)
    norm = np.sqrt((pairs.total - pairs.tied_x) * (pairs.total - pairs.tied_y))
    return np.clip(divide(pairs.concordant - pairs.discordant, norm), -1.0, 1.0)


def kendall_c_rows(x: Floats, y: Floats) -> Floats:
    """Return Stuart's tau-c of each row: 2 (C - D) / (n^2 (k-1)/k), k = fewer distinct values."""
    pairs = count_pairs(x, y)
    k = np.maximum(pairs.distinct, 1.0)
    return divide(2 * (pairs.concordant - pairs.discordant), pairs.n**2 * (k - 1) / k)


def accuracy_rows(x: Floats, y: Floats) -> Floats:
    """Return the pairwise accuracy of each row: (C + pairs tied in both) / all pairs.

    acc_eq of Deutsch et al. 2023; over system means the pairwise accuracy of Kocmi et al. 2021.
    """
    pairs = count_pairs(x, y)
    return divide(pairs.concordant + pairs.tied_both, pairs.total)


COEFFICIENTS: Mapping[str, Rowwise] = MappingProxyType(
    {
        "pearson": pearson_rows,
        "spearman": spearman_rows,
        "kendall_b": kendall_b_rows,
        "kendall_c": kendall_c_rows,
        "accuracy": accuracy_rows,
    }
)


def _vectors(rowwise: Rowwise, x: ArrayLike, y: ArrayLike) -> float:
    a, b = as_floats(x, "x"), as_floats(y, "y")
    if a.ndim != 1 or a.shape != b.shape:
        raise ShapeError(
            f"two vectors of equal length are needed, but the shapes are {a.shape} and {b.shape}."
        )
    return float(rowwise(a[None, :], b[None, :])[0]) if a.size else float("nan")


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Return Pearson's r of two vectors; NaN if either is constant.

    Parameters
    ----------
    x, y : array_like of equal length; pairs with a NaN are left out

    Returns
    -------
    float

    Raises
    ------
    ShapeError, DataError
        For vectors of different lengths, for text and for infinite values.

    Examples
    --------
    >>> round(pearson([1, 2, 3], [1, 2, 4]), 4)
    0.982
    """
    return _vectors(pearson_rows, x, y)


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Return Spearman's rho of two vectors; see `pearson`.

    >>> spearman([1, 2, 3], [1, 20, 4])
    0.5
    """
    return _vectors(spearman_rows, x, y)


def kendall_b(x: ArrayLike, y: ArrayLike) -> float:
    """Return Kendall's tau-b of two vectors; see `pearson`.

    >>> round(kendall_b([1, 2, 3], [1, 3, 2]), 4)
    0.3333
    """
    return _vectors(kendall_b_rows, x, y)


def kendall_c(x: ArrayLike, y: ArrayLike) -> float:
    """Return Stuart's tau-c of two vectors; see `pearson`.

    >>> round(kendall_c([1, 2, 3, 4], [0, 0, 1, 1]), 4)
    1.0
    """
    return _vectors(kendall_c_rows, x, y)
