"""Gauge: the mean similarity of optimally matched n-grams; the recommended metric of nlgauge.

    gauge = max(0, 1 - min_F sum_ij F_ij (1 - cos(x_i, y_j))),   F 1 = a,  F^T 1 = b

x_i and y_j are the n-grams (by default three tokens) of candidate and reference: means of token
vectors that join several layers of a model, special tokens included. Matching is one to one in
mass (exact optimal transport), so additions and omissions count as much as wrong words. Higher is
better, range [0, 1]; identical texts get 1, empty ones 0. It is symmetric.

``headline="recall"`` matches every n-gram of the reference with the most similar one of the
candidate, so that additions cost nothing: the share of the reference's content that the candidate
has, for judgements of content such as those of summaries. ``headline="precision"`` is the reverse.
They are the same problem with one marginal free, F 1 = a or F^T 1 = b.

It is MoverScore-3 with the cosine as the cost, as a similarity. Definition, layers and n were
chosen by agreement with human scores on WMT15 (cs, de, fi, ru to English). Layers and n are presets
of the model; unknown models join the layers at a half, two thirds and the whole of their depth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from nlgauge.core.arrays import Floats
from nlgauge.core.metric import similarity
from nlgauge.core.options import option
from nlgauge.core.plan import Plan
from nlgauge.measure.cost import cosine
from nlgauge.measure.transport import match_many
from nlgauge.metrics._cloud_metric import Points, several_layers
from nlgauge.metrics._transport import TransportMetric

# Penalties of mass of candidate and reference that is not matched.
_PENALTIES = {"score": (inf, inf), "precision": (inf, 0.0), "recall": (0.0, inf)}


@dataclass(frozen=True)
class Gauge(TransportMetric):
    """The mean similarity of optimally matched n-grams of contextual vectors."""

    title = "Gauge"
    paper = "Zhao et al. 2019, MoverScore (EMNLP), equations 1-2, as a similarity"
    matching = "transport"
    scale = similarity()
    preset_options: ClassVar = ("layers", "ngram")

    layers: int | str = several_layers()
    ngram: int | None = option(
        None, "Tokens of an n-gram; none takes the model's preset.", low=1, server=1000
    )
    headline: str = option(
        "score",
        "What is matched: both texts (score), the candidate (precision) or the reference (recall).",
        choices=tuple(_PENALTIES),
    )

    @property
    def components(self) -> tuple[str, ...]:  # type: ignore[override]
        """The headline and the distance."""
        return self.headline, "distance"

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether both texts are matched."""
        return self.headline == "score"

    def cost_matrix(self, candidate: Points, reference: Points) -> Floats:
        """Return 1 - cos."""
        return cosine(candidate.vectors, reference.vectors, normalise=False)

    def solve(
        self, costs: Sequence[Floats], left: Sequence[Floats], right: Sequence[Floats]
    ) -> list[Plan]:
        """Return the plans that match all mass of one text or of both."""
        of_candidate, of_reference = _PENALTIES[self.headline]
        return match_many(costs, left, right, penalty_a=of_candidate, penalty_b=of_reference)

    def row_of_cost(self, cost: float) -> tuple[float, ...]:
        """Return the similarity and the distance; negative similarities count as no match."""
        return max(0.0, 1 - cost), cost

    @property
    def void_row(self) -> tuple[float, ...]:
        """The least similarity, and the distance of vectors without common directions."""
        return 0.0, 1.0
