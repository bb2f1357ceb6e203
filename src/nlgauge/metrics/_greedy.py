"""GreedyMetric: precision, recall and F of greedily matched token vectors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError
from nlgauge.core.options import option
from nlgauge.core.plan import Plan
from nlgauge.measure.cost import cosine
from nlgauge.measure.precision_recall import best_partners, expected_partners, f_measure
from nlgauge.measure.sinkhorn import MIN_EPSILON
from nlgauge.measure.transport import match
from nlgauge.metrics._cloud_metric import CloudMetric, Points, one_layer


@dataclass(frozen=True)
class GreedyMetric(CloudMetric):
    """A metric that matches every token with the most similar token of the other text.

    With a temperature above 0, a token is matched with all tokens of the other text, with weights
    that are a softmax of the similarities. Precision and recall are then expected similarities
    divided by the geometric mean of those of each text with itself, so that identical texts get 1.
    """

    components = ("f", "precision", "recall")

    layer: int | str = one_layer()
    alpha: float = option(0.5, "Weight of recall in F.", low=0, high=1)
    temperature: float = option(
        0.0,
        "Soft matching by a softmax of similarities / temperature; 0 uses the most similar token.",
        low=0,
        high=1e6,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0 < self.temperature < MIN_EPSILON:
            raise OptionError(
                f"option temperature={self.temperature}: must be 0 or at least {MIN_EPSILON:g}"
            )
        if self.temperature and getattr(self, "compat", None):
            raise OptionError(
                f"compat={getattr(self, 'compat', None)} matches the most similar token; leave out "
                f"temperature={self.temperature:g}"
            )

    def similarities(self, candidate: Points, reference: Points) -> Floats:
        """Return the cosine of every pair of tokens."""
        return np.asarray(candidate.vectors @ reference.vectors.T)

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        rows = []
        own: dict[int, float] = {}  # equal texts are the same object
        for left, right in zip(candidates, references, strict=True):
            similarities = self.similarities(left, right)
            if self.temperature:
                for each in (left, right):
                    if id(each) not in own:
                        own[id(each)] = self._expected(self.similarities(each, each), each, each)[0]
                scale = math.sqrt(max(own[id(left)] * own[id(right)], 0.0))
                found = self._expected(similarities, left, right)
                precision, recall = (min(each / scale, 1.0) if scale else 0.0 for each in found)
            else:
                precision, recall = best_partners(similarities, left.masses, right.masses)
            rows.append((f_measure(precision, recall, self.alpha), precision, recall))
        return np.array(rows)

    def _expected(self, similarities: Floats, left: Points, right: Points) -> tuple[float, float]:
        return expected_partners(similarities, left.masses, right.masses, self.temperature)

    def align(self, candidate: Points, reference: Points) -> Plan:
        """Return the mean of the matches of precision and the matches of recall."""
        cost = cosine(candidate.vectors, reference.vectors)
        masses, soft = (candidate.masses, reference.masses), self.temperature
        left = match(cost, *masses, penalty_b=0, epsilon=soft)
        right = match(cost, *masses, penalty_a=0, epsilon=soft)
        value = (left.value + right.value) / 2
        coupling = (left.coupling + right.coupling) / 2
        plan = replace(left, coupling=coupling, value=value, objective=value)
        return plan.named(candidate.tokens, reference.tokens)
