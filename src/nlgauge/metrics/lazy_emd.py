"""Lazy-EMD: the earth mover's distance with soft marginals (unbalanced transport).

    P* = argmin_P <C, P> + l_c KL(P 1 | a) + l_r KL(P^T 1 | b),   Lazy-EMD = <C, P*>

with C = 1 - cos, uniform masses and no special tokens. Penalties (inf, inf) give the earth mover's
distance, (inf, 0) gives 1 - P and (0, inf) gives 1 - R of BERTScore. The paper's penalties are
en (.23, .31), zh (.018, .97), other (.009, .95). Lower is better, range [0, min(2, l_c + l_r)].

The problem is solved exactly unless ``epsilon`` adds an entropy term (and epsilon to the sum in the
range), as the paper's code does (``compat="lazy_emd"``, which sets epsilon to .009).
<C, P*> is not monotone: two one-word texts at cost c get c exp(-c / (l_c + l_r)), which decreases
beyond c = l_c + l_r. ``headline="objective"`` returns the whole minimum instead, which is monotone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import Scale, distance
from nlgauge.core.options import option
from nlgauge.core.plan import Plan
from nlgauge.measure.cost import cosine
from nlgauge.measure.transport import Options, marginal_penalties
from nlgauge.metrics._cloud_metric import Points, Published, ngrams, one_layer
from nlgauge.metrics._transport import TransportMetric

_COMPAT_EPSILON = 0.009
_COMPAT_MAX_COST = 0.999  # the repository ignores flows at this cost or above
PRESETS = {"en": (0.23, 0.31), "zh": (0.018, 0.97), "other": (0.009, 0.95)}


def _penalty(side: str) -> Any:
    return option(None, f"Penalty of the {side}'s marginal.", low=0, server=inf)


@dataclass(frozen=True)
class LazyEmd(TransportMetric):
    """The cost of moving one text to the other with a penalty for mass that is not moved."""

    title = "Lazy-EMD"
    paper = "Chen et al. 2020, Lazy-EMD (IJCAI), definition 4"
    symmetric = False
    published: ClassVar = {"lazy_emd": Published({"special": "silent"})}
    replaced_options: ClassVar = ("epsilon",)
    language_options: ClassVar[Mapping[str, Mapping[str, str | bool]]] = {
        "other": {"lang": "other"},
        "zh": {"lang": "zh"},
    }

    layer: int | str = one_layer()
    ngram: int = ngrams()
    special: str = option("drop", "Special tokens of the model.", choices=("keep", "drop"))
    lang: str = option("en", "Preset penalties of the paper.", choices=tuple(PRESETS))
    penalty_candidate: float | None = _penalty("candidate")
    penalty_reference: float | None = _penalty("reference")
    epsilon: float = option(0.0, "Entropic regularisation; 0 is exact.", low=0, high=1e6)
    headline: str = option("cost", "First component.", choices=("cost", "objective"))
    compat: str | None = option(None, "Published code to reproduce.", choices=tuple(published))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.penalties == (0, 0):
            raise OptionError("with both penalties 0 no mass is moved; raise one of them")

    @property
    def penalties(self) -> tuple[float, float]:
        """The penalties of candidate and reference, from the options or the preset."""
        options = self.penalty_candidate, self.penalty_reference
        pairs = zip(options, PRESETS[self.lang], strict=True)
        candidate, reference = (preset if value is None else value for value, preset in pairs)
        return candidate, reference

    @property
    def regularised(self) -> bool:
        """Whether it is not solved exactly."""
        return bool(self.epsilon or self.compat)

    @property
    def scale(self) -> Scale:
        """A distance; its maximum is the cost of moving no mass."""
        return distance(min(2.0, sum(self.penalties) + self.epsilon))

    @property
    def components(self) -> tuple[str, ...]:  # type: ignore[override]
        """Cost and objective (the headline first), the mass moved, and a similarity."""
        first = ("cost", "objective") if self.headline == "cost" else ("objective", "cost")
        return (*first, "mass", "similarity")

    def cost_matrix(self, candidate: Points, reference: Points) -> Floats:
        """Return 1 - cos."""
        return cosine(candidate.vectors, reference.vectors, normalise=False)

    @property
    def solver_options(self) -> Options:
        """The penalties, and the regularisation of the options or of the published code."""
        options: Options = {"epsilon": self.epsilon}
        options["penalty_a"], options["penalty_b"] = self.penalties
        if self.compat:
            options |= {"epsilon": _COMPAT_EPSILON, "reference": "ones"}
        return options

    def solve(
        self, costs: Sequence[Floats], candidates: Sequence[Points], references: Sequence[Points]
    ) -> list[Plan]:
        """Return the unbalanced plans; the published code ignores costly flows."""
        plans = super().solve(costs, candidates, references)
        return list(map(_drop_costly_flows, plans)) if self.compat else plans

    def row(self, plan: Plan) -> tuple[float, ...]:
        """Return the components of a plan, the headline first."""
        values = {"cost": plan.value, "objective": plan.objective, "mass": plan.mass}
        values["similarity"] = 1 / (1 + values[self.headline])
        return tuple(values[name] for name in self.components)

    def token_costs(self, plan: Plan) -> Floats:
        """Return each token's share of the objective: cost of its flows and penalty of the rest."""
        penalties = marginal_penalties(plan.marginal_a, plan.a, self.penalties[0])
        moved = (plan.coupling * plan.cost).sum(axis=1)
        has_mass = plan.a > 0
        return np.where(has_mass, (moved + penalties) / np.where(has_mass, plan.a, 1.0), np.nan)

    @property
    def void_row(self) -> tuple[float, ...]:
        """The largest cost and objective, mass 0, and the corresponding similarity."""
        return self.scale.void, self.scale.void, 0.0, 1 / (1 + self.scale.void)


def _drop_costly_flows(plan: Plan) -> Plan:
    coupling = np.where(plan.cost < _COMPAT_MAX_COST, plan.coupling, 0.0)
    value = float((plan.cost * coupling).sum())
    return replace(plan, coupling=coupling, value=value, mass=float(coupling.sum()))
