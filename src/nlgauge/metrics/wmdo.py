"""WMDo: the word mover's distance with a penalty for word order.

    WMDo = WMD + delta (chunks - 1) / (matched - 1)

with 1 - cos as the cost of WMD. From left to right, each reference word is matched with the
candidate word from which it receives the most mass; ties are resolved in favour of the word nearest
to the end of the last match. A chunk is a run of matches that are adjacent in both texts, so texts
in the same order are one chunk and a reversed text costs ``delta``. The published code uses
chunks / matched, which penalises identical texts; here they get exactly 0. Lower is better, range
[0, 2 + delta]; void texts get the maximum.

The published code adds 0.10 times the share of candidate words without a vector. Here this term is
not needed: words that the model does not know cost about 1 unless the other text has them too.
"""

from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Cloud
from nlgauge.core.metric import Scale, distance
from nlgauge.core.options import option
from nlgauge.core.plan import Plan
from nlgauge.measure.cost import cosine
from nlgauge.metrics._cloud_metric import Points, one_layer
from nlgauge.metrics._transport import TransportMetric

_MAX_COST = 2.0  # 1 - cos of opposite vectors
_TIE = 1e-9  # tolerance for equal flows and costs


@dataclass(frozen=True)
class Wmdo(TransportMetric):
    """The word mover's distance with a penalty for word order."""

    title = "WMDo"
    paper = "Chow et al. 2019, WMDO: Fluency-based Word Mover's Distance (WMT)"
    components = ("distance", "wmd", "disorder", "similarity")
    symmetric = False

    layer: int | str = one_layer()
    delta: float = option(0.18, "Penalty of the worst word order.", low=0, high=1e6)
    special: str = option("drop", "Special tokens of the model.", choices=("keep", "drop"))

    @property
    def scale(self) -> Scale:
        """A distance; the maximum is opposite vectors in the worst order."""
        return distance(_MAX_COST + self.delta)

    @property
    def void_row(self) -> tuple[float, ...]:
        """The largest distance, its two parts, and its similarity."""
        return self.scale.void, _MAX_COST, 1.0, 1 / (1 + self.scale.void)

    def points(self, cloud: Cloud) -> Points:
        """Return the words with mass; other words neither match nor separate chunks."""
        return super().points(cloud.keep(cloud.weights > 0))

    def cost_matrix(self, candidate: Points, reference: Points) -> Floats:
        """Return 1 - cos."""
        return cosine(candidate.vectors, reference.vectors)

    def row(self, plan: Plan) -> tuple[float, ...]:
        """Return WMDo, WMD, the disorder, and 1 / (1 + WMDo)."""
        disorder = _disorder(plan)
        total = plan.value + self.delta * disorder
        return total, plan.value, disorder, 1 / (1 + total)


def _disorder(plan: Plan) -> float:
    """Return 0 if the matches are one chunk, 1 if no two of them are neighbours."""
    flows = _flows_of_words(plan)
    best = flows >= flows.max(axis=0) - _TIE
    chunks, following = 0, 0
    for partners in (np.flatnonzero(column) for column in best.T):
        # Between two equally near words, the later one keeps the order.
        position = min(partners, key=lambda i: (abs(i - following), -i))
        chunks += bool(chunks == 0 or position != following)
        following = int(position) + 1
    return (chunks - 1) / max(len(best.T) - 1, 1)


def _flows_of_words(plan: Plan) -> Floats:
    """Return for each pair of tokens the flow between all tokens with equal costs."""
    # The plan chooses arbitrarily between occurrences of a word with the same vector.
    costs = np.round(plan.cost / _TIE)
    rows, columns = (np.unique(costs, axis=k, return_inverse=True)[1].ravel() for k in (0, 1))
    flows = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(flows, (rows[:, None], columns), plan.coupling)
    return flows[rows][:, columns]
