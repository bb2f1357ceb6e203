"""Cost matrices between two clouds of points.

All costs are float64, never negative, and exactly 0 for equal points: a squared distance below
1e-12 is snapped to 0. Equal vectors leave a float32 encoder with squared distances of about 1e-14
(and up to 1e-13 when they come from different batches), and the root would turn that into 1e-7.
Matrices of long texts are large, so they are changed in place.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import ShapeError

SNAP = 1e-12  # squared distances below this are equal points
BLOCK_CELLS = 1 << 19  # of a product of long texts, which the cache of a processor holds


def unit(x: ArrayLike, *, length: float = 1.0) -> Floats:
    """Return float64 vectors of this length along the last axis; zero vectors stay zero."""
    return scale_in_place(np.array(x, dtype=np.float64, order="C"), length)


def scale_in_place(points: Floats, length: float = 1.0) -> Floats:
    """Return the vectors themselves, scaled to this length along the last axis."""
    points *= length / _divisors(points)  # products take half as long as quotients
    return points


def _divisors(points: Floats) -> Floats:
    """Return the lengths of vectors as a column, and 1 for zero vectors."""
    lengths: Floats = np.sqrt(np.einsum("...d,...d->...", points, points))[..., None]
    lengths[lengths == 0] = 1.0
    return lengths


def cosine(x: ArrayLike, y: ArrayLike, *, normalise: bool = True) -> Floats:
    """Return 1 - cos(x_i, y_j), n x m in [0, 2]; 1 for a zero vector, which has no direction."""
    if normalise:
        distance = squared_euclid(x, y)
        distance /= 2
        return distance
    first, second = _check_clouds(x, y)
    return cosine_cost(first @ second.T)


def cosine_cost(cosines: Floats) -> Floats:
    """Return 1 - cosines, exactly 0 for equal points, in the same array."""
    np.subtract(1.0, cosines, out=cosines)
    cosines[cosines < SNAP / 2] = 0.0
    return cosines


def euclid(x: ArrayLike, y: ArrayLike, *, normalise: bool = True) -> Floats:
    """Return ||x_i - y_j||, an n x m matrix; of unit vectors unless `normalise` is off."""
    distance = squared_euclid(x, y, normalise=normalise)
    return np.sqrt(distance, out=distance)


def squared_euclid(x: ArrayLike, y: ArrayLike, *, normalise: bool = True) -> Floats:
    """Return ||x_i - y_j||^2, n x m; of unit vectors (zero counts as orthogonal) or as they are."""
    first, second = _check_clouds(x, y)
    squared = np.empty((len(first), len(second)))
    lengths = _divisors(second).T if normalise else np.einsum("jd,jd->j", second, second)
    for part in row_blocks(*squared.shape):
        _write_squared(first[part], second, lengths, squared[part], normalise)
    return squared


def row_blocks(rows: int, columns: int) -> Iterator[slice]:
    """Yield the rows of a matrix in blocks of at most BLOCK_CELLS numbers, or of one row."""
    size = max(1, BLOCK_CELLS // max(columns, 1))
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))


def _write_squared(
    first: Floats, second: Floats, second_lengths: Floats, squared: Floats, normalise: bool
) -> None:
    """Write the squared distances of a block of rows."""
    np.matmul(first, second.T, out=squared)
    if normalise:  # products are divided because they are fewer than coordinates
        squared /= _divisors(first) * second_lengths
        squared *= 2.0
        np.subtract(2.0, squared, out=squared)
    else:
        lengths = np.einsum("id,id->i", first, first)[:, None]
        squared *= 2.0
        np.subtract(lengths + second_lengths, squared, out=squared)
    squared[squared < SNAP] = 0.0


def word_order(n: int, m: int, *, weight: float) -> Floats:
    """Return weight |i/(n-1) - j/(m-1)|, n x m, to be added to a cost; a lone token is at 0."""
    rows, columns = (np.arange(length) / max(length - 1, 1) for length in (n, m))
    return np.asarray(weight * np.abs(rows[:, None] - columns))


def _check_clouds(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1]:
        raise ShapeError(
            f"a cost needs two arrays [tokens, dimensions] of one dimension, "
            f"got shapes {first.shape} and {second.shape}; were two encoders mixed?"
        )
    return first, second
