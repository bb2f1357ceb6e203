"""WMDo: the word mover's distance with a penalty for words in another order.

    WMDo = WMD + delta (chunks - 1) / (matched - 1)

WMD moves words at the cost 1 - cos. For the order, the reference is read from left to right; every
word is matched with the candidate word that gives it most, of equally good ones the nearest to
where the last match ended. A chunk is a run of matches that are neighbours on both sides, so texts
in the same order are one chunk and cost nothing, and a text read backwards costs ``delta``. The
published code has chunks / matched, which charges identical texts; here they get exactly 0. A lone
word is always in order. Every word of a text that is not void is matched, because all of its mass
comes from somewhere. Lower is better, range [0, 2 + delta], whose top a void text gets.

The published code adds alpha = 0.10 times the share of candidate words without a vector. Contextual
models have a vector for everything, and with static ones such words are left out before they get
here, so there is no such term; the scores' notes count the texts concerned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nlgauge.core.cloud import Cloud
from nlgauge.core.metric import Scale, distance
from nlgauge.core.options import option
from nlgauge.core.plan import Floats, Plan
from nlgauge.measure.cost import cosine
from nlgauge.metrics._points import Points
from nlgauge.metrics._transport import TransportMetric

_FARTHEST = 2.0  # 1 - cos of opposite vectors
_TIE = 1e-9  # flows and costs nearer than this are equal


@dataclass(frozen=True)
class Wmdo(TransportMetric):
    """The least cost of moving one text's words onto the other's, and their disorder."""

    paper: ClassVar[str] = "Chow et al. 2019, WMDO: Fluency-based Word Mover's Distance (WMT)"
    matching: ClassVar[str] = "greedy"
    layer_option: ClassVar[str] = "layer"
    components: ClassVar[tuple[str, ...]] = ("distance", "wmd", "disorder", "similarity")
    symmetric: ClassVar[bool] = False

    layer: int | str = option(
        "best", "Hidden layer; best is the model's best known one.", server="text"
    )
    delta: float = option(0.18, "What words in the worst order cost.", low=0)
    special: str = option(
        "drop", "Whether the model's own tokens take part.", choices=("keep", "drop")
    )

    @property
    def scale(self) -> Scale:
        """From identical texts to opposite vectors in the worst order."""
        return distance(_FARTHEST + self.delta)

    @property
    def void_row(self) -> tuple[float, ...]:
        """The top of the range, its two parts, and its similarity."""
        return self.scale.void, _FARTHEST, 1.0, 1 / (1 + self.scale.void)

    def gather(self, cloud: Cloud) -> Points:
        """The words that have mass: one without is nobody's partner, and no gap either."""
        return Points.of_layer(cloud.keep(cloud.weights > 0))

    def price(self, candidate: Points, reference: Points) -> Floats:
        """1 - cos."""
        return cosine(candidate.vectors, reference.vectors)

    def row(self, plan: Plan) -> tuple[float, ...]:
        """The sum, the cost of the plan, the disorder of its matches, and 1 / (1 + sum)."""
        disorder = _disorder(plan)
        total = plan.value + self.delta * disorder
        return total, plan.value, disorder, 1 / (1 + total)


def _disorder(plan: Plan) -> float:
    """0 if the matches are in one chunk, 1 if no two of them are neighbours."""
    flows = _flows_of_words(plan)
    best = flows >= flows.max(axis=0) - _TIE
    chunks, following = 0, 0
    for partners in (np.flatnonzero(column) for column in best.T):
        # Of two equally near ones the later: going on is more in order than going back.
        place = min(partners, key=lambda i: (abs(i - following), -i))
        chunks += bool(chunks == 0 or place != following)
        following = int(place) + 1
    return (chunks - 1) / max(len(best.T) - 1, 1)


def _flows_of_words(plan: Plan) -> Floats:
    """For each pair of tokens what flows between all tokens that cost the same as they do.

    A word that occurs twice with one vector may be served by either occurrence, and the plan picks
    as it likes; together they are what the word gives or gets.
    """
    costs = np.round(plan.cost / _TIE)
    rows = np.unique(costs, axis=0, return_inverse=True)[1].ravel()
    columns = np.unique(costs, axis=1, return_inverse=True)[1].ravel()
    flows = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(flows, (rows[:, None], columns), plan.coupling)
    return flows[rows][:, columns]
