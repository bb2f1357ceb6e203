"""SMD: the sentence mover's distance of MoverScore, which represents a text as one point.

    SMD = ||u(x) - u(y)||,  x = sum_i a_i x_i,  y = sum_j b_j y_j,  u(v) = v / ||v||

with token vectors x_i, y_j that combine several layers and uniform or idf masses a, b. The paper
uses the sum of the token vectors, which at unit length equals the mean. Lower is better, range
[0, 2]. The second component is the similarity 1 / (1 + SMD).

``compat="mover-web"`` reproduces MoverScore's web service: power means of the last five layers,
uniform masses, special tokens kept, and minus the sum of absolute differences as the score. Higher
is better, at most 0. The minimum is -2 sqrt(3 d) for a model of width d; void texts get the
value for d = 4096, the widest models.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Cloud
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import Scale, distance
from nlgauge.core.options import option
from nlgauge.core.requirements import ModelCard
from nlgauge.measure.cost import unit
from nlgauge.measure.layers import AGGREGATES
from nlgauge.metrics._cloud_metric import Points, several_layers
from nlgauge.metrics._transport import TransportMetric

WEB_SCALE = Scale("higher", -math.inf, 0.0, void=-2 * math.sqrt(3 * 4096))


@dataclass(frozen=True)
class Smd(TransportMetric):
    """The distance between the mean vectors of two texts."""

    title = "SMD"
    paper = "Zhao et al. 2019, MoverScore (EMNLP)"
    matching = "transport"

    layers: int | str = several_layers()
    aggregate: str = option("concat", "How layers are combined.", choices=tuple(AGGREGATES))
    compat: str | None = option(None, "Published code to reproduce.", choices=("mover-web",))

    def __post_init__(self) -> None:
        super().__post_init__()
        fixed = {"weights": ("uniform",), "special": ("keep",), "aggregate": ("concat", "pmeans")}
        for name, allowed in fixed.items() if self.compat else ():
            if getattr(self, name) not in allowed:
                raise OptionError(
                    f"options compat={self.compat!r}, {name}={getattr(self, name)!r}: the web "
                    f"service uses {name}={allowed[-1]}; leave one of them out"
                )

    @property
    def scale(self) -> Scale:
        """A distance between unit vectors, or the web service's score."""
        return WEB_SCALE if self.compat else distance(2.0)

    @property
    def components(self) -> tuple[str, ...]:  # type: ignore[override]
        """The distance and its similarity, or the web service's score and distance."""
        return ("score", "distance") if self.compat else ("distance", "similarity")

    def bind(self, card: ModelCard) -> Self:
        """Return the metric with its layers; the web service uses power means of the last five."""
        if self.compat is None:
            return super().bind(card)
        layers = f"last{min(5, max(card.depth, 1))}" if self.layers == "best" else self.layers
        return super(Smd, replace(self, layers=layers, aggregate="pmeans")).bind(card)

    def points(self, cloud: Cloud) -> Points:
        """Return the mean of the token vectors as one point."""
        mean = unit(cloud.weights @ AGGREGATES[self.aggregate](cloud.points))
        return Points(mean[None], np.ones(1), (" ".join(cloud.tokens.strings),))

    def cost_matrix(self, candidate: Points, reference: Points) -> Floats:
        """Return the Euclidean distance, or the web service's sum of absolute differences."""
        if self.compat is None:
            return super().cost_matrix(candidate, reference)
        differences = np.abs(candidate.vectors - reference.vectors)
        return np.asarray(differences.sum(axis=1, keepdims=True))

    def row_of_cost(self, cost: float) -> tuple[float, ...]:
        """Return the distance and its similarity, or minus the distance and the distance."""
        return (-abs(cost), abs(cost)) if self.compat else super().row_of_cost(cost)
