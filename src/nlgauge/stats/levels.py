"""Correlation of a metric with people at the segment, text or system level.

A matrix has one row per system and one column per input. The three levels ask three questions:

segment   Does the metric order all outputs as people do, whatever their input and system? One
          coefficient over all cells laid end to end. WMT papers call it segment level, others
          global or flat; "global" and "flat" are accepted and mean the same.
text      Given one input, does the metric order the systems' outputs as people do? One coefficient
          per input (column), over systems; then the mean over inputs. nlpstats calls it "input",
          summarisation papers "summary level"; both are accepted.
system    Does the metric order the systems as people do? The mean of each system (row) over its
          judged inputs, then one coefficient over systems.

They differ a lot on the same data, so the level is part of every result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.errors import OptionError
from nlgauge.stats.coefficients import Coefficient, Rowwise, choose_coefficient
from nlgauge.stats.validation import Array, Mask, as_matrices

LEVELS = ("segment", "text", "system")

LEVEL_ALIASES: Mapping[str, str] = MappingProxyType(
    {"global": "segment", "flat": "segment", "input": "text", "summary": "text"}
)

Which = str | Coefficient | Callable[[Array, Array], float]


@dataclass(frozen=True)
class Correlation:
    """A coefficient at a level, with the count of everything that did and did not enter it."""

    value: float
    level: str
    coefficient: str
    n: int
    """Points that entered: cells (segment), cells of the rows used (text), systems (system)."""
    rows_used: int
    """Coefficients that were computed and defined: one, or at text level one per input."""
    rows_undefined: int
    """Coefficients that were not: constant or shorter than two points."""
    cells: int
    """Cells with both a metric score and a judgement."""
    cells_without_metric: int
    """Judged cells the metric did not score."""
    cells_without_human: int
    """Scored cells nobody judged."""
    reason: str = ""
    """Why the value is NaN; empty if it is not."""


def choose_level(level: str) -> str:
    """The level of that name, aliases resolved."""
    name = LEVEL_ALIASES.get(level, level)
    if name not in LEVELS:
        raise OptionError(
            f"there is no level {level!r}; choose one of {', '.join(LEVELS)} "
            f"(also understood: {', '.join(LEVEL_ALIASES)})."
        )
    return name


def system_means(values: Array, present: Mask) -> Array:
    """The mean over inputs (last axis) of the present cells; NaN for a system without any."""
    count = present.sum(axis=-1)
    total = np.where(present, values, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def points(metric: Array, human: Array, level: str) -> tuple[Array, Array]:
    """The two vectors that the segment or system level correlates."""
    present = np.isfinite(metric) & np.isfinite(human)
    if level == "segment":
        return metric[present], human[present]
    if level == "system":
        judged = present.any(axis=1)
        return system_means(metric, present)[judged], system_means(human, present)[judged]
    raise OptionError(
        f"the {level} level averages many coefficients and has no single set of points; "
        "use 'segment' or 'system' here."
    )


def row_values(metric: Array, human: Array, level: str, rowwise: Rowwise) -> Array:
    """Every coefficient of a stack of matrices: stack x 1, or stack x inputs at text level.

    `metric` is (stack, systems, inputs), `human` the same or broadcastable to it.
    """
    metric, human = np.broadcast_arrays(metric, human)
    stack, systems, inputs = metric.shape
    if level == "segment":
        flat = (stack, systems * inputs)
        return rowwise(metric.reshape(flat), human.reshape(flat))[:, None]
    if level == "text":
        rows = (stack * inputs, systems)
        x = metric.transpose(0, 2, 1).reshape(rows)
        return rowwise(x, human.transpose(0, 2, 1).reshape(rows)).reshape(stack, inputs)
    present = np.isfinite(metric) & np.isfinite(human)
    return rowwise(system_means(metric, present), system_means(human, present))[:, None]


def stack_values(metric: Array, human: Array, level: str, rowwise: Rowwise) -> Array:
    """The correlation of each matrix of a stack: the mean of its defined coefficients."""
    values = row_values(metric, human, level, rowwise)
    return system_means(values, np.isfinite(values))


def per_input(metric: ArrayLike, human: ArrayLike, coefficient: Which = "pearson") -> Array:
    """The coefficient over systems of each input (column); NaN where it is undefined."""
    x, y = as_matrices(metric=metric, human=human)
    values = row_values(x[None], y[None], "text", choose_coefficient(coefficient).rowwise)
    return values.reshape(-1)


def correlate(
    metric: ArrayLike,
    human: ArrayLike,
    level: str = "segment",
    coefficient: Which = "pearson",
) -> Correlation:
    """The correlation of a metric with people, from two system x input matrices.

    Only cells present in both count, at every level; both must point the same way (Grid.align sees
    to that). A corpus score that is no mean of segments (BLEU) enters the system level as a matrix
    of one column. Undefined coefficients are counted, never replaced by zero.
    """
    x, y = as_matrices(metric=metric, human=human)
    level, chosen = choose_level(level), choose_coefficient(coefficient)
    present = np.isfinite(x) & np.isfinite(y)
    rows = row_values(x[None], y[None], level, chosen.rowwise)[0]
    defined = np.isfinite(rows)
    value = float(rows[defined].mean()) if defined.any() else float("nan")
    if level == "text":
        n = int(present[:, defined].sum())
    else:
        n = int(present.sum()) if level == "segment" else int(present.any(axis=1).sum())
    return Correlation(
        value,
        level,
        chosen.name,
        n,
        int(defined.sum()),
        int((~defined).sum()),
        int(present.sum()),
        int((np.isfinite(y) & ~np.isfinite(x)).sum()),
        int((np.isfinite(x) & ~np.isfinite(y)).sum()),
        "" if defined.any() else _why(present, level),
    )


def _why(present: Mask, level: str) -> str:
    """Why no coefficient was defined, in a sentence."""
    if not present.any():
        return "no cell has both a metric score and a judgement"
    if level == "segment":
        cells = int(present.sum())
        if cells == 1:
            return "only 1 cell is both scored and judged"
        return f"the scores or the judgements of all {cells} cells are constant"
    systems = int(present.any(axis=1).sum())
    if systems == 1:
        return f"1 judged system; the {level} level compares at least 2"
    if level == "text" and int(present.sum(axis=0).max()) < 2:
        return "no input has 2 judged systems"
    return f"the scores or the judgements of the {systems} systems are constant"
