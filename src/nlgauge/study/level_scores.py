"""The scores of all metrics of a study, and the judgements of one criterion, at one level."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError
from nlgauge.stats import Grid, document_means, permutation_test
from nlgauge.stats.coefficients import row_means
from nlgauge.stats.levels import Average
from nlgauge.stats.named_coefficients import choose_coefficient
from nlgauge.stats.permutation_tests import Exchanged
from nlgauge.stats.validation import common_cells
from nlgauge.study.study import Study
from nlgauge.study.system_scores import ScoredSystems, corpus_scores, means_of_all

SystemScore = Literal["mean", "all", "corpus"]


def check_system_score(system_score: str) -> None:
    """Raise OptionError for an unknown score of systems."""
    if system_score not in ("mean", "all", "corpus"):
        raise OptionError(f"system_score is {system_score!r}; it is 'mean', 'all' or 'corpus'.")


def is_averaged(level: str, name: str) -> bool:
    """Return whether a coefficient is a mean over inputs or systems, which may be weighted."""
    return level in ("text", "by_system") and not choose_coefficient(name).by_level


@dataclass(frozen=True, eq=False)
class LevelScores:
    """The data of a coefficient at a level: matrices of each metric and of people."""

    grid: Grid
    level: str
    systems: Mapping[str, ScoredSystems]
    """Metrics whose score of a system is not the mean of its judged cells."""

    @classmethod
    def of(
        cls, study: Study, criterion: str, level: str, system_score: SystemScore = "mean"
    ) -> "LevelScores":
        """Return the scores and judgements of a study at a level."""
        grid = study.grid(criterion)
        systems: dict[str, ScoredSystems] = {}
        if level == "document":
            grid.require_documents()
        if level == "system" and system_score == "corpus":
            computed = [label for label in study.labels if label not in study.stored]
            systems = {label: corpus_scores(study, label, grid) for label in computed}
        if level == "system" and system_score == "all":
            systems = {
                label: means_of_all(grid.metric(label), grid.human) for label in study.labels
            }
        return cls(grid, level, systems)

    def matrices(self, label: str, name: str) -> tuple[Floats, Floats]:
        """Return the matrices of a metric and of people for a coefficient."""
        if label in self.systems and name != "spa":  # which tests segments
            return self.systems[label].columns
        pair = self.grid.metric(label), self.grid.human
        if self.level != "document":
            return pair
        _, (metric, human) = document_means(self.grid.require_documents(), *pair)
        return metric, human

    def differences(
        self, name: str, *, average: Average = "macro", count: int = 1000, seed: int = 0
    ) -> dict[tuple[int, int], Floats]:
        """Return the permuted differences of every two metrics, and last the observed one.

        As at WMT, cells are exchanged one by one; at the system level system scores, except for
        spa; for acc_eq the decisions on pairs.
        """
        over: Exchanged = "pairs" if name == "acc_eq" else "cells"
        how: dict[str, Any] = {"average": average, "count": count, "seed": seed}
        found = {}
        for (i, first), (j, second) in combinations(enumerate(self.grid.metrics), 2):
            data = *self._common(first, second, name), self.level, name
            test = permutation_test(*data, over=over, **how)
            found[i, j] = np.append(test.null, test.difference)
        return found

    def _common(self, first: str, second: str, name: str) -> tuple[Floats, Floats, Floats]:
        """Return matrices of two metrics and of people that have the same cells."""
        grid = self.grid
        if {first, second} & self.systems.keys() and name != "spa":
            (a, human), (b, _) = (self._columns(label) for label in (first, second))
            return a, b, human
        matrices = {"first": grid.metric(first), "second": grid.metric(second), "human": grid.human}
        a, b, human = common_cells(**matrices)
        if self.level == "document":
            _, (a, b, human) = document_means(grid.require_documents(), a, b, human)
        if self.level == "system" and name != "spa":
            a, b, human = map(_mean_column, (a, b, human))
        return a, b, human

    def _columns(self, label: str) -> tuple[Floats, Floats]:
        """Return the scores and human means of systems, for a stored metric means of its cells."""
        if label in self.systems:
            return self.systems[label].columns
        metric, human = common_cells(metric=self.grid.metric(label), human=self.grid.human)
        return _mean_column(metric), _mean_column(human)


def _mean_column(values: Floats) -> Floats:
    """Return the means of the systems' filled cells, systems x 1."""
    return row_means(values)[:, None]
