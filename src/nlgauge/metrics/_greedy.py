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
        norms: dict[int, float] = {}  # equal texts are the same object
        for candidate, reference in zip(candidates, references, strict=True):
            similarities = self.similarities(candidate, reference)
            if self.temperature:
                for text in (candidate, reference):
                    if id(text) not in norms:
                        products = self.similarities(text, text)
                        norms[id(text)] = self._expected(products, text, text)[0]
                scale = math.sqrt(max(norms[id(candidate)] * norms[id(reference)], 0.0))
                expected = self._expected(similarities, candidate, reference)
                precision, recall = (min(each / scale, 1.0) if scale else 0.0 for each in expected)
            else:
                precision, recall = best_partners(similarities, candidate.masses, reference.masses)
            rows.append((f_measure(precision, recall, self.alpha), precision, recall))
        return np.array(rows)

    def _expected(
        self, similarities: Floats, candidate: Points, reference: Points
    ) -> tuple[float, float]:
        return expected_partners(similarities, candidate.masses, reference.masses, self.temperature)

    def align(self, candidate: Points, reference: Points) -> Plan:
        """Return the mean of the matches of precision and the matches of recall."""
        cost = cosine(candidate.vectors, reference.vectors)
        masses, soft = (candidate.masses, reference.masses), self.temperature
        precision = match(cost, *masses, penalty_b=0, epsilon=soft)
        recall = match(cost, *masses, penalty_a=0, epsilon=soft)
        value = (precision.value + recall.value) / 2
        coupling = (precision.coupling + recall.coupling) / 2
        plan = replace(precision, coupling=coupling, value=value, objective=value)
        return plan.named(candidate.tokens, reference.tokens)
