"""What the transport metrics share: points with masses, a cost between them, a plan."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.cloud import Cloud
from nlgauge.core.metric import Scale, Side, distance
from nlgauge.core.options import option
from nlgauge.core.plan import Floats, Plan
from nlgauge.core.requirements import Weighting
from nlgauge.measure.cost import euclid
from nlgauge.measure.transport import match_many
from nlgauge.metrics._cloud_metric import CloudMetric
from nlgauge.metrics._points import Points


@dataclass(frozen=True)
class TransportMetric(CloudMetric):
    """A distance that is the cost of moving one text's points onto the other's.

    Unit vectors are at most 2 apart, which is the distance given to a text with nothing to move.
    """

    matching: ClassVar[str] = "transport"
    components: ClassVar[tuple[str, ...]] = ("distance", "similarity")
    symmetric: ClassVar[bool] = True

    special: str = option(
        "keep", "Whether the model's own tokens take part.", choices=("keep", "drop")
    )

    @property
    def scale(self) -> Scale:
        """Between unit vectors."""
        return distance(2.0)

    @property
    def weighting(self) -> Weighting:
        """Special tokens as asked for."""
        return replace(super().weighting, special="keep" if self.special == "keep" else "drop")

    @abstractmethod
    def gather(self, cloud: Cloud) -> Points:
        """The points of a text that has something to move."""

    def price(self, candidate: Points, reference: Points) -> Floats:
        """What it costs to move each point of the candidate onto each of the reference."""
        return euclid(candidate.vectors, reference.vectors)

    def plans(self, candidates: Sequence[Points], references: Sequence[Points]) -> list[Plan]:
        """The cheapest plan of every pair."""
        costs = [self.price(c, r) for c, r in zip(candidates, references, strict=True)]
        return match_many(costs, [c.masses for c in candidates], [r.masses for r in references])

    def row(self, plan: Plan) -> tuple[float, ...]:
        """The components that a plan gives: its cost, and 1 / (1 + cost)."""
        return plan.value, 1 / (1 + plan.value)

    @property
    def void_row(self) -> tuple[float, ...]:
        """The largest distance, and its similarity."""
        return self.scale.void, 1 / (1 + self.scale.void)

    def prepare(self, item: Cloud, side: Side) -> Any | None:
        """The points of a text; None if it has nothing to move."""
        return None if item.void else self.gather(item)

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        """The components of every pair."""
        return np.array([self.row(plan) for plan in self.plans(candidates, references)])

    @property
    def scored_by_plan(self) -> bool:
        """Whether the components follow from the plan that `align` shows."""
        return True

    def compare_plans(
        self, candidates: Sequence[Points], references: Sequence[Points]
    ) -> tuple[Floats, list[Plan]]:
        """Return components and plans of prepared pairs, from one solution of each."""
        plans = [
            plan.named(c.tokens, r.tokens)
            for plan, c, r in zip(
                self.plans(candidates, references), candidates, references, strict=True
            )
        ]
        if self.scored_by_plan:
            return np.array([self.row(plan) for plan in plans]), plans
        return self.compare(candidates, references), plans

    def align(self, candidate: Points, reference: Points) -> Plan:
        """Return the plan of one pair with its tokens."""
        (plan,) = self.plans([candidate], [reference])
        return plan.named(candidate.tokens, reference.tokens)
