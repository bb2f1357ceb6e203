"""Gauge: matched trigrams and the recall of tokens; the recommended metric of nlgauge.

    gauge      = (1 - w) similarity + w recall
    similarity = max(0, 1 - min_F sum_ij F_ij (1 - cos(x_i, y_j))),   F 1 = a,  F^T 1 = b
    recall     = max(0, sum_j b_j max_i cos(u_i, v_j))

x_i and y_j are the n-grams (by default three tokens) of candidate and reference: means of token
vectors u_i and v_j that join several layers of a model, special tokens included. N-grams are
matched one to one in mass (exact optimal transport), so additions and omissions count as much as
wrong words; it is MoverScore-3 with the cosine as the cost, as a similarity. Recall is that of
BERTScore: additions cost nothing. Higher is better, range [0, 1]; identical texts get 1, empty
ones 0. Alignments and error spans are those of the matched n-grams.

``recall_weight`` is w. With 0 the metric is symmetric; 1 is recall alone, the share of the
reference's content that the candidate has, for judgements of content such as those of summaries.

Definition, layers and n were chosen by agreement with human scores on WMT15 (cs, de, fi, ru to
English), where w = 0 is the best. The default w is a compromise: WMT15 loses .005, and summaries
(REALSumm), which people judged by content, gain much more. Layers and n are presets of the model;
unknown models join the layers at a half, two thirds and the whole of their depth.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Cloud
from nlgauge.core.metric import similarity
from nlgauge.core.options import option
from nlgauge.core.plan import Plan
from nlgauge.measure.cost import cosine_cost, nearest_cosine_cost
from nlgauge.measure.layers import join, ngram_totals, unit_ngrams
from nlgauge.metrics._cloud_metric import Points, several_layers
from nlgauge.metrics._transport import TransportMetric


@dataclass(frozen=True)
class Gauge(TransportMetric):
    """The mean similarity of optimally matched n-grams of contextual vectors, with recall."""

    title = "Gauge"
    paper = "Zhao et al. 2019, MoverScore (EMNLP), equations 1-2, as a similarity"
    matching = "transport"
    scale = similarity()
    components: ClassVar = ("score", "similarity", "recall")
    preset_options: ClassVar = ("layers", "ngram")

    layers: int | str = several_layers()
    ngram: int | None = option(
        None, "Tokens of an n-gram; none takes the model's preset.", low=1, server=1000
    )
    recall_weight: float = option(
        0.25, "Weight of recall; 0 only matches n-grams, 1 is recall alone.", low=0, high=1
    )

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether recall has no weight."""
        return self.recall_weight == 0

    def points(self, cloud: Cloud) -> Points:
        """Return unit vectors of tokens, and n-grams as mixtures of them."""
        vectors, weights, tokens = join(cloud.points), cloud.weights, cloud.tokens
        totals = ngram_totals(weights, self.ngram or 1)
        return Points(
            vectors,
            totals / (totals.sum() or 1.0),
            tokens.strings,
            tokens.offsets,
            span=min(self.ngram or 1, len(cloud)),
            weights=weights,
            mixtures=unit_ngrams(vectors, weights, totals),
        )

    def cost_matrix(self, candidate: Points, reference: Points) -> Floats:
        """Return 1 - cos of n-grams, from the products of tokens, which are fewer than vectors."""
        cosines = np.empty((len(candidate.masses), len(reference.masses)))
        for rows, tokens, shares in candidate.mixtures:
            products = shares @ (candidate.vectors[tokens] @ reference.vectors.T)
            for columns, others, other_shares in reference.mixtures:
                cosines[rows, columns] = products[:, others] @ other_shares.T
        return cosine_cost(cosines)

    def row(self, plan: Plan, candidate: Points, reference: Points) -> tuple[float, ...]:
        """Return the score and its two parts; negative similarities count as no match."""
        nearest = nearest_cosine_cost(candidate.vectors, reference.vectors)
        matched = max(0.0, 1 - plan.value)
        recall = max(0.0, 1 - float(reference.weights @ nearest))
        return matched + self.recall_weight * (recall - matched), matched, recall

    @property
    def void_row(self) -> tuple[float, ...]:
        """The least value of every component."""
        return 0.0, 0.0, 0.0
