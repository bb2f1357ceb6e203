"""Bootstrap intervals for correlations and for corpus scores.

An interval answers: had other systems, or other inputs, been drawn from the same population, where
would the number lie? Resampling inputs (columns) speaks about new texts for these systems,
resampling systems (rows) about new systems on these texts, both about both (Deutsch et al. 2021).
All are percentile intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.errors import OptionError
from nlgauge.stats.coefficients import choose_coefficient
from nlgauge.stats.levels import Which, choose_level, stack_values
from nlgauge.stats.validation import Array, Index, Seed, as_matrices, as_rows, check_count, chunks

Over = Literal["inputs", "systems", "both"]
Finish = Callable[[Array], float]


@dataclass(frozen=True)
class Interval:
    """A value and its bootstrap percentile interval."""

    value: float
    low: float
    high: float
    confidence: float
    count: int
    """Resamples that gave a defined value, the interval's basis."""
    undefined: int
    """Resamples that did not (a constant draw, say)."""
    over: str
    """What was resampled."""

    def to_dict(self) -> dict[str, float | str | None]:
        """Its ends and what they are, ready for JSON; None where an end is undefined."""
        low, high = (end if isfinite(end) else None for end in (self.low, self.high))
        return {"low": low, "high": high, "confidence": self.confidence, "resampled": self.over}


def percentile_interval(value: float, resampled: Array, confidence: float, over: str) -> Interval:
    """The interval between the (1 - confidence)/2 and (1 + confidence)/2 quantiles."""
    if not 0 < confidence < 1:
        raise OptionError(f"confidence is {confidence}; it lies between 0 and 1, .95 is usual.")
    defined = resampled[np.isfinite(resampled)]
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail]) if defined.size else (np.nan, np.nan)
    undefined = resampled.size - defined.size
    return Interval(value, float(low), float(high), confidence, defined.size, undefined, over)


def resample_weights(n: int, count: int, rng: np.random.Generator) -> Array:
    """`count` rows saying how often each of n segments was drawn, n draws with replacement.

    A resampled corpus total is then `weights @ rows`: nothing is copied or scored again.
    """
    drawn = rng.integers(n, size=(count, n)) + np.arange(count)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=count * n).reshape(count, n).astype(np.float64)


def bootstrap(
    rows: ArrayLike,
    finish: Finish,
    *,
    count: int = 1000,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """The corpus value `finish(sum of rows)` and its interval over segments.

    `rows` holds one row of sufficient statistics per segment (n-gram matches and lengths for BLEU;
    the score and a 1 for a mean); `finish` turns a summed row into the corpus value, and must take
    sums that no real corpus had. The same seed gives the same bits whatever the memory bound.
    """
    check_count(count)
    table = as_rows(rows, "rows")
    rng = np.random.default_rng(seed)
    values: list[float] = []
    for size in chunks(count, table.shape[0]):
        totals = resample_weights(table.shape[0], size, rng) @ table
        values += [float(finish(total)) for total in totals]
    value = float(finish(table.sum(axis=0)))
    return percentile_interval(value, np.asarray(values), confidence, "segments")


def _draw(n: int, size: int, resampled: bool, rng: np.random.Generator) -> Index:
    """`size` rows of n indices, drawn with replacement or simply 0, 1, 2, ..."""
    if resampled:
        return rng.integers(n, size=(size, n), dtype=np.int64)
    return np.tile(np.arange(n, dtype=np.int64), (size, 1))


def check_over(over: str, systems: int, inputs: int) -> None:
    """Refuse an unknown axis, and an axis of one, which has nothing to resample or swap."""
    if over not in ("inputs", "systems", "both"):
        raise OptionError(f"over is {over!r}; it is 'inputs', 'systems' or 'both'.")
    if over in ("systems", "both") and systems < 2:
        raise OptionError(
            f"over={over!r} needs at least 2 systems, but there is {systems}; use over='inputs'."
        )
    if over in ("inputs", "both") and inputs < 2:
        raise OptionError(
            f"over={over!r} needs at least 2 inputs, but there is {inputs}; use over='systems'."
        )


def _draws(
    shape: tuple[int, ...], over: Over, count: int, seed: Seed
) -> Iterator[tuple[Index, Index]]:
    """The rows and columns of ``count`` resampled matrices, as many at a time as memory holds."""
    check_count(count)
    systems, inputs = shape
    check_over(over, systems, inputs)
    rng = np.random.default_rng(seed)
    for size in chunks(count, systems * inputs):
        row = _draw(systems, size, over != "inputs", rng)[:, :, None]
        column = _draw(inputs, size, over != "systems", rng)[:, None, :]
        yield row, column


def bootstrap_correlation(
    metric: ArrayLike,
    human: ArrayLike,
    level: str = "segment",
    coefficient: Which = "pearson",
    *,
    over: Over = "inputs",
    count: int = 1000,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """A correlation and its bootstrap interval over inputs, systems or both.

    BOOT-INPUTS, BOOT-SYSTEMS and BOOT-BOTH of Deutsch et al. 2021: rows (systems) and columns
    (inputs) of both matrices are drawn with replacement, the same draw for metric and people.
    """
    x, y = as_matrices(metric=metric, human=human)
    level, rowwise = choose_level(level), choose_coefficient(coefficient).rowwise
    drawn = [
        stack_values(x[cells], y[cells], level, rowwise)
        for cells in _draws(x.shape, over, count, seed)
    ]
    value = float(stack_values(x[None], y[None], level, rowwise)[0])
    return percentile_interval(value, np.concatenate(drawn), confidence, over)


def bootstrap_difference(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    level: str = "segment",
    coefficient: Which = "pearson",
    *,
    over: Over = "inputs",
    count: int = 1000,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """How much better the first metric agrees with people than the second, and its interval.

    Every draw of rows and columns serves both metrics, so what they share cancels out.
    """
    a, b, people = as_matrices(first=first, second=second, human=human)
    level, rowwise = choose_level(level), choose_coefficient(coefficient).rowwise

    def better(one: Array, other: Array, human: Array) -> Array:
        agreement = (stack_values(metric, human, level, rowwise) for metric in (one, other))
        return np.subtract(*agreement)

    cells = _draws(a.shape, over, count, seed)
    drawn = [better(a[each], b[each], people[each]) for each in cells]
    value = float(better(a[None], b[None], people[None])[0])
    return percentile_interval(value, np.concatenate(drawn), confidence, over)
