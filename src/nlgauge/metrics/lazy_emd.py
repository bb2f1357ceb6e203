"""Lazy-EMD: the earth mover's distance that may leave mass behind, at a price on either side.

    P* = argmin_P <C, P> + l_c KL(P 1 | a) + l_r KL(P^T 1 | b),   Lazy-EMD = <C, P*>

with C = 1 - cos, uniform masses and no special tokens. Prices of (inf, inf) give the earth mover's
distance, (inf, 0) gives 1 - P and (0, inf) gives 1 - R of BERTScore. The presets are the paper's:
en (.23, .31), zh (.018, .97), other (.009, .95). Lower is better, range [0, min(2, l_c + l_r)].

The cost is solved exactly; the paper's code blurs it with an entropy (``compat="lazy_emd"``).
<C, P*> is not monotone: two one-word texts at cost c get c exp(-c / (l_c + l_r)), which falls
again beyond c = l_c + l_r. ``headline="objective"`` takes the whole minimum instead, which is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar, NamedTuple

import numpy as np

from nlgauge.core.cloud import Cloud
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import Scale, distance
from nlgauge.core.options import option
from nlgauge.core.plan import Floats, Plan
from nlgauge.core.requirements import Weighting
from nlgauge.measure.cost import cosine
from nlgauge.measure.transport import match_many
from nlgauge.metrics._points import Points
from nlgauge.metrics._transport import TransportMetric

_COMPAT_EPSILON = 0.009
_COMPAT_BLIND = 0.999  # the repository forgets what moved at this cost or above


class Prices(NamedTuple):
    """What mass that stays behind costs on the side of the candidate and of the reference."""

    candidate: float
    reference: float


PRESETS = {
    "en": Prices(0.23, 0.31),
    "zh": Prices(0.018, 0.97),
    "other": Prices(0.009, 0.95),
}


@dataclass(frozen=True)
class LazyEmd(TransportMetric):
    """The cost of moving one text onto the other when mass may stay behind at a price."""

    paper: ClassVar[str] = "Chen et al. 2020, Lazy-EMD (IJCAI), definition 4"
    matching: ClassVar[str] = "greedy"
    layer_option: ClassVar[str] = "layer"
    symmetric: ClassVar[bool] = False
    language_options: ClassVar[Mapping[str, Mapping[str, str | bool]]] = {
        "other": {"lang": "other"},
        "zh": {"lang": "zh"},
    }

    layer: int | str = option(
        "best", "Hidden layer; best is the model's best known one.", server="text"
    )
    special: str = option(
        "drop", "Whether the model's own tokens take part.", choices=("keep", "drop")
    )
    lang: str = option("en", "Preset prices of the paper.", choices=tuple(PRESETS))
    penalty_candidate: float | None = option(
        None, "Price on the candidate's side.", low=0, server=inf
    )
    penalty_reference: float | None = option(
        None, "Price on the reference's side.", low=0, server=inf
    )
    epsilon: float = option(0.0, "Entropy that blurs the plan; 0 is exact.", low=0)
    headline: str = option("cost", "The number that counts.", choices=("cost", "objective"))
    compat: str | None = option(
        None, "lazy_emd: entropic plan of the published code.", choices=("lazy_emd",)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prices == (0, 0):
            raise OptionError("with both prices 0 nothing is ever moved; raise one of them")

    @property
    def prices(self) -> Prices:
        """The prices asked for, or the preset's."""
        preset = PRESETS[self.lang]
        given = (self.penalty_candidate, self.penalty_reference)
        return Prices(*(p if g is None else g for g, p in zip(given, preset, strict=True)))

    @property
    def scale(self) -> Scale:
        """No plan costs more than leaving everything behind."""
        dearest = max(p for p in self.prices) if 0 in self.prices else sum(self.prices)
        return distance(min(2.0, dearest))

    @property
    def components(self) -> tuple[str, ...]:  # type: ignore[override]
        """The headline, the other of cost and objective, the mass moved, and a similarity."""
        first = ("cost", "objective") if self.headline == "cost" else ("objective", "cost")
        return (*first, "mass", "similarity")

    @property
    def weighting(self) -> Weighting:
        """Special tokens as asked for; the published code keeps them without mass."""
        return replace(super().weighting, special="silent") if self.compat else super().weighting

    def gather(self, cloud: Cloud) -> Points:
        """The unit vectors of the chosen layer."""
        return Points.of_layer(cloud)

    def price(self, candidate: Points, reference: Points) -> Floats:
        """1 - cos."""
        return cosine(candidate.vectors, reference.vectors, normalise=False)

    def plans(self, candidates: Sequence[Points], references: Sequence[Points]) -> list[Plan]:
        """The lazy plan of every pair."""
        plans = match_many(
            [self.price(c, r) for c, r in zip(candidates, references, strict=True)],
            [c.masses for c in candidates],
            [r.masses for r in references],
            penalty_a=self.prices.candidate,
            penalty_b=self.prices.reference,
            epsilon=_COMPAT_EPSILON if self.compat else self.epsilon,
            reference="ones" if self.compat else "product",
        )
        return [_forget(plan) for plan in plans] if self.compat else plans

    def row(self, plan: Plan) -> tuple[float, ...]:
        """Cost, objective, mass and 1 / (1 + headline), the headline first."""
        named = {"cost": plan.value, "objective": plan.objective, "mass": plan.mass}
        named["similarity"] = 1 / (1 + named[self.headline])
        return tuple(named[name] for name in self.components)

    @property
    def void_row(self) -> tuple[float, ...]:
        """The dearest cost and objective, no mass, and the similarity of that."""
        return self.scale.void, self.scale.void, 0.0, 1 / (1 + self.scale.void)


def _forget(plan: Plan) -> Plan:
    coupling = np.where(plan.cost < _COMPAT_BLIND, plan.coupling, 0.0)
    value = float((plan.cost * coupling).sum())
    return replace(plan, coupling=coupling, value=value, mass=float(coupling.sum()))
