"""The coefficients of `correlate` by name, and the levels at which each is defined."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError
from nlgauge.stats.coefficients import COEFFICIENTS, Rowwise
from nlgauge.stats.pair_statistics import calibrated_accuracy, pairwise_pearson, soft_accuracies

Stackwise = Callable[[Floats, Floats], Floats]
"""A function of two stacks of matrices that returns a value for each matrix."""

LEVELS = ("segment", "text", "by_system", "document", "system")


def _map_matrices(function: Callable[[Floats, Floats], float]) -> Stackwise:
    def stackwise(metric: Floats, human: Floats) -> Floats:
        return np.asarray([function(x, y) for x, y in zip(metric, human, strict=True)])

    return stackwise


MATRIX_COEFFICIENTS: Mapping[str, Mapping[str, Stackwise]] = MappingProxyType(
    {
        "acc_eq": {
            level: _map_matrices(partial(calibrated_accuracy, level=level))
            for level in ("text", "system")
        },
        "spa": {"system": soft_accuracies},
        "pairwise_pearson": {"text": _map_matrices(pairwise_pearson)},
    }
)
"""Coefficients of whole system x input matrices, by name and level."""

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "r": "pearson",
        "rho": "spearman",
        "tau": "kendall_b",
        "kendall": "kendall_b",
        "soft_accuracy": "spa",
        "pdp": "pairwise_pearson",
    }
)


@dataclass(frozen=True)
class Coefficient:
    """A coefficient's name and its computation, by rows or of a whole matrix."""

    name: str
    rowwise: Rowwise
    by_level: Mapping[str, Stackwise] = field(default_factory=dict)
    """The computation of a whole matrix by level; empty if it is done by rows."""

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels at which it is defined."""
        return tuple(self.by_level) or LEVELS

    def check_level(self, level: str) -> None:
        """Raise OptionError if the coefficient is not defined at a level."""
        if level not in self.levels:
            raise OptionError(
                f"{self.name} is defined at the {' and '.join(self.levels)} level, not at the "
                f"{level} level; use level={self.levels[0]!r}."
            )


def choose_coefficient(which: str | Coefficient | Callable[[Floats, Floats], float]) -> Coefficient:
    """Return the coefficient of that name, or one made of a function of two vectors."""
    if isinstance(which, Coefficient):
        return which
    if callable(which):
        return Coefficient(getattr(which, "__name__", type(which).__name__), _map_rows(which))
    name = ALIASES.get(which, which)
    if name in COEFFICIENTS:
        return Coefficient(name, COEFFICIENTS[name])
    if name in MATRIX_COEFFICIENTS:
        return Coefficient(name, _refuse_rows(name), MATRIX_COEFFICIENTS[name])
    known = ", ".join([*COEFFICIENTS, *MATRIX_COEFFICIENTS])
    raise OptionError(
        f"there is no coefficient {which!r}; choose one of {known} or pass a function of two "
        "vectors."
    )


def _map_rows(function: Callable[[Floats, Floats], float]) -> Rowwise:
    def rowwise(x: Floats, y: Floats) -> Floats:
        rows = zip(x, y, np.isfinite(x) & np.isfinite(y), strict=True)
        values = [function(a[at], b[at]) if at.sum() > 1 else np.nan for a, b, at in rows]
        return np.asarray(values, dtype=np.float64)

    return rowwise


def _refuse_rows(name: str) -> Rowwise:
    def rowwise(*_: Floats) -> Floats:
        raise OptionError(
            f"{name} compares a metric with people on systems x inputs; it is not defined for two "
            f"vectors. Use one of {', '.join(COEFFICIENTS)}."
        )

    return rowwise
