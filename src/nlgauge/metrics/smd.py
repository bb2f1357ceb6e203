"""SMD: the sentence mover's distance of MoverScore, in which a text is a single point.

    SMD = ||u(x) - u(y)||,  x = sum_i a_i x_i,  y = sum_j b_j y_j,  u(v) = v / ||v||

with token vectors x_i, y_j that join several layers and uniform or idf masses a, b. The paper's
E is the sum of the token vectors, which grows with the length of the text; at unit length sum and
mean are the same. Lower is better, range [0, 2]; the similarity beside it is 1 / (1 + SMD).

``compat="mover-web"`` is the code of MoverScore's web service: power means of the last five layers,
all tokens alike, special ones too, and minus the sum of absolute differences as the score. Higher
is better there, up to 0. How low it can get depends on the model's width d, -2 sqrt(3 d), so a text
with nothing to compare gets the bound of the widest models, d = 4096.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from nlgauge.core.cloud import Cloud
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import Scale
from nlgauge.core.options import option
from nlgauge.core.plan import Floats, Plan
from nlgauge.core.requirements import ModelCard
from nlgauge.measure.cost import unit
from nlgauge.measure.layers import AGGREGATES
from nlgauge.metrics._points import Points
from nlgauge.metrics._transport import TransportMetric

WEB_SCALE = Scale("higher", -math.inf, 0.0, void=-2 * math.sqrt(3 * 4096))
WEB_LAYERS = 5


@dataclass(frozen=True)
class Smd(TransportMetric):
    """The distance between the mean vectors of two texts."""

    paper: ClassVar[str] = "Zhao et al. 2019, MoverScore (EMNLP)"

    layers: int | str = option(
        "best", "Hidden layers: best, all, last5, 4, 3+4+6 or 2-6.", server="text"
    )
    aggregate: str = option("concat", "How layers are joined.", choices=tuple(AGGREGATES))
    compat: str | None = option(
        None, "The numbers of MoverScore's web service.", choices=("mover-web",)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        fixed = {"weights": ("uniform",), "special": ("keep",), "aggregate": ("concat", "pmeans")}
        for name, allowed in fixed.items() if self.compat else ():
            if getattr(self, name) not in allowed:
                raise OptionError(
                    f"options compat={self.compat!r}, {name}={getattr(self, name)!r}: the web "
                    f"service works with {name}={allowed[-1]}; leave one of them out"
                )

    @property
    def scale(self) -> Scale:
        """A distance between unit vectors, or the web service's score."""
        return WEB_SCALE if self.compat else super().scale

    @property
    def components(self) -> tuple[str, ...]:  # type: ignore[override]
        """The distance and its similarity, or the web service's score and its distance."""
        return ("score", "distance") if self.compat else ("distance", "similarity")

    def bind(self, card: ModelCard) -> Self:
        """The layers of the model; the web service joins the last five by power means."""
        if self.compat is None:
            return super().bind(card)
        last = f"last{min(WEB_LAYERS, max(card.depth, 1))}"
        layers = last if self.layers == "best" else self.layers
        return super(Smd, replace(self, layers=layers, aggregate="pmeans")).bind(card)

    def gather(self, cloud: Cloud) -> Points:
        """The mean of the token vectors as the only point."""
        vectors = AGGREGATES[self.aggregate](cloud.points)
        mean = unit(cloud.weights @ vectors)
        return Points(mean[None], np.ones(1), (" ".join(cloud.tokens.strings),))

    def price(self, candidate: Points, reference: Points) -> Floats:
        """The distance of the two points: Euclid's, or the web service's sum of differences."""
        if self.compat is None:
            return super().price(candidate, reference)
        differences = np.abs(candidate.vectors - reference.vectors)
        return np.asarray(differences.sum(axis=1, keepdims=True))

    def row(self, plan: Plan) -> tuple[float, ...]:
        """The distance and its similarity, or its negative and the distance."""
        return (-plan.value, plan.value) if self.compat else super().row(plan)

    @property
    def void_row(self) -> tuple[float, ...]:
        """The largest distance, and what goes with it."""
        return (self.scale.void, -self.scale.void) if self.compat else super().void_row
