"""WMD: the word mover's distance, the minimum cost of moving one text's words to the other's.

    WMD = min_F sum_ij F_ij ||x_i - y_j||,  F 1 = a,  F^T 1 = b

on the unit vectors of one layer of a contextual model, or on static word vectors
(``model=glove`` or a file of vectors), with uniform or idf masses; ``ngram`` compares n-grams.
Lower is better, range [0, 2]. The second component is the similarity 1 / (1 + WMD).
"""

from dataclasses import dataclass

from nlgauge.core.metric import distance
from nlgauge.metrics._cloud_metric import ngrams, one_layer
from nlgauge.metrics._transport import TransportMetric


@dataclass(frozen=True)
class Wmd(TransportMetric):
    """The minimum cost of moving one text's words to the other's."""

    title = "WMD"
    paper = "Kusner et al. 2015, From Word Embeddings to Document Distances (ICML)"
    scale = distance(2.0)

    layer: int | str = one_layer()
    ngram: int = ngrams()
