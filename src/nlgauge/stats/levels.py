"""Correlation of a metric with people at one of five levels.

segment    One coefficient over all cells, whatever their input and system. Some papers call it
           global or flat; both names are accepted.
text       One coefficient over systems per input (column), then the mean over inputs. nlpstats
           calls it "input", summarisation papers "summary" level, WMT "group-by-item"; these names
           are accepted.
by_system  One coefficient over inputs per system (row), then the mean over systems; WMT's
           "group-by-system".
document   As segment, on matrices with documents as columns (see `groups.document_means`).
system     One coefficient over the systems' means of their judged inputs.

Results differ a lot between levels on the same data, so the level is part of every result.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Bools, Floats
from nlgauge.core.errors import OptionError
from nlgauge.stats.coefficients import Rowwise, divide, row_means
from nlgauge.stats.named_coefficients import LEVELS, Coefficient, choose_coefficient
from nlgauge.stats.validation import as_matrices, as_matrix

LEVEL_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        **{"global": "segment", "flat": "segment", "input": "text", "summary": "text"},
        **{"group-by-item": "text", "group-by-system": "by_system"},
    }
)
POOLED = ("segment", "document")
"""Levels with one coefficient over all cells."""

Average = Literal["macro", "micro"]
Which = str | Coefficient | Callable[[Floats, Floats], float]


@dataclass(frozen=True)
class Correlation:
    """A coefficient at a level, with counts of the cells that were used and left out."""

    value: float
    level: str
    coefficient: str
    n: int
    """Points used: cells, at the text and by_system level those of the rows used, or systems."""
    rows_used: int
    """Defined coefficients: one, or one per input (text) or per system (by_system)."""
    rows_undefined: int
    """Undefined coefficients: constant, or of fewer than two points."""
    cells: int
    """Cells with both a metric score and a judgement."""
    cells_without_metric: int
    """Judged cells without a metric score."""
    cells_without_human: int
    """Scored cells without a judgement."""
    reason: str = ""
    """Why the value is NaN; empty if it is not."""


def choose_level(level: str) -> str:
    """Return the level of that name, aliases resolved."""
    name = LEVEL_ALIASES.get(level, level)
    if name not in LEVELS:
        raise OptionError(
            f"there is no level {level!r}; choose one of {', '.join(LEVELS)} "
            f"(also understood: {', '.join(LEVEL_ALIASES)})."
        )
    return name


def points(metric: Floats, human: Floats, level: str) -> tuple[Floats, Floats]:
    """Return the two vectors that the segment, document or system level correlates."""
    present = np.isfinite(metric) & np.isfinite(human)
    if level in POOLED:
        return metric[present], human[present]
    if level == "system":
        judged = present.any(axis=1)
        return row_means(metric, present)[judged], row_means(human, present)[judged]
    raise OptionError(f"the {level} level has no single set of points; use 'segment' or 'system'.")


def _values(metric: Floats, human: Floats, level: str, coefficient: Coefficient) -> Floats:
    """Return all coefficients of stack x systems x inputs: stack x 1, x inputs or x systems."""
    metric, human = np.broadcast_arrays(metric, human)
    coefficient.check_level(level)
    if level not in coefficient.by_level:
        return _row_values(metric, human, level, coefficient.rowwise)
    return coefficient.by_level[level](metric, human)[:, None]


def _row_values(metric: Floats, human: Floats, level: str, rowwise: Rowwise) -> Floats:
    """Return the row-wise coefficients of stack x systems x inputs."""
    stack, systems, inputs = metric.shape
    if level in POOLED:
        return rowwise(metric.reshape(stack, -1), human.reshape(stack, -1))[:, None]
    if level == "by_system":
        return rowwise(metric.reshape(-1, inputs), human.reshape(-1, inputs)).reshape(
            stack, systems
        )
    if level == "text":
        x, y = (values.transpose(0, 2, 1).reshape(-1, systems) for values in (metric, human))
        return rowwise(x, y).reshape(stack, inputs)
    present = np.isfinite(metric) & np.isfinite(human)
    return rowwise(row_means(metric, present), row_means(human, present))[:, None]


def check_average(average: str, level: str, coefficient: Coefficient) -> None:
    """Raise OptionError for an unknown average, and for "micro" where nothing is averaged."""
    if average not in ("macro", "micro"):
        raise OptionError(f"average is {average!r}; it is 'macro' or 'micro'.")
    if average == "micro" and (level not in ("text", "by_system") or coefficient.by_level):
        raise OptionError(
            "average='micro' weights the coefficients of inputs (text level) or systems (by_system "
            f"level); {coefficient.name} at the {level} level has no such mean."
        )


def _row_weights(metric: Floats, human: Floats, level: str, average: str) -> Floats | float:
    """Return the weights of the rows' coefficients: their numbers of cells, or 1 for "macro"."""
    if average == "macro":
        return 1.0
    present = np.isfinite(metric) & np.isfinite(human)
    return np.asarray(present.sum(axis=-2 if level == "text" else -1), dtype=np.float64)


