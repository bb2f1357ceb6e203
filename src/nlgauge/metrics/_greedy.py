"""What the metrics of greedy matching share: P, R and F of one layer's token vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from nlgauge.core.cloud import Cloud, Floats
from nlgauge.core.metric import Side
from nlgauge.core.options import option
from nlgauge.core.plan import Plan
from nlgauge.measure.cost import cosine
from nlgauge.measure.precision_recall import best_partners, f_measure
from nlgauge.measure.transport import match
from nlgauge.metrics._cloud_metric import CloudMetric
from nlgauge.metrics._points import Points


@dataclass(frozen=True)
class GreedyMetric(CloudMetric):
    """Every token takes its most similar partner on the other side."""

    components: ClassVar[tuple[str, ...]] = ("f", "precision", "recall")
    layer_option: ClassVar[str] = "layer"

    layer: int | str = option(
        "best", "Hidden layer; best is the model's best known one.", server="text"
    )
    alpha: float = option(0.5, "Weight of recall in F.", low=0, high=1)

    def prepare(self, item: Cloud, side: Side) -> Points | None:
        """Unit vectors and masses of the tokens."""
        return None if item.void else Points.of_layer(item)

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        """F, P and R of every pair."""
        rows = []
        for left, right in zip(candidates, references, strict=True):
            cosines = left.vectors @ right.vectors.T
            precision, recall = best_partners(cosines, left.masses, right.masses)
            rows.append((f_measure(precision, recall, self.alpha), precision, recall))
        return np.array(rows)

    def align(self, candidate: Points, reference: Points) -> Plan:
        """Half the mass as the candidate's tokens choose, half as the reference's do."""
        cost = cosine(candidate.vectors, reference.vectors)
        ours = match(cost, candidate.masses, reference.masses, penalty_b=0)
        theirs = match(cost, candidate.masses, reference.masses, penalty_a=0)
        value = (ours.value + theirs.value) / 2
        both = replace(
            ours, coupling=(ours.coupling + theirs.coupling) / 2, value=value, objective=value
        )
        return both.named(candidate.tokens, reference.tokens)
