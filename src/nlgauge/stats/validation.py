"""Validation of matrices, and functions shared by resampling tests."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, MissingExtra, OptionError, ShapeError

Seed = int | np.random.Generator
Over = Literal["inputs", "systems", "both"]

CELLS_AT_ONCE = 2_000_000
"""Maximum number of resampled cells in memory at a time (16 MB per matrix)."""


def require_scipy(wanted: str) -> None:
    """Raise MissingExtra unless scipy is installed."""
    if find_spec("scipy") is None:
        raise MissingExtra(wanted, "scipy", "stats")


def _convert(values: ArrayLike, name: str) -> Floats:
    try:
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(np.float64), np.nan)
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} is not an array of numbers: {error}") from None


def as_floats(values: ArrayLike, name: str) -> Floats:
    """Return a float64 array; DataError for text, ragged rows and infinite values."""
    array = _convert(values, name)
    if infinite := int(np.isinf(array).sum()):
        share = f"{infinite} infinite values of {array.size}"
        raise DataError(f"{name} has {share}; use NaN for a missing value.")
    return array


def as_matrix(values: ArrayLike, name: str) -> Floats:
    """Return a float64 system x input matrix; a vector becomes one row."""
    matrix = as_floats(values, name)
    matrix = matrix[None, :] if matrix.ndim == 1 else matrix
    if matrix.ndim != 2 or matrix.size == 0:
        raise ShapeError(f"{name} has shape {matrix.shape}; give systems x inputs, or one vector.")
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
    rows = _convert(values, name)
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or rows.size == 0:
        raise ShapeError(f"{name} has shape {rows.shape}; give rows of at least one segment.")
    if bad := int((~np.isfinite(rows)).any(axis=1).sum()):
        raise DataError(
            f"{bad} of {rows.shape[0]} rows of {name} have NaN or infinite statistics; "
            "leave those segments out of every system, or give them the metric's worst value."
        )
    return rows


def common_cells(**named: ArrayLike) -> tuple[Floats, ...]:
    """Return the named matrices as float64 of one shape, NaN wherever any of them lacks a value."""
    matrices = as_matrices(**named)
    filled = np.logical_and.reduce([np.isfinite(matrix) for matrix in matrices])
    if not filled.any():
        raise DataError(
            f"none of the {filled.size} cells is filled in all {len(matrices)} matrices: no cell "
            f"is judged and scored by all {len(matrices) - 1} metrics; leave out the metric with "
            "the gaps (Grid.gaps lists them)."
        )
    return tuple(np.where(filled, matrix, np.nan) for matrix in matrices)


def defined_points(
    unit: str, clusters: ArrayLike | None, **vectors: ArrayLike
) -> tuple[Floats, NDArray[Any] | None]:
    """Return the vectors (a row each) and the clusters of the points where all have a value."""
    rows = [as_floats(values, name) for name, values in vectors.items()]
    names = ", ".join(vectors)
    if len({row.shape for row in rows}) > 1 or rows[0].ndim != 1:
        shapes = ", ".join(str(row.shape) for row in rows)
        raise ShapeError(f"{names} of the same {unit} are needed, got shapes {shapes}.")
    points = np.stack(rows)
    defined = np.isfinite(points).all(axis=0)
    if not defined.any():
        raise DataError(f"none of {defined.size} {unit} has a value of each: {names}.")
    labels = None if clusters is None else np.asarray(clusters)
    if labels is not None and labels.shape != defined.shape:
        raise ShapeError(f"{defined.size} {unit} need {defined.size} clusters, not {labels.shape}.")
    return points[:, defined], None if labels is None else labels[defined]


def check_over(over: str, systems: int, inputs: int) -> None:
    """Raise OptionError for an unknown axis, and for one of length 1, which cannot be resampled."""
    if over not in ("inputs", "systems", "both"):
        raise OptionError(f"over is {over!r}; it is 'inputs', 'systems' or 'both'.")
    for name, other, size in (("systems", "inputs", systems), ("inputs", "systems", inputs)):
        if over in (name, "both") and size < 2:
            raise OptionError(
                f"over={over!r} needs at least 2 {name}, but there is {size}; use over={other!r}."
            )


def check_share(name: str, value: float, usual: str) -> None:
    """Raise OptionError unless an option lies between 0 and 1."""
    if not 0 < value < 1:
        raise OptionError(f"{name} is {value}; it lies between 0 and 1, {usual} is usual.")


def resample(
    draw: Callable[[int, np.random.Generator], Floats], count: int, seed: Seed, cells: int
) -> Floats:
    """Return the results of `draw(size, rng)` for `count` resamples, in batches that fit."""
    if count < 1:
        raise OptionError(f"count is {count}; at least 1 resample is needed, 1000 is usual.")
    rng = np.random.default_rng(seed)
    size = max(1, CELLS_AT_ONCE // max(1, cells))
    sizes = [min(size, count - start) for start in range(0, count, size)]
    return np.concatenate([draw(each, rng) for each in sizes])


def p_value(null: Floats, observed: float, tolerance: float) -> float:
    """Return (1 + #{null >= observed}) / (1 + #null); NaN if the observed value is undefined.

    Values within the tolerance count as equal, so a system against itself gets p = 1.
    """
    if not np.isfinite(observed):
        return float("nan")
    return float((1 + (null >= observed - tolerance).sum()) / (1 + null.size))