def _weighted_mean(values: Floats, weights: Floats | float) -> Floats:
    """Return the means over the last axis of the defined values; NaN where there are none."""
    defined = np.isfinite(values)
    total = np.where(defined, values * weights, 0.0).sum(axis=-1)
    return divide(total, (defined * weights).sum(axis=-1))


def correlation_of(
    level: str, coefficient: Which, average: Average = "macro"
) -> Callable[[Floats, Floats], Floats]:
    """Return a function of two stacks of matrices that computes one correlation per matrix."""
    level, statistic = choose_level(level), choose_coefficient(coefficient)
    statistic.check_level(level)
    check_average(average, level, statistic)

    def correlation(metric: Floats, human: Floats) -> Floats:
        values = _values(metric, human, level, statistic)
        return _weighted_mean(values, _row_weights(metric, human, level, average))

    return correlation


def per_input(metric: ArrayLike, human: ArrayLike, coefficient: Which = "pearson") -> Floats:
    """Return the coefficient over systems of each input (column); NaN where it is undefined."""
    x, y = as_matrices(metric=metric, human=human)
    return _row_values(x[None], y[None], "text", choose_coefficient(coefficient).rowwise).ravel()


def correlate(
    metric: ArrayLike,
    human: ArrayLike,
    level: str = "segment",
    coefficient: Which = "pearson",
    *,
    average: Average = "macro",
) -> Correlation:
    """Return the correlation of a metric with people, from two system x input matrices.

    Only cells present in both count. At the system level the two may have different numbers of
    inputs: then the mean of a system is that of all its cells in each. A corpus score that is not a
    mean of segments (BLEU) is such a matrix, of one column. Undefined coefficients are counted,
    never replaced by zero.

    Parameters
    ----------
    metric, human : array_like, systems x inputs, NaN for missing cells
    level : "segment", "text", "by_system", "document" (columns are documents) or "system"
    coefficient : "pearson", "spearman", "kendall_b", "kendall_c", "accuracy", or a function of two
        vectors; "acc_eq" (text and system level), "spa" (system level), "pairwise_pearson" (text)
    average : "macro" or "micro", whether the mean over inputs (text) or systems (by_system) weights
        a coefficient by the number of its cells

    Returns
    -------
    Correlation

    Raises
    ------
    ShapeError or OptionError
        For matrices of different shapes; for an unknown level or coefficient.

    Examples
    --------
    >>> round(correlate([[1, 2], [3, 4]], [[10, 30], [20, 40]]).value, 3)
    0.8
    >>> correlate([[1, 2], [3, 4]], [[10, 30], [20, 40]], "system").value
    1.0
    """
    level, statistic = choose_level(level), choose_coefficient(coefficient)
    check_average(average, level, statistic)
    if level == "system" and not statistic.by_level:
        metric, human = _average_unequal(metric, human)
    x, y = as_matrices(metric=metric, human=human)
    has_x, has_y = np.isfinite(x), np.isfinite(y)
    present = has_x & has_y
    rows = _values(x[None], y[None], level, statistic)[0]
    defined = np.isfinite(rows)
    defined_cells = defined[:, None] if level == "by_system" else defined
    used_cells = present & defined_cells if rows.size > 1 else present & defined.any()
    return Correlation(
        value=float(_weighted_mean(rows, _row_weights(x, y, level, average))),
        level=level,
        coefficient=statistic.name,
        n=int((used_cells.any(axis=1) if level == "system" else used_cells).sum()),
        rows_used=int(defined.sum()),
        rows_undefined=int((~defined).sum()),
        cells=int(present.sum()),
        cells_without_metric=int((has_y & ~has_x).sum()),
        cells_without_human=int((has_x & ~has_y).sum()),
        reason="" if defined.any() else _undefined_reason(present, level),
    )


def _average_unequal(metric: ArrayLike, human: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
    """Return one column of means each if the numbers of inputs differ, else both unchanged."""
    x, y = as_matrix(metric, "metric"), as_matrix(human, "human")
    if x.shape[1] == y.shape[1] or x.shape[0] != y.shape[0]:
        return metric, human
    one, other = (row_means(matrix)[:, None] for matrix in (x, y))
    return one, other


def _undefined_reason(present: Bools, level: str) -> str:
    if not present.any():
        return "no cell has both a metric score and a judgement"
    cells, systems = int(present.sum()), int(present.any(axis=1).sum())
    if level in POOLED and cells == 1:
        return "only 1 cell is both scored and judged"
    if level in ("text", "system") and systems == 1:
        return f"1 judged system; the {level} level compares at least 2"
    if level == "text" and int(present.sum(axis=0).max()) < 2:
        return "no input has 2 judged systems"
    if level == "by_system" and int(present.sum(axis=1).max()) < 2:
        return "no system has 2 judged inputs"
    points = f"the {systems} systems" if level in ("text", "system") else f"all {cells} cells"
    return f"the scores or the judgements of {points} are constant"
