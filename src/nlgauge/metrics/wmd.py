"""WMD: the word mover's distance, the least cost of moving one text's words onto the other's.

    WMD = min_F sum_ij F_ij ||x_i - y_j||,  F 1 = a,  F^T 1 = b

on the unit vectors of one layer of a contextual model, or on static word vectors
(``model=glove`` or a file of vectors), with uniform or idf masses. Lower is better, range [0, 2];
the similarity beside it is 1 / (1 + WMD).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nlgauge.core.cloud import Cloud
from nlgauge.core.options import option
from nlgauge.metrics._points import Points
from nlgauge.metrics._transport import TransportMetric


@dataclass(frozen=True)
class Wmd(TransportMetric):
    """The least cost of moving one text's words onto the other's."""

    paper: ClassVar[str] = "Kusner et al. 2015, From Word Embeddings to Document Distances (ICML)"
    matching: ClassVar[str] = "greedy"
    layer_option: ClassVar[str] = "layer"

    layer: int | str = option(
        "best", "Hidden layer; best is the model's best known one.", server="text"
    )

    def gather(self, cloud: Cloud) -> Points:
        """The unit vectors of the chosen layer."""
        return Points.of_layer(cloud)
