"""A metric's corpus scores, computed from the statistics of the judged segments, against people."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.scores import Scores
from nlgauge.stats import Correlation, Grid, Interval, correlate
from nlgauge.stats.intervals import percentile_interval, resample_weights
from nlgauge.stats.levels import correlation_of
from nlgauge.stats.validation import Over, check_over, resample
from nlgauge.study.study import Study, place


@dataclass(frozen=True, eq=False)
class CorpusScores:
    """One metric's statistics on the grid (NaN where a system has no row), and judgements."""

    scores: Mapping[str, Scores]
    statistics: Floats
    human: Floats

    @classmethod
    def of(cls, study: Study, label: str, grid: Grid) -> "CorpusScores":
        """Return the statistics of one metric of a study."""
        scores = {system: study.scores[system][label] for system in grid.systems}
        rows = [system_scores.statistics for system_scores in scores.values()]
        return cls(scores, place(rows, list(scores.values()), grid.segments), grid.human)

    @property
    def columns(self) -> tuple[Floats, Floats]:
        """Corpus scores and human means, systems x 1."""
        metric, people = self._values(np.ones((1, self.human.shape[1])))
        return metric.T, people.T

    def correlation(self, coefficient: str) -> Correlation:
        """Return the coefficient over systems."""
        return correlate(*self.columns, "system", coefficient)

    def interval(
        self, coefficient: str, *, over: Over, count: int, confidence: float, seed: int
    ) -> Interval:
        """Return the coefficient and its bootstrap interval."""
        systems, inputs = self.human.shape
        check_over(over, systems, inputs)
        correlation = correlation_of("system", coefficient)

        def draw(size: int, rng: np.random.Generator) -> Floats:
            fixed = over == "systems"
            weights = np.ones((size, inputs)) if fixed else resample_weights(inputs, size, rng)
            pair = self._values(weights)
            if over != "inputs":
                indices = rng.integers(systems, size=(size, systems))
                pair = tuple(np.take_along_axis(each, indices, axis=1) for each in pair)
            return correlation(*(each[:, :, None] for each in pair))

        values = resample(draw, count, seed, self.human.size)
        return percentile_interval(self.correlation(coefficient).value, values, confidence, over)

    def _values(self, weights: Floats) -> tuple[Floats, ...]:
        """Return corpus scores and human means, resamples x systems; NaN without a draw."""
        metric = np.full((len(weights), len(self.human)), np.nan)
        people = metric.copy()
        for i, scores in enumerate(self.scores.values()):
            judged = np.isfinite(self.human[i])
            counts = weights @ judged.astype(float)
            sampled = counts > 0
            draws = weights[sampled][:, judged]
            finished = scores.metric.finish(draws @ self.statistics[i, judged], counts[sampled])
            metric[sampled, i] = scores.scale.sign * finished[:, 0]
            people[sampled, i] = draws @ self.human[i, judged] / counts[sampled]
        return metric, people
