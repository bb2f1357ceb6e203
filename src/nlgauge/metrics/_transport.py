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
from nlgauge.measure.transport import Options, match_many
from nlgauge.metrics._cloud_metric import CloudMetric, Points, batch_pairs

Match = tuple[Plan, tuple[float, ...]]  # an optimal plan and the components of a pair


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

    @property
    def solver_options(self) -> Options:
        """The options of the solver: by default all mass is moved, exactly."""
        return {}

    def solve(
        self, costs: Sequence[Floats], candidates: Sequence[Points], references: Sequence[Points]
    ) -> list[Plan]:
        """Return the optimal plans of pairs with these cost matrices."""
        masses = [x.masses for x in candidates], [y.masses for y in references]
        return match_many(costs, *masses, **self.solver_options)

    def row_of_cost(self, cost: float) -> tuple[float, ...]:
        """Return the components of a cost."""
        return cost, 1 / (1 + cost)

    def row(self, plan: Plan) -> tuple[float, ...]:
        """Return the components of a plan."""
        return self.row_of_cost(plan.value)

    @property
    def void_row(self) -> tuple[float, ...]:
        return self.row_of_cost(self.scale.void)

    def match(self, candidates: Sequence[Points], references: Sequence[Points]) -> list[Match]:
        """Return the optimal plan and the components of every pair."""
        costs = list(map(self.cost_matrix, candidates, references))
        return [(plan, self.row(plan)) for plan in self.solve(costs, candidates, references)]

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        parts = batch_pairs(candidates, references)
        return np.array([row for part in parts for _, row in self.match(*part)])

    def compare_plans(
        self, candidates: Sequence[Points], references: Sequence[Points]
    ) -> tuple[Floats, list[Plan]]:
        """Return components and plans of prepared pairs; each pair is solved once."""
        plans, rows = zip(*self.match(candidates, references), strict=True)
        triples = zip(plans, candidates, references, strict=True)
        named = [plan.named(x.tokens, y.tokens) for plan, x, y in triples]
        return np.array(rows), named

    def align(self, candidate: Points, reference: Points) -> Plan:
        return self.compare_plans([candidate], [reference])[1][0]
