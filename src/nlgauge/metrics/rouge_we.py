"""ROUGE-WE: ROUGE-N in which n-grams count by the similarity of their word vectors.

    R = sum_j b_j max_i s_ij,  P = sum_i a_i max_j s_ij,  F = PR / (alpha P + (1 - alpha) R)

with s_ij = max(0, cos) of candidate n-gram i and reference n-gram j. An n-gram's vector is the
element-wise product of its words' unit vectors, its mass their summed mass, which is one share each
with uniform weights. Higher is better, range [0, 1]; identical texts get 1, a text of fewer than n
words 0. Words without a vector are left out, and n-grams are made of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from nlgauge.core.cloud import Cloud
from nlgauge.core.metric import Side, similarity
from nlgauge.core.options import option
from nlgauge.core.plan import Floats
from nlgauge.measure.cost import unit
from nlgauge.measure.precision_recall import best_partners, f_measure
from nlgauge.metrics._greedy import GreedyMetric
from nlgauge.metrics._points import Points


@dataclass(frozen=True)
class RougeWe(GreedyMetric):
    """F-score, precision and recall of n-grams that match as far as their vectors do."""

    paper: ClassVar[str] = (
        "Ng and Abrecht 2015, Better Summarization Evaluation with Word Embeddings"
    )
    scale = similarity()

    order: int = option(1, "Words in an n-gram.", low=1, high=4)

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Texts that change sides exchange precision and recall, so these must weigh alike."""
        return self.alpha == 0.5

    def prepare(self, item: Cloud, side: Side) -> Points | None:
        """The n-grams of a text; None if it has none."""
        words = super().prepare(item, side)
        if words is None or self.order == 1:
            return words
        if len(words.tokens) < self.order:
            return None
        vectors = sliding_window_view(words.vectors, self.order, axis=0).prod(axis=-1)
        masses = sliding_window_view(words.masses, self.order).sum(axis=-1)
        # A product may vanish where no coordinate is shared; it has no direction to compare.
        masses = masses * vectors.any(axis=1)
        if not masses.any():
            return None
        grams = zip(*(words.tokens[start:] for start in range(self.order)), strict=False)
        return Points(unit(vectors), masses / masses.sum(), tuple(map(" ".join, grams)))

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        """F, P and R of every pair."""
        rows = []
        for left, right in zip(candidates, references, strict=True):
            matches = np.clip(left.vectors @ right.vectors.T, 0, 1)
            precision, recall = best_partners(matches, left.masses, right.masses)
            rows.append((f_measure(precision, recall, self.alpha), precision, recall))
        return np.array(rows)
