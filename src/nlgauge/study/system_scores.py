"""Scores of systems that are not means of their judged segments, against people."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.stats import Grid, Interval, correlate
from nlgauge.stats.coefficients import divide
from nlgauge.stats.intervals import percentile_interval, resample_weights
from nlgauge.stats.levels import correlation_of
from nlgauge.stats.validation import Over, check_over, resample
from nlgauge.study.study import Study, place


@dataclass(frozen=True, eq=False)
class ScoredSystems:
    """A score and a judgement of every system, for any weights of the inputs."""

    shape: tuple[int, int]
    """Numbers of systems and of inputs."""
    weigh: Callable[[Floats], tuple[Floats, Floats]]
    """Takes weights, resamples x inputs; returns scores and human means, resamples x systems."""

    @cached_property
    def columns(self) -> tuple[Floats, Floats]:
        """Scores and human means, systems x 1."""
        metric, people = self.weigh(np.ones((1, self.shape[1])))
        return metric.T, people.T

    def interval(
        self, coefficient: str, *, over: Over, count: int, confidence: float, seed: int
    ) -> Interval:
        """Return the coefficient over systems and its bootstrap interval."""
        systems, inputs = self.shape
        check_over(over, systems, inputs)
        correlation = correlation_of("system", coefficient)

        def draw(size: int, rng: np.random.Generator) -> Floats:
            fixed = over == "systems"
            weights = np.ones((size, inputs)) if fixed else resample_weights(inputs, size, rng)
            pair: tuple[Floats, ...] = self.weigh(weights)
            if over != "inputs":
                indices = rng.integers(systems, size=(size, systems))
                pair = tuple(np.take_along_axis(each, indices, axis=1) for each in pair)
            return correlation(*(each[:, :, None] for each in pair))

        value = correlate(*self.columns, "system", coefficient).value
        values = resample(draw, count, seed, systems * inputs)
        return percentile_interval(value, values, confidence, over)


def corpus_scores(study: Study, label: str, grid: Grid) -> ScoredSystems:
    """Return a metric's corpus scores, computed from the statistics of the judged segments."""
    scores = [study.scores[system][label] for system in grid.systems]
    statistics = place([each.statistics for each in scores], scores, grid.segments)

    def weigh(weights: Floats) -> tuple[Floats, Floats]:
        metric = np.full((len(weights), len(scores)), np.nan)
        people = metric.copy()
        for i, each in enumerate(scores):
            judged = np.isfinite(grid.human[i])
            counts = weights @ judged.astype(float)
            sampled = counts > 0
            draws = weights[sampled][:, judged]
            finished = each.metric.finish(draws @ statistics[i, judged], counts[sampled])
            metric[sampled, i] = each.scale.sign * finished[:, 0]
            people[sampled, i] = draws @ grid.human[i, judged] / counts[sampled]
        return metric, people

    return ScoredSystems((len(scores), grid.human.shape[1]), weigh)


def means_of_all(metric: Floats, human: Floats) -> ScoredSystems:
    """Return the means of all scored cells, judged or not, and those of all judged cells."""

    def mean(values: Floats, weights: Floats) -> Floats:
        present = np.isfinite(values)
        return divide(weights @ np.where(present, values, 0.0).T, weights @ present.T.astype(float))

    def weigh(weights: Floats) -> tuple[Floats, Floats]:
        return mean(metric, weights), mean(human, weights)

    return ScoredSystems((len(human), human.shape[1]), weigh)
