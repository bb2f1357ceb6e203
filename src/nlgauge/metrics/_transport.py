"""TransportMetric: the cost of an optimal transport plan between the points of two texts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.options import option
from nlgauge.core.plan import Plan
from nlgauge.core.requirements import Weighting
from nlgauge.measure.cost import euclid
from nlgauge.measure.transport import match_many
from nlgauge.metrics._cloud_metric import CloudMetric, Points, batch_pairs


@dataclass(frozen=True)
class TransportMetric(CloudMetric):
    """A metric made of points, a cost between them, a solver, and components of the plan."""

    components: ClassVar[tuple[str, ...]] = ("distance", "similarity")
    symmetric = True

    special: str = option("keep", "Special tokens of the model.", choices=("keep", "drop"))

    @property
    def weighting(self) -> Weighting:
        changes: dict[str, Any] = {"special": self.special, **self._published.weighting}
        return replace(super().weighting, **changes)

    def cost_matrix(self, candidate: Points, reference: Points) -> Floats:
        """Return the cost of moving a unit of mass from each candidate to each reference point."""
        return euclid(candidate.vectors, reference.vectors)

    def solve(
        self, costs: Sequence[Floats], left: Sequence[Floats], right: Sequence[Floats]
    ) -> list[Plan]:
        """Return the optimal plans for cost matrices and masses."""
        return match_many(costs, left, right)

    def row_of_cost(self, cost: float) -> tuple[float, ...]:
        """Return the components of a cost."""
        return cost, 1 / (1 + cost)

    def row(self, plan: Plan, candidate: Points, reference: Points) -> tuple[float, ...]:
        """Return the components of a pair and its plan."""
        return self.row_of_cost(plan.value)

    @property
    def void_row(self) -> tuple[float, ...]:
        return self.row_of_cost(self.scale.void)

    def plans(self, candidates: Sequence[Points], references: Sequence[Points]) -> list[Plan]:
        """Return the optimal plan of every pair."""
        costs = list(map(self.cost_matrix, candidates, references))
        return self.solve(costs, [c.masses for c in candidates], [r.masses for r in references])

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        rows: list[tuple[float, ...]] = []
        for part in batch_pairs(candidates, references):
            rows += map(self.row, self.plans(*part), *part)
        return np.array(rows)

    @property
    def scored_by_plan(self) -> bool:
        """Whether ``compare`` returns the components of the plan that ``align`` returns."""
        return True

    def compare_plans(
        self, candidates: Sequence[Points], references: Sequence[Points]
    ) -> tuple[Floats, list[Plan]]:
        """Return components and plans of prepared pairs; each pair is solved once."""
        triples = zip(self.plans(candidates, references), candidates, references, strict=True)
        plans = [
            plan.named(candidate.tokens, reference.tokens) for plan, candidate, reference in triples
        ]
        if self.scored_by_plan:
            return np.array(list(map(self.row, plans, candidates, references))), plans
        return self.compare(candidates, references), plans

    def align(self, candidate: Points, reference: Points) -> Plan:
        return self.compare_plans([candidate], [reference])[1][0]
