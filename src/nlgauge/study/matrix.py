"""Metrics against each other and against people, pair by pair."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.stats import Grid, MetricScores
from nlgauge.stats.levels import Average, choose_level
from nlgauge.stats.matrix import (
    CoefficientMatrix,
    PermutationMatrix,
    WilliamsMatrix,
    coefficient_matrix,
    permutation_matrix,
    williams_matrix,
)
from nlgauge.stats.permutation_tests import Exchanged
from nlgauge.study.study import Study


def matrix(
    study: Study,
    *,
    human: str | Sequence[str] | None = None,
    level: str = "segment",
    coefficient: str = "pearson",
    cluster: bool = False,
) -> CoefficientMatrix:
    """Return coefficients and p-values of every pair among criteria (first rows) and metrics.

    Parameters
    ----------
    study : Study, the result of `measure`
    human : str or sequence of str, the criteria; all by default
    level, coefficient : as in `correlate`
    cluster : bool, whether metrics that agree with each other become neighbours

    Returns
    -------
    CoefficientMatrix

    Examples
    --------
    >>> from nlgauge.core.corpus import Corpus
    >>> from nlgauge.data import JudgedCorpus
    >>> from nlgauge.study import measure
    >>> judged = JudgedCorpus(Corpus.of(["a b", "a c", "d"], ["a b"] * 3), {"da": [3, 2, 1]}, ())
    >>> matrix(measure(judged, ["bleu", "chrf"])).names
    ('human', 'bleu', 'chrf')
    """
    criteria = study.criteria(human)
    titles = {name: "human" if len(criteria) == 1 else f"human:{name}" for name in criteria}
    others = [
        MetricScores.like(study.judgements, titles[name], study.judgements.matrix(name))
        for name in criteria[1:]
    ]
    grid = Grid.align(study.judgements, criteria[0], [*others, *study.metrics], missing="keep")
    if choose_level(level) == "document":
        grid = grid.by_document()
    result = coefficient_matrix(grid, level, coefficient)
    names = (titles[criteria[0]], *result.names[1:])
    order = list(range(len(names)))
    if cluster:
        order[len(criteria) :] = _sort_by_cluster(result.values, order[len(criteria) :])
    cells = np.ix_(order, order)
    names = tuple(names[i] for i in order)
    return replace(result, names=names, values=result.values[cells], p=result.p[cells])


def williams(study: Study, criterion: str, *, level: str = "segment") -> WilliamsMatrix:
    """Return Williams's one-sided p of every ordered pair of metrics.

    Parameters
    ----------
    study : Study, the result of `measure`, with two metrics or more
    criterion : str
    level : "segment" (points are outputs), "document" or "system"

    Returns
    -------
    WilliamsMatrix, whose `p[i, j]` is of "metric i has a higher Pearson r than metric j"
    """
    return williams_matrix(study.grid(criterion, level), level)


def permutation(
    study: Study,
    criterion: str,
    *,
    level: str = "segment",
    coefficient: str = "pearson",
    over: Exchanged | None = None,
    average: Average = "macro",
    count: int = 1000,
    seed: int = 0,
) -> PermutationMatrix:
    """Return the permutation test's one-sided p of every ordered pair of metrics.

    Parameters
    ----------
    study, criterion : as in `williams`
    level, coefficient, average : as in `correlate`
    over : "both", "inputs", "systems", "cells" or "pairs" (of acc_eq), what is swapped, as in
        `nlgauge.stats.permutation_test`; both by default, inputs with one system
    count, seed : permutations and their seed

    Returns
    -------
    PermutationMatrix, whose `p[i, j]` is of "metric i correlates better than metric j"
    """
    over = over or ("both" if len(study.judgements.systems) > 1 else "inputs")
    data = study.grid(criterion, level), level, coefficient
    return permutation_matrix(*data, over=over, average=average, count=count, seed=seed)


def _sort_by_cluster(values: Floats, members: list[int]) -> list[int]:
    """Return the members in the order of an average-linkage tree on 1 - coefficient."""
    if len(members) < 3:
        return members
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distances = 1.0 - values[np.ix_(members, members)]
    distances = np.where(np.isfinite(distances), distances, 1.0)
    np.fill_diagonal(distances, 0.0)
    condensed = squareform((distances + distances.T) / 2, checks=False)
    tree = linkage(condensed, "average", optimal_ordering=True)
    return [members[i] for i in leaves_list(tree)]
