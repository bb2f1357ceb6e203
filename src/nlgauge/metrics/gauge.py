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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Cloud
from nlgauge.core.metric import similarity
from nlgauge.core.options import option
from nlgauge.measure.cost import cosine_cost
from nlgauge.measure.layers import Shares, join, ngram_totals, unit_ngrams
from nlgauge.metrics._cloud_metric import Points, several_layers
from nlgauge.metrics._transport import Match, TransportMetric


@dataclass(frozen=True, eq=False, kw_only=True)
class _Ngrams(Points):
    """N-grams as mixtures of ``vectors``, which are those of single tokens."""

    weights: Floats  # of the tokens
    mixtures: Sequence[Shares]


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

    def points(self, cloud: Cloud) -> _Ngrams:
        """Return unit vectors of tokens, and n-grams as mixtures of them."""
        vectors, weights, tokens = join(cloud.points), cloud.weights, cloud.tokens
        totals = ngram_totals(weights, self._ngram)
        return _Ngrams(
            vectors,
            totals / (totals.sum() or 1.0),
            tokens.strings,
            tokens.offsets,
            span=min(self._ngram, len(cloud)),
            weights=weights,
            mixtures=unit_ngrams(vectors, weights, totals),
        )

    def match(self, candidates: Sequence[Any], references: Sequence[Any]) -> list[Match]:
        """Return plan, score and its parts of every pair; negative similarities are no match."""
        costs, recalls = zip(*map(_compare_tokens, candidates, references), strict=True)
        matches: list[Match] = []
        for plan, recall in zip(self.solve(costs, candidates, references), recalls, strict=True):
            matched = max(0.0, 1 - plan.value)
            score = matched + self.recall_weight * (recall - matched)
            matches.append((plan, (score, matched, recall)))
        return matches

    @property
    def void_row(self) -> tuple[float, ...]:
        """The least value of every component."""
        return 0.0, 0.0, 0.0


def _compare_tokens(candidate: _Ngrams, reference: _Ngrams) -> tuple[Floats, float]:
    """Return 1 - cos of n-grams, and the recall of tokens, whose products give both."""
    cosines = np.empty((len(candidate.masses), len(reference.masses)))
    nearest = np.full(len(reference.vectors), -1.0)
    for rows, tokens, shares in candidate.mixtures:
        products = candidate.vectors[tokens] @ reference.vectors.T
        np.maximum(nearest, products.max(axis=0), out=nearest)
        mixed = shares @ products
        for columns, others, other_shares in reference.mixtures:
            cosines[rows, columns] = mixed[:, others] @ other_shares.T
    recall = 1 - float(reference.weights @ cosine_cost(nearest))
    return cosine_cost(cosines), max(0.0, recall)
