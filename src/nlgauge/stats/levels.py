"""Correlation of a metric with people at the segment, text or system level.

segment   One coefficient over all cells, whatever their input and system. Some papers call it
          global or flat; both names are accepted.
text      One coefficient over systems per input (column), then the mean over inputs. nlpstats calls
          it "input", summarisation papers "summary" level; both names are accepted.
system    One coefficient over the systems' means of their judged inputs.

The levels differ a lot on the same data, so the level is part of every result.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Bools, Floats
from nlgauge.core.errors import OptionError
from nlgauge.stats.coefficients import Rowwise, system_means
from nlgauge.stats.named_coefficients import LEVELS, Coefficient, choose_coefficient
from nlgauge.stats.validation import as_matrices

LEVEL_ALIASES: Mapping[str, str] = MappingProxyType(
    {"global": "segment", "flat": "segment", "input": "text", "summary": "text"}
)

Which = str | Coefficient | Callable[[Floats, Floats], float]


@dataclass(frozen=True)
class Correlation:
    """A coefficient at a level, with counts of what did and did not enter it."""

    value: float
    level: str
    coefficient: str
    n: int
    """Points used: cells (segment), cells of the rows used (text) or systems (system)."""
    rows_used: int
    """Defined coefficients: one, or at text level one per input."""
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
    """Return the two vectors that the segment or system level correlates."""
    present = np.isfinite(metric) & np.isfinite(human)
    if level == "segment":
        return metric[present], human[present]
    if level == "system":
        judged = present.any(axis=1)
        return system_means(metric, present)[judged], system_means(human, present)[judged]
    raise OptionError(f"the {level} level has no single set of points; use 'segment' or 'system'.")


def _values(metric: Floats, human: Floats, level: str, coefficient: Coefficient) -> Floats:
    """Return all coefficients of stack x systems x inputs: stack x 1, at text level x inputs."""
    metric, human = np.broadcast_arrays(metric, human)
    coefficient.check_level(level)
    if level not in coefficient.by_level:
        return _row_values(metric, human, level, coefficient.rowwise)
    matrixwise = coefficient.by_level[level]
    return np.asarray([[matrixwise(x, y)] for x, y in zip(metric, human, strict=True)])


def _row_values(metric: Floats, human: Floats, level: str, rowwise: Rowwise) -> Floats:
    """Return the row-wise coefficients of stack x systems x inputs."""
    stack, systems, inputs = metric.shape
    if level == "segment":
        return rowwise(metric.reshape(stack, -1), human.reshape(stack, -1))[:, None]
    if level == "text":
        x, y = (values.transpose(0, 2, 1).reshape(-1, systems) for values in (metric, human))
        return rowwise(x, y).reshape(stack, inputs)
    present = np.isfinite(metric) & np.isfinite(human)
    return rowwise(system_means(metric, present), system_means(human, present))[:, None]


def correlation_of(level: str, coefficient: Which) -> Callable[[Floats, Floats], Floats]:
    """Return a function of two stacks of matrices that computes one correlation per matrix."""
    level, chosen = choose_level(level), choose_coefficient(coefficient)
    chosen.check_level(level)

    def correlation(metric: Floats, human: Floats) -> Floats:
        values = _values(metric, human, level, chosen)
        return system_means(values, np.isfinite(values))

    return correlation


def per_input(metric: ArrayLike, human: ArrayLike, coefficient: Which = "pearson") -> Floats:
    """Return the coefficient over systems of each input (column); NaN where it is undefined."""
    x, y = as_matrices(metric=metric, human=human)
    return _row_values(x[None], y[None], "text", choose_coefficient(coefficient).rowwise).ravel()


def correlate(
    metric: ArrayLike, human: ArrayLike, level: str = "segment", coefficient: Which = "pearson"
) -> Correlation:
    """Return the correlation of a metric with people, from two system x input matrices.

    Only cells present in both count. A corpus score that is not a mean of segments (BLEU) enters
    the system level as a matrix of one column. Undefined coefficients are counted, never replaced
    by zero.

    Parameters
    ----------
    metric, human : array_like, systems x inputs, NaN for missing cells
    level : "segment", "text" or "system"
    coefficient : "pearson", "spearman", "kendall_b", "kendall_c", "accuracy", or a function of two
        vectors; "acc_eq" (text and system level), "spa" (system level), "pairwise_pearson" (text)

    Returns
    -------
    Correlation

    Raises
    ------
    ShapeError, OptionError
        For matrices of different shapes; for an unknown level or coefficient.

    Examples
    --------
    >>> round(correlate([[1, 2], [3, 4]], [[10, 30], [20, 40]]).value, 3)
    0.8
    >>> correlate([[1, 2], [3, 4]], [[10, 30], [20, 40]], "system").value
    1.0
    """
    x, y = as_matrices(metric=metric, human=human)
    level, chosen = choose_level(level), choose_coefficient(coefficient)
    has_x, has_y = np.isfinite(x), np.isfinite(y)
    present = has_x & has_y
    rows = _values(x[None], y[None], level, chosen)[0]
    defined = np.isfinite(rows)
    used = present[:, defined] if rows.size > 1 else present & defined
    return Correlation(
        value=float(rows[defined].mean()) if defined.any() else float("nan"),
        level=level,
        coefficient=chosen.name,
        n=int((used.any(axis=1) if level == "system" else used).sum()),
        rows_used=int(defined.sum()),
        rows_undefined=int((~defined).sum()),
        cells=int(present.sum()),
        cells_without_metric=int((has_y & ~has_x).sum()),
        cells_without_human=int((has_x & ~has_y).sum()),
        reason="" if defined.any() else _reason(present, level),
    )


def _reason(present: Bools, level: str) -> str:
    if not present.any():
        return "no cell has both a metric score and a judgement"
    cells, systems = int(present.sum()), int(present.any(axis=1).sum())
    if level == "segment" and cells == 1:
        return "only 1 cell is both scored and judged"
    if level != "segment" and systems == 1:
        return f"1 judged system; the {level} level compares at least 2"
    if level == "text" and int(present.sum(axis=0).max()) < 2:
        return "no input has 2 judged systems"
    points = f"all {cells} cells" if level == "segment" else f"the {systems} systems"
    return f"the scores or the judgements of {points} are constant"
