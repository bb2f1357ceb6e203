"""YiSi-1: greedy matching with idf weights that favours recall.

    YiSi-1 = PR / (alpha P + (1 - alpha) R),  alpha = 0.7

with P and R as in BERTScore and idf(t) = ln(1 + (N + 1) / (df(t) + 1)), which is never 0, fitted on
the references. Higher is better, range [0, 1].
"""

from dataclasses import dataclass
from typing import ClassVar

from nlgauge.core.metric import Aliases, similarity
from nlgauge.core.options import option
from nlgauge.core.requirements import Weighting
from nlgauge.metrics._cloud_metric import ngrams
from nlgauge.metrics._greedy import GreedyMetric


@dataclass(frozen=True)
class YiSi(GreedyMetric):
    """Greedy matching with idf weights that favours recall."""

    title = "YiSi-1"
    paper = "Lo 2019, YiSi (WMT), equations 1-3"
    aliases: ClassVar[Aliases] = {"yisi1": {}}
    scale = similarity()

    weights: str = option("idf", "Mass of a token.", choices=("idf", "uniform"))
    ngram: int = ngrams()
    alpha: float = option(0.7, "Weight of recall in F.", low=0, high=1)

    @property
    def weighting(self) -> Weighting:
        """The masses, with YiSi's smoothing of idf."""
        return Weighting(scheme="idf_plus_one" if self.weights == "idf" else "uniform")
