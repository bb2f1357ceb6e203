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
from nlgauge.study.corpus_scores import CorpusScores
from nlgauge.study.study import Study

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
    columns: Mapping[str, tuple[Floats, Floats]]
    """Scores and judgements of systems, of metrics whose system score is not a mean of cells."""
    corpus: Mapping[str, CorpusScores]
    """The statistics of the metrics whose corpus scores are used."""

    @classmethod
    def of(
        cls, study: Study, criterion: str, level: str, system_score: SystemScore = "mean"
    ) -> "LevelScores":
        """Return the scores and judgements of a study at a level."""
        grid = study.grid(criterion)
        corpus: dict[str, CorpusScores] = {}
        columns: dict[str, tuple[Floats, Floats]] = {}
        if level == "document":
            grid.require_documents()
        if level == "system" and system_score == "corpus":
            computed = [label for label in study.labels if label not in study.stored]
            corpus = {label: CorpusScores.of(study, label, grid) for label in computed}
            columns = {label: scores.columns for label, scores in corpus.items()}
        if level == "system" and system_score == "all":
            human = _mean_column(grid.human)
            columns = {label: (_mean_column(grid.metric(label)), human) for label in study.labels}
        return cls(grid, level, columns, corpus)

    def matrices(self, label: str, name: str) -> tuple[Floats, Floats]:
        """Return the matrices of a metric and of people for a coefficient."""
        if label in self.columns and name != "spa":  # which tests segments
            return self.columns[label]
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
        if {first, second} <= self.columns.keys() and name != "spa":
            (a, human), (b, _) = self.columns[first], self.columns[second]
            return a, b, human
        grid = self.grid
        matrices = {"first": grid.metric(first), "second": grid.metric(second), "human": grid.human}
        a, b, human = common_cells(**matrices)
        if self.level == "document":
            _, (a, b, human) = document_means(grid.require_documents(), a, b, human)
        if self.level == "system" and name != "spa":
            a, b, human = map(_mean_column, (a, b, human))
        return a, b, human


def _mean_column(values: Floats) -> Floats:
    """Return the means of the systems' filled cells, systems x 1."""
    return row_means(values)[:, None]
