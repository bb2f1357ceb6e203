"""A metric against people, by its segment scores or by its corpus scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.scores import Scores
from nlgauge.stats import Correlation, Grid, Interval, resample_weights
from nlgauge.stats import correlate as correlate_matrices
from nlgauge.stats.coefficients import choose_coefficient
from nlgauge.stats.intervals import Over, bootstrap_correlation, check_over, percentile_interval
from nlgauge.stats.validation import check_count
from nlgauge.study.study import Study

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Drawing:
    """How intervals are drawn."""

    confidence: float
    over: Over
    count: int
    seed: int


@dataclass(frozen=True, eq=False)
class Segments:
    """A metric's segment scores against people, at one level."""

    metric: Array
    human: Array
    level: str

    def correlation(self, coefficient: str) -> Correlation:
        """The coefficient over the cells that are scored and judged."""
        return correlate_matrices(self.metric, self.human, self.level, coefficient)

    def interval(self, coefficient: str, drawing: Drawing | None) -> Interval | None:
        """Its bootstrap interval, if one is to be drawn."""
        if drawing is None:
            return None
        return bootstrap_correlation(
            *(self.metric, self.human, self.level, coefficient),
            over=drawing.over,
            count=drawing.count,
            confidence=drawing.confidence,
            seed=drawing.seed,
        )


@dataclass(frozen=True, eq=False)
class Corpora:
    """A metric's corpus scores, from the statistics of the judged segments, against people."""

    scores: Mapping[str, Scores]
    statistics: Array
    human: Array

    @classmethod
    def of(cls, study: Study, label: str, grid: Grid) -> Corpora:
        """The statistics of one metric on the grid, zero where a system has no row."""
        scores = {system: study.board[system][label] for system in grid.systems}
        column = {name: i for i, name in enumerate(grid.segments)}
        width = next(iter(scores.values())).statistics.shape[1]
        statistics = np.zeros((*grid.human.shape, width))
        for i, system in enumerate(grid.systems):
            places = [column[name] for name in scores[system].ids]
            statistics[i, places] = scores[system].statistics
        return cls(scores, statistics, grid.human)

    def correlation(self, coefficient: str) -> Correlation:
        """The coefficient over systems."""
        once = np.ones((1, self.human.shape[1]))
        metric, people = self._values(once)
        return correlate_matrices(metric.T, people.T, "system", coefficient)

    def interval(self, coefficient: str, drawing: Drawing | None) -> Interval | None:
        """Its bootstrap interval, if one is to be drawn."""
        if drawing is None:
            return None
        check_count(drawing.count)
        systems, inputs = self.human.shape
        check_over(drawing.over, systems, inputs)
        rng = np.random.default_rng(drawing.seed)
        weights = np.ones((drawing.count, inputs))
        if drawing.over != "systems":
            weights = resample_weights(inputs, drawing.count, rng)
        metric, people = self._values(weights)
        if drawing.over != "inputs":
            drawn = rng.integers(systems, size=(drawing.count, systems))
            metric = np.take_along_axis(metric, drawn, axis=1)
            people = np.take_along_axis(people, drawn, axis=1)
        values = choose_coefficient(coefficient).rowwise(metric, people)
        value = self.correlation(coefficient).value
        return percentile_interval(value, values, drawing.confidence, drawing.over)

    def _values(self, weights: Array) -> tuple[Array, Array]:
        """Corpus scores and human means, resamples x systems; NaN for a system without a draw."""
        judged = np.isfinite(self.human)
        metric = np.full((len(weights), len(self.human)), np.nan)
        people = metric.copy()
        for i, system in enumerate(self.scores):
            counts = weights @ judged[i].astype(float)
            some = counts > 0
            totals = weights[some][:, judged[i]] @ self.statistics[i, judged[i]]
            chosen = self.scores[system]
            finished = chosen.metric.finish(totals, counts[some])[:, 0]
            metric[some, i] = chosen.scale.sign * finished
            sums = weights[some][:, judged[i]] @ self.human[i, judged[i]]
            people[some, i] = sums / counts[some]
        return metric, people
