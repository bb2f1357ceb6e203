"""ROUGE-WE: ROUGE-N with soft matches by similarities of word vectors.

    R = sum_j b_j max_i s_ij,  P = sum_i a_i max_j s_ij,  F = PR / (alpha P + (1 - alpha) R)

with s_ij = max(0, cos) of candidate n-gram i and reference n-gram j. The vector of an n-gram is the
element-wise product of its words' unit vectors, its mass the sum of their masses. Higher is better,
range [0, 1]; identical texts get 1, a text of fewer than n words 0.

With single words (``order=1``, the default) and the vectors of an encoder, this is BERTScore with
negative cosines set to 0: the scores are equal if every token has a match with a positive cosine.
The paper uses static word vectors (``model=glove``, or a file of vectors), also with ``order=2``.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Cloud
from nlgauge.core.metric import Aliases, Side, similarity
from nlgauge.core.options import option
from nlgauge.measure.cost import unit
from nlgauge.metrics._cloud_metric import Points
from nlgauge.metrics._greedy import GreedyMetric


@dataclass(frozen=True)
class RougeWe(GreedyMetric):
    """F-score, precision and recall of n-grams matched by their vectors."""

    paper = "Ng and Abrecht 2015, Better Summarization Evaluation with Word Embeddings"
    aliases: ClassVar[Aliases] = {f"rougewe{order}": {"order": order} for order in "1234"}
    scale = similarity()

    order: int = option(1, "Words of an n-gram.", low=1, high=4)

    @property
    def title(self) -> str:
        """ROUGE-WE-1 for words, ROUGE-WE-2 for pairs of them."""
        return f"ROUGE-WE-{self.order}"

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether precision and recall have equal weights."""
        return self.alpha == 0.5

    def prepare(self, item: Cloud, side: Side) -> Points | None:
        """Return the n-grams of a text, or None if it has none."""
        words: Points | None = super().prepare(item, side)
        if words is None or self.order == 1:
            return words
        if len(words.tokens) < self.order:
            return None
        vectors = sliding_window_view(words.vectors, self.order, axis=0).prod(axis=-1)
        masses = sliding_window_view(words.masses, self.order).sum(axis=-1)
        # A product of vectors without common nonzero coordinates is 0 and cannot be normalised.
        masses = masses * vectors.any(axis=1)
        if not masses.any():
            return None
        masses = masses / masses.sum()
        return replace(words, vectors=unit(vectors), masses=masses, span=self.order)

    def similarities(self, candidate: Points, reference: Points) -> Floats:
        """Return the nonnegative cosine of every pair of n-grams."""
        return np.clip(super().similarities(candidate, reference), 0, 1)
