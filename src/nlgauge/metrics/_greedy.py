"""GreedyMetric: precision, recall and F of greedily matched token vectors."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError
from nlgauge.core.options import option
from nlgauge.core.plan import Plan
from nlgauge.measure.cost import SNAP, cosine_cost
from nlgauge.measure.precision_recall import best_partners, expected_similarities, f_measure
from nlgauge.measure.problem import Problem
from nlgauge.measure.sinkhorn import MIN_EPSILON
from nlgauge.measure.transport import match
from nlgauge.metrics._cloud_metric import CloudMetric, Points, batch_pairs, one_layer

_Matches = Iterator[tuple[float, float]]  # precision and recall


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
        if self.temperature and self._compat:
            raise OptionError(
                f"compat={self._compat} matches the most similar token; leave out "
                f"temperature={self.temperature:g}"
            )

    def similarities(self, candidate: Points, reference: Points) -> Floats:
        """Return the cosine of every pair of tokens."""
        return np.asarray(candidate.vectors @ reference.vectors.T)

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        matches = self._soft_matches if self.temperature else self._best_matches
        found = matches(candidates, references)
        return np.array([(f_measure(p, r, self.alpha), p, r) for p, r in found])

    def _best_matches(self, candidates: Sequence[Points], references: Sequence[Points]) -> _Matches:
        for pair in zip(candidates, references, strict=True):
            yield best_partners(self.similarities(*pair), *(side.masses for side in pair))

    def _soft_matches(self, candidates: Sequence[Points], references: Sequence[Points]) -> _Matches:
        norms: dict[int, float] = {}  # equal texts are the same object
        for part in batch_pairs(candidates, references):
            pairs = [*zip(*part, strict=True)]
            texts = {id(text): text for pair in pairs for text in pair if id(text) not in norms}
            problems = self._problems(pairs, texts.values())
            found = iter(expected_similarities(problems, self.temperature))
            between = [(next(found), next(found)) for _ in pairs]
            norms |= zip(texts, found, strict=True)
            for (left, right), both in zip(pairs, between, strict=True):
                scale = math.sqrt(max(norms[id(left)] * norms[id(right)], 0.0))
                shares = (each / scale if scale else 0.0 for each in both)
                precision, recall = (1.0 if share > 1 - SNAP else share for share in shares)
                yield precision, recall

    def _problems(
        self, pairs: Iterable[tuple[Points, Points]], texts: Iterable[Points]
    ) -> Iterator[Problem]:
        """Yield the problems of precision and recall of pairs, then of texts with themselves."""
        for left, right in pairs:
            found = self._problem(left, right)
            yield found
            yield found.transposed()
        for text in texts:
            yield self._problem(text, text)

    def _problem(self, left: Points, right: Points) -> Problem:
        """Return the similarities and masses of the tokens that have mass."""
        return Problem(self.similarities(left, right), left.masses, right.masses).without_zeros()

    def align(self, candidate: Points, reference: Points) -> Plan:
        """Return the mean of the matches of precision and the matches of recall."""
        cost = cosine_cost(self.similarities(candidate, reference))
        a, b, soft = candidate.masses, reference.masses, self.temperature
        # A token without mass can be the nearest, but is never drawn as a partner.
        left, right = (a, b) if soft else (np.ones(len(a)), np.ones(len(b)))
        precision = match(cost, a, right, penalty_b=0, epsilon=soft)
        recall = match(cost, left, b, penalty_a=0, epsilon=soft)
        value = (precision.value + recall.value) / 2
        coupling = (precision.coupling + recall.coupling) / 2
        plan = replace(precision, coupling=coupling, b=recall.b, value=value, objective=value)
        return plan.named(candidate.tokens, reference.tokens)
