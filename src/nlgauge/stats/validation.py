"""System x input matrices, checked once at the door.

Everywhere in this room a matrix has one row per system and one column per input (a source text, a
document, a segment of a test set). A cell holds the score of that system's output for that input;
NaN says that the cell was not scored or not judged. A plain vector is one row: data that does not
name its systems (WMT15 direct assessment) is one pseudo-system.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nlgauge.core.errors import DataError, OptionError, ShapeError

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Index = NDArray[np.int64]
Seed = int | np.random.Generator

CELLS_AT_ONCE = 2_000_000
"""Resampled cells held in memory at a time (16 MB a matrix)."""


def as_matrix(values: ArrayLike, name: str) -> Array:
    """A float64 system x input matrix; a vector becomes one row, infinities are refused."""
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim == 1:
        matrix = matrix[None, :]
    if matrix.ndim != 2:
        raise ShapeError(
            f"{name} has {matrix.ndim} dimensions; give a matrix of systems (rows) by inputs "
            "(columns), or one vector."
        )
    if matrix.size == 0:
        raise ShapeError(f"{name} is empty: its shape is {matrix.shape[0]} x {matrix.shape[1]}.")
    infinite = int(np.isinf(matrix).sum())
    if infinite:
        raise DataError(
            f"{name} holds {infinite} infinite values of {matrix.size}; "
            "use NaN for a cell without a score, or bound the metric."
        )
    return matrix


def as_matrices(**named: ArrayLike) -> tuple[Array, ...]:
    """The named matrices as float64, all of one shape."""
    matrices = {name: as_matrix(values, name) for name, values in named.items()}
    first_name, first = next(iter(matrices.items()))
    for name, other in matrices.items():
        if other.shape != first.shape:
            hint = "; one looks transposed" if other.shape == first.shape[::-1] else ""
            raise ShapeError(
                f"{first_name} is {first.shape[0]} systems x {first.shape[1]} inputs but {name} is "
                f"{other.shape[0]} x {other.shape[1]}{hint}. Align them first (Grid.align does)."
            )
    return tuple(matrices.values())


def as_rows(values: ArrayLike, name: str) -> Array:
    """A float64 matrix of statistics, one row per segment; a vector becomes one column."""
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim == 1:
        rows = rows[:, None]
    if rows.ndim != 2 or rows.size == 0:
        raise ShapeError(
            f"{name} has shape {rows.shape}; give one row of statistics per segment, "
            "with at least one segment."
        )
    bad = int((~np.isfinite(rows)).any(axis=1).sum())
    if bad:
        raise DataError(
            f"{bad} of {rows.shape[0]} rows of {name} hold NaN or infinite statistics; "
            "leave those segments out of every system, or give them the metric's worst value."
        )
    return rows


def check_count(count: int, name: str = "count") -> None:
    """Refuse a number of resamples below one."""
    if count < 1:
        raise OptionError(f"{name} is {count}; at least 1 resample is needed, 1000 is usual.")


def chunks(count: int, cells: int) -> Iterator[int]:
    """Sizes that sum to `count`, each small enough that size x cells stays within memory."""
    size = max(1, CELLS_AT_ONCE // max(1, cells))
    for start in range(0, count, size):
        yield min(size, count - start)
