"""YiSi-1: greedy matching with idf weights that favours recall.

    YiSi-1 = PR / (alpha P + (1 - alpha) R),  alpha = 0.7

with P and R as in BERTScore and idf(t) = ln(1 + (N + 1) / (df(t) + 1)) fitted on the references,
which never weighs a token nothing. Higher is better, range [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from nlgauge.core.cloud import Cloud, Floats
from nlgauge.core.cloud_metric import CloudMetric
from nlgauge.core.metric import Side, similarity
from nlgauge.core.need import Weighting
from nlgauge.core.options import option
from nlgauge.measure.cost import unit
from nlgauge.measure.partners import Weighted, greedy_scores


@dataclass(frozen=True)
class YiSi(CloudMetric):
    """Greedy matching with idf weights that favours recall."""

    paper: ClassVar[str] = "Lo 2019, YiSi (WMT), equations 1-3"
    components: ClassVar[tuple[str, ...]] = ("f", "precision", "recall")
    layer_option: ClassVar[str] = "layer"
    scale = similarity()

    layer: int | str = option("best", "Hidden layer; best is the model's best known one.")
    weights: str = option("idf", "Mass of a token.", choices=("idf", "uniform"))
    alpha: float = option(0.7, "Weight of recall.", low=0, high=1)

    @property
    def weighting(self) -> Weighting:
        """YiSi's own smoothing of idf."""
        return Weighting(scheme="idf_plus_one" if self.weights == "idf" else "uniform")

    def prepare(self, item: Cloud, side: Side) -> Weighted | None:  # noqa: ARG002
        """Unit vectors and masses of the tokens."""
        return None if item.void else (unit(item.layer), item.weights)

    def compare(self, candidates: Sequence[Weighted], references: Sequence[Weighted]) -> Floats:
        """F, P and R of every pair."""
        return greedy_scores(candidates, references, self.alpha)
