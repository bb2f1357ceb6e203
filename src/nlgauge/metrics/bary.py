"""BaryScore: transport between the Wasserstein barycenters of two texts' layers.

    mu = argmin_X sum_l W2^2(mu_l, uniform on X),   BaryScore = W2^2(mu_C, mu_R)

where mu_l holds the unit vectors of a text's tokens in layer l, weighted uniformly or by idf, and X
has as many points as the text has tokens. The iteration starts from the mean over layers and is
exact in every step. The headline is W2 squared, as in the published code and ahead of W2 in
agreement with people; W2 stands beside it. Lower is better, range [0, 4].

With uniform weights the barycenter nearly always is the mean over layers. ``epsilon`` above 0
takes the debiased Sinkhorn divergence instead of W2 squared. ``compat="nlg_eval"`` takes the last
five layers and scores texts of special tokens alone; the published code's dependence on the batch
(its start at the origin leaves the first step to chance) and its idf that never acts are not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar, Self

import numpy as np

from nlgauge.core.cloud import Cloud
from nlgauge.core.metric import Scale, distance
from nlgauge.core.options import option
from nlgauge.core.plan import Floats, Plan
from nlgauge.core.requirements import ModelCard, Weighting
from nlgauge.measure.barycenter import barycenter
from nlgauge.measure.cost import squared_euclid, unit
from nlgauge.measure.sinkhorn import sinkhorn_divergence
from nlgauge.metrics._points import Points
from nlgauge.metrics._transport import TransportMetric


@dataclass(frozen=True)
class Bary(TransportMetric):
    """Transport between the Wasserstein barycenters of two texts' layers."""

    paper: ClassVar[str] = "Colombo et al. 2021, BaryScore (EMNLP), equations 2-3"
    matching: ClassVar[str] = "barycenter"
    components: ClassVar[tuple[str, ...]] = ("w2_squared", "w2", "similarity")

    layers: int | str = option(
        "best", "Hidden layers: best, all, last5, 4, 3+4+6 or 2-6.", server="text"
    )
    epsilon: float = option(0.0, "Blur of a Sinkhorn divergence; 0 is exact.", low=0)
    compat: str | None = option(
        None, "nlg_eval: the last five layers, special tokens count.", choices=("nlg_eval",)
    )

    @property
    def scale(self) -> Scale:
        """Squared distances within the unit ball."""
        return distance(4.0)

    @property
    def weighting(self) -> Weighting:
        """Special tokens as asked for; the published code scores them alone, too."""
        asked = super().weighting
        return replace(asked, special="keep", void="mass") if self.compat else asked

    def bind(self, card: ModelCard) -> Self:
        """The layers of the model, or the last five of the published code."""
        if self.compat and self.layers == "best":
            return replace(self, layers="last5").bind(card)
        return super().bind(card)

    def gather(self, cloud: Cloud) -> Points:
        """The barycenter of the text's layers."""
        centre = barycenter(unit(cloud.points), cloud.weights)
        return Points(centre.points, centre.weights, cloud.tokens.strings)

    def price(self, candidate: Points, reference: Points) -> Floats:
        """Squared distances; barycenters keep the lengths they have."""
        return squared_euclid(candidate.vectors, reference.vectors, normalise=False)

    def row(self, plan: Plan) -> tuple[float, ...]:
        """W2 squared, W2 and 1 / (1 + W2)."""
        return _row(plan.value)

    @property
    def scored_by_plan(self) -> bool:
        """Whether the score is the cost of the plan, not a Sinkhorn divergence."""
        return not self.epsilon

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        """The components of every pair, blurred where asked for."""
        if not self.epsilon:
            return super().compare(candidates, references)
        return np.array(
            [_row(self._divergence(c, r)) for c, r in zip(candidates, references, strict=True)]
        )

    def _divergence(self, candidate: Points, reference: Points) -> float:
        return sinkhorn_divergence(
            self.price(candidate, reference),
            self.price(candidate, candidate),
            self.price(reference, reference),
            candidate.masses,
            reference.masses,
            epsilon=self.epsilon,
        )

    @property
    def void_row(self) -> tuple[float, ...]:
        """The largest distance, and its similarity."""
        return _row(self.scale.void)


def _row(squared: float) -> tuple[float, float, float]:
    return squared, sqrt(squared), 1 / (1 + sqrt(squared))
