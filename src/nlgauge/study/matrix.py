"""Metrics against each other and against people, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.errors import OptionError
from nlgauge.stats import (
    CoefficientMatrix,
    Grid,
    Measured,
    PermutationMatrix,
    WilliamsMatrix,
    coefficient_matrix,
    permutation_matrix,
    williams_matrix,
)
from nlgauge.stats.intervals import Over
from nlgauge.study.study import Study

Array = NDArray[np.float64]


def matrix(
    study: Study,
    *,
    human: str | Sequence[str] | None = None,
    level: str = "segment",
    coefficient: str = "pearson",
    cluster: bool = False,
) -> CoefficientMatrix:
    """Coefficients and p-values of every pair among the criteria (the first rows) and the metrics.

    ``cluster`` moves metrics that agree with each other next to each other.
    """
    criteria = study.criteria(human)
    named = {name: "human" if len(criteria) == 1 else f"human:{name}" for name in criteria}
    others = [
        Measured.like(study.judgements, named[name], study.judgements.matrix(name))
        for name in criteria[1:]
    ]
    grid = Grid.align(study.judgements, criteria[0], [*others, *study.measured], missing="keep")
    found = coefficient_matrix(grid, level, coefficient)
    names = (named[criteria[0]], *found.names[1:])
    order = list(range(len(names)))
    if cluster:
        order[len(criteria) :] = _clustered(found.values, order[len(criteria) :])
    return CoefficientMatrix(
        tuple(names[i] for i in order),
        found.values[np.ix_(order, order)],
        found.p[np.ix_(order, order)],
        *(found.level, found.coefficient, found.cells, found.cells_dropped),
    )


def williams(study: Study, criterion: str, *, level: str = "segment") -> WilliamsMatrix:
    """Williams's one-sided p of every ordered pair of metrics, for one criterion."""
    if len(study.measured) < 2:
        raise OptionError("Williams's test compares 2 metrics or more, but 1 was named.")
    return williams_matrix(study.grid(criterion), level)


def permutation(
    study: Study,
    criterion: str,
    *,
    level: str = "segment",
    coefficient: str = "pearson",
    over: Over | None = None,
    count: int = 1000,
    seed: int = 0,
) -> PermutationMatrix:
    """The permutation test's one-sided p of every ordered pair of metrics, for one criterion.

    ``over`` says what trades places between two metrics: inputs, systems or both. If it is not
    said, both do, or the inputs where there is but one system.
    """
    if len(study.measured) < 2:
        raise OptionError("the permutation test compares 2 metrics or more, but 1 was named.")
    traded: Over = over or ("both" if len(study.judgements.systems) > 1 else "inputs")
    return permutation_matrix(
        study.grid(criterion), level, coefficient, over=traded, count=count, seed=seed
    )


def _clustered(values: Array, members: list[int]) -> list[int]:
    """The members in the order of an average-linkage tree on 1 - coefficient."""
    if len(members) < 3:
        return members
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    apart = 1.0 - values[np.ix_(members, members)]
    apart = np.where(np.isfinite(apart), apart, 1.0)
    np.fill_diagonal(apart, 0.0)
    tree = linkage(
        squareform((apart + apart.T) / 2, checks=False), "average", optimal_ordering=True
    )
    return [members[i] for i in leaves_list(tree)]
