"""Checked matrices, and what every resampling test shares: axes, chunks and p-values."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, OptionError, ShapeError

Seed = int | np.random.Generator
Over = Literal["inputs", "systems", "both"]

CELLS_AT_ONCE = 2_000_000
"""Resampled cells held in memory at a time (16 MB per matrix)."""


def as_matrix(values: ArrayLike, name: str) -> Floats:
    """Return a float64 system x input matrix; a vector becomes one row."""
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


def as_matrices(**named: ArrayLike) -> tuple[Floats, ...]:
    """Return the named matrices as float64, all of one shape."""
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


def as_rows(values: ArrayLike, name: str) -> Floats:
    """Return a float64 matrix of statistics, one row per segment; a vector becomes one column."""
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


def common_cells(*matrices: Floats) -> tuple[Floats, ...]:
    """Return the matrices with NaN wherever any of them lacks a value."""
    filled = np.logical_and.reduce([np.isfinite(matrix) for matrix in matrices])
    if not filled.any():
        raise DataError(
            f"none of the {filled.size} cells is filled in all {len(matrices)} matrices: no cell "
            f"is judged and scored by all {len(matrices) - 1} metrics; leave out the metric with "
            "the gaps (Grid.gaps lists them)."
        )
    return tuple(np.where(filled, matrix, np.nan) for matrix in matrices)


def check_count(count: int) -> None:
    """Raise OptionError for fewer than one resample."""
    if count < 1:
        raise OptionError(f"count is {count}; at least 1 resample is needed, 1000 is usual.")


def check_over(over: str, systems: int, inputs: int) -> None:
    """Raise OptionError for an unknown axis, and for one of length 1, which cannot be resampled."""
    if over not in ("inputs", "systems", "both"):
        raise OptionError(f"over is {over!r}; it is 'inputs', 'systems' or 'both'.")
    for name, other, size in (("systems", "inputs", systems), ("inputs", "systems", inputs)):
        if over in (name, "both") and size < 2:
            raise OptionError(
                f"over={over!r} needs at least 2 {name}, but there is {size}; use over={other!r}."
            )


def chunks(count: int, cells: int) -> Iterator[int]:
    """Yield sizes that sum to count, each small enough that size x cells fits into memory."""
    size = max(1, CELLS_AT_ONCE // max(1, cells))
    for start in range(0, count, size):
        yield min(size, count - start)


def p_value(null: Floats, observed: float, tolerance: float) -> float:
    """Return (1 + #{null >= observed}) / (1 + #null); NaN if the observed value is undefined.

    Values within the tolerance count as equal, and equal ones as "no more extreme than chance": a
    system against itself gets p = 1. (sacrebleu counts strictly larger ones only.)
    """
    if not np.isfinite(observed):
        return float("nan")
    return float((1 + (null >= observed - tolerance).sum()) / (1 + null.size))
