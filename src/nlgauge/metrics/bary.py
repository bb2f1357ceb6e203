"""BaryScore: transport between the Wasserstein barycenters of two texts' layers.

    mu = argmin_X sum_l W2^2(mu_l, uniform on X),   BaryScore = W2^2(mu_C, mu_R)

where mu_l are the unit vectors of a text's tokens in layer l, weighted uniformly or by idf, and X
has as many points as the text has tokens. The iteration starts from the mean over layers and each
step is exact. The first component is W2 squared, as in the published code (it correlates better
with human judgements than W2), the second is W2. Lower is better, range [0, 4].

With uniform weights the barycenter is nearly always the mean over layers. ``epsilon`` above 0
uses the debiased Sinkhorn divergence instead of W2 squared. ``compat="nlg_eval"`` uses the last
five layers and scores texts of special tokens only. Two defects of the published code are not
reproduced: scores depend on the batch (its first step resolves ties arbitrarily), and idf has no
effect.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Cloud
from nlgauge.core.errors import LongTextWarning
from nlgauge.core.metric import distance
from nlgauge.core.options import option
from nlgauge.core.plan import Plan
from nlgauge.measure.barycenter import barycenter
from nlgauge.measure.cost import scale_in_place, squared_euclid, unit
from nlgauge.measure.problem import Problem, normalised
from nlgauge.measure.sinkhorn import sinkhorn_divergences
from nlgauge.metrics._cloud_metric import (
    Points,
    Published,
    batch_pairs,
    ngram_points,
    ngrams,
    several_layers,
)
from nlgauge.metrics._transport import TransportMetric
from nlgauge.runtime.progress import duration
from nlgauge.runtime.threads import map_in_threads

_MEASURED_TOKENS, _MEASURED_SECONDS = 2048, 6.0  # of a text with idf weights, on two cores
_LONG_SECONDS = 30.0


@dataclass(frozen=True)
class Bary(TransportMetric):
    """Transport between the Wasserstein barycenters of two texts' layers."""

    title = "BaryScore"
    paper = "Colombo et al. 2021, BaryScore (EMNLP), equations 2-3"
    matching = "barycenter"
    scale = distance(4.0)
    components = ("w2_squared", "w2", "similarity")
    published: ClassVar = {"nlg_eval": Published({"special": "keep", "void": "mass"}, "last5")}

    layers: int | str = several_layers()
    ngram: int = ngrams()
    epsilon: float = option(
        0.0, "Regularisation of the Sinkhorn divergence; 0 is exact.", low=0, high=1e6
    )
    compat: str | None = option(None, "Published code to reproduce.", choices=tuple(published))

    def points(self, cloud: Cloud) -> Points:
        """Return the barycenter of the text's layers; its points are tokens or n-grams."""
        grams = ngram_points(unit(cloud.points), cloud, self.ngram)
        if self.ngram > 1:
            scale_in_place(grams.vectors)
        if self.weights != "uniform":
            _warn_of_long_text(*grams.vectors.shape[:2])
        centre = barycenter(grams.vectors, grams.masses, map_layers=map_in_threads)
        return replace(grams, vectors=centre.points, masses=centre.weights)

    def cost_matrix(self, candidate: Points, reference: Points) -> Floats:
        """Return squared distances without normalisation."""
        return squared_euclid(candidate.vectors, reference.vectors, normalise=False)

    def row_of_cost(self, cost: float) -> tuple[float, ...]:
        """Return W2 squared, W2 and 1 / (1 + W2)."""
        return cost, sqrt(cost), 1 / (1 + sqrt(cost))

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        """Return the components of every pair."""
        if not self.epsilon:
            return super().compare(candidates, references)
        rows: list[tuple[float, ...]] = []
        for part in batch_pairs(candidates, references):
            triples = map(self._problems, *part)
            values = sinkhorn_divergences([*triples], epsilon=self.epsilon)
            rows += map(self.row_of_cost, values.tolist())
        return np.array(rows)

    def compare_plans(
        self, candidates: Sequence[Points], references: Sequence[Points]
    ) -> tuple[Floats, list[Plan]]:
        """Return components and plans; a plan is that of W2, also with regularisation."""
        rows, plans = super().compare_plans(candidates, references)
        return self.compare(candidates, references) if self.epsilon else rows, plans

    def _problems(self, x: Points, y: Points) -> tuple[Problem, Problem, Problem]:
        """Return the transport between two texts, and of each of them to itself."""
        a, b = (normalised(each.masses, len(each.masses)) for each in (x, y))
        own = Problem(self.cost_matrix(x, x), a, a), Problem(self.cost_matrix(y, y), b, b)
        return Problem(self.cost_matrix(x, y), a, b), *own


def _warn_of_long_text(layers: int, tokens: int) -> None:
    """Warn of a barycenter that takes long."""
    seconds = _MEASURED_SECONDS * (tokens / _MEASURED_TOKENS) ** 2
    if seconds > _LONG_SECONDS:
        gigabytes = (layers + 1) * tokens**2 * 8 / 1e9
        warnings.warn(
            f"bary: a text has {tokens:,} tokens; with weights=idf its barycenter takes about "
            f"{duration(seconds)} and {gigabytes:.1f} GB: score sentences, or use weights=uniform",
            LongTextWarning,
            stacklevel=3,
        )
