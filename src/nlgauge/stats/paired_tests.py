"""Tests whether one system's corpus score differs from another's, for any metric.

Both tests see only rows of sufficient statistics, one per segment, the same segments in the same
order for both systems, and a `finish` that turns summed rows into the corpus score. So BLEU, whose
corpus score is no mean, and any mean of segment scores are tested alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.errors import DataError, ShapeError
from nlgauge.stats.coefficients import TOLERANCE
from nlgauge.stats.intervals import Finish, Interval, percentile_interval, resample_weights
from nlgauge.stats.validation import Array, Seed, as_rows, check_count, chunks


@dataclass(frozen=True)
class Paired:
    """A two-sided test that two systems have the same corpus score."""

    first: float
    second: float
    difference: float
    p: float
    method: str
    count: int
    wins: float | None = None
    """Share of resamples in which the first system scores higher (bootstrap only)."""
    interval: Interval | None = None
    """Of the difference (bootstrap only)."""


def _same_segments(first: ArrayLike, second: ArrayLike) -> tuple[Array, Array]:
    a, b = as_rows(first, "first"), as_rows(second, "second")
    if a.shape != b.shape:
        raise ShapeError(
            f"the first system has {a.shape[0]} segments of {a.shape[1]} statistics, the second "
            f"{b.shape[0]} of {b.shape[1]}; a paired test needs the same segments for both."
        )
    return a, b


def _finished(totals: Array, finish: Finish) -> Array:
    values = np.asarray([float(finish(total)) for total in totals], dtype=np.float64)
    if not np.isfinite(values).all():
        raise DataError(
            f"finish gave {int((~np.isfinite(values)).sum())} undefined scores for "
            f"{values.size} resampled totals; it must define a value for every sum of rows."
        )
    return values


def _p_value(null: Array, observed: float) -> float:
    """(1 + #{null >= observed}) / (1 + count).

    Equality counts as "no more extreme than chance" (a system against itself gets p = 1); sacrebleu
    counts only what exceeds, and gives such a pair the smallest p there is.
    """
    return float((1 + (null >= observed * (1 - TOLERANCE)).sum()) / (1 + null.size))


def paired_bootstrap(
    first: ArrayLike,
    second: ArrayLike,
    finish: Finish,
    *,
    count: int = 1000,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> Paired:
    """Paired bootstrap resampling (Koehn 2004), with the shifted p of Riezler & Maxwell 2005.

    Segments are drawn with replacement, the same draw for both systems. The resampled differences
    centre on the observed one, so the null is made by taking their mean away:
    p = (1 + #{|d* - mean d*| >= |d|}) / (1 + count). Two-sided; sacrebleu's, which shifts absolute
    differences and looks at one tail, comes out at about half of it.
    """
    check_count(count)
    a, b = _same_segments(first, second)
    rng = np.random.default_rng(seed)
    parts = []
    for size in chunks(count, a.shape[0]):
        weights = resample_weights(a.shape[0], size, rng)
        parts.append(_finished(weights @ a, finish) - _finished(weights @ b, finish))
    drawn = np.concatenate(parts)
    one, other = _finished(np.stack([a.sum(axis=0), b.sum(axis=0)]), finish).tolist()
    null = np.abs(drawn - drawn.mean())
    return Paired(
        one,
        other,
        one - other,
        _p_value(null, abs(one - other)),
        "paired bootstrap",
        count,
        float((drawn > 0).mean()),
        percentile_interval(one - other, drawn, confidence, "segments"),
    )


def paired_randomisation(
    first: ArrayLike, second: ArrayLike, finish: Finish, *, count: int = 10_000, seed: Seed = 0
) -> Paired:
    """Paired approximate randomisation (Riezler & Maxwell 2005).

    If the systems were equal, each segment's two outputs could trade places. Every trial swaps
    about half of the rows: p = (1 + #{|d of the shuffled pair| >= |d|}) / (1 + count). Two-sided.
    """
    check_count(count)
    a, b = _same_segments(first, second)
    total_a, total_b = a.sum(axis=0), b.sum(axis=0)
    rng = np.random.default_rng(seed)
    parts = []
    for size in chunks(count, a.shape[0]):
        swapped = rng.integers(0, 2, size=(size, a.shape[0])).astype(np.float64)
        moved = swapped @ (b - a)
        parts.append(_finished(total_a + moved, finish) - _finished(total_b - moved, finish))
    one, other = _finished(np.stack([total_a, total_b]), finish).tolist()
    null = np.abs(np.concatenate(parts))
    p = _p_value(null, abs(one - other))
    return Paired(one, other, one - other, p, "paired approximate randomisation", count)
