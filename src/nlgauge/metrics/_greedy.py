"""GreedyMetric: precision, recall and F of greedily matched token vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.options import option
from nlgauge.core.plan import Plan
from nlgauge.measure.cost import cosine
from nlgauge.measure.precision_recall import best_partners, f_measure
from nlgauge.measure.transport import match
from nlgauge.metrics._cloud_metric import CloudMetric, Points, one_layer


@dataclass(frozen=True)
class GreedyMetric(CloudMetric):
    """A metric that matches every token with the most similar one of the other text."""

    components = ("f", "precision", "recall")

    layer: int | str = one_layer()
    alpha: float = option(0.5, "Weight of recall in F.", low=0, high=1)

    def similarities(self, candidate: Points, reference: Points) -> Floats:
        """Return the cosine of every pair of tokens."""
        return np.asarray(candidate.vectors @ reference.vectors.T)

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        rows = []
        for left, right in zip(candidates, references, strict=True):
            similarities = self.similarities(left, right)
            precision, recall = best_partners(similarities, left.masses, right.masses)
            rows.append((f_measure(precision, recall, self.alpha), precision, recall))
        return np.array(rows)

    def align(self, candidate: Points, reference: Points) -> Plan:
        """Return the mean of the matches that give P and the matches that give R."""
        cost = cosine(candidate.vectors, reference.vectors)
        left = match(cost, candidate.masses, reference.masses, penalty_b=0)
        right = match(cost, candidate.masses, reference.masses, penalty_a=0)
        value = (left.value + right.value) / 2
        coupling = (left.coupling + right.coupling) / 2
        plan = replace(left, coupling=coupling, value=value, objective=value)
        return plan.named(candidate.tokens, reference.tokens)
