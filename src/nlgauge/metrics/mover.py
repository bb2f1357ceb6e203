"""MoverScore: the word mover's distance between contextual n-grams.

    WMD(x^n, y^n) = min_F sum_ij F_ij ||E(x_i^n) - E(y_j^n)||,  F 1 = f_x,  F^T 1 = f_y

The vector of an n-gram is the weighted mean of its tokens' vectors at unit length, its mass the sum
of their weights (equations 1 and 2); if n exceeds the text's length, the n-gram is the whole text.
A token's vector combines several layers: ``concat`` (concatenation of unit vectors, whose cosine
is the mean of the layers' cosines), ``pmeans`` (minimum, mean and maximum, as in the paper),
``mean``, or ``routing`` (the paper's appendix). Lower is better, range [0, 2] for the Euclidean
cost. The second component is the similarity 1 / (1 + WMD).

``compat`` reproduces the published code, whose scores are higher for better texts: ``mover-v1``
(1 - EMD of squared distances, power means of the last five layers) and ``mover-v2``
(1 / (1 + EMD), last layer). Both weight each side by its own idf and drop ASCII punctuation; v2
always keeps only the first piece of a word.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Cloud
from nlgauge.core.errors import FileError
from nlgauge.core.metric import Scale, Side, distance, similarity
from nlgauge.core.option_files import require_file
from nlgauge.core.options import option
from nlgauge.core.requirements import Weighting
from nlgauge.measure.cost import cosine, euclid, squared_euclid, word_order
from nlgauge.measure.layers import AGGREGATES, concatenate, power_means
from nlgauge.metrics import _mover_compat
from nlgauge.metrics._cloud_metric import Points, ngram_points, ngrams, several_layers
from nlgauge.metrics._transport import TransportMetric

COSTS: dict[str, tuple[Callable[[Any, Any], Floats], float]] = {
    "euclid": (euclid, 2.0),
    "squared_euclid": (squared_euclid, 4.0),
    "cosine": (cosine, 2.0),
}


@dataclass(frozen=True)
class Mover(TransportMetric):
    """The minimum cost of moving one text's contextual n-grams to the other's."""

    title = "MoverScore"
    paper = "Zhao et al. 2019, MoverScore (EMNLP), equations 1-2"
    matching = "transport"
    published: ClassVar = _mover_compat.PUBLISHED
    replaced_options: ClassVar = ("aggregate", "cost", "word_order")

    layers: int | str = several_layers()
    aggregate: str = option("concat", "How layers are combined.", choices=tuple(AGGREGATES))
    ngram: int = ngrams()
    cost: str = option("euclid", "Distance between n-grams.", choices=tuple(COSTS))
    word_order: float = option(0.0, "Cost of moving from first to last position.", low=0, high=1e6)
    subwords: str = option("all", "Pieces of a word to keep.", choices=("all", "first"))
    punctuation: str = option("keep", "Punctuation tokens.", choices=("keep", "drop"))
    stopwords: str | None = option(None, "Text file of stop words to leave out, one per line.")
    compat: str | None = option(None, "Published code to reproduce.", choices=tuple(published))

    @property
    def scale(self) -> Scale:
        """A distance, or the score of the published code."""
        if self.compat:
            return similarity(self.void_row[0])
        return distance(COSTS[self.cost][1] + self.word_order)

    @property
    def components(self) -> tuple[str, ...]:  # type: ignore[override]
        """The distance and its similarity, or the published score and its distance."""
        return ("score", "distance") if self.compat else ("distance", "similarity")

    @property
    def void_row(self) -> tuple[float, ...]:
        """The worst score of the published code and its distance, or the largest distance."""
        largest = _mover_compat.LARGEST[self.compat] if self.compat else self.scale.void
        return self.row_of_cost(largest)

    @property
    def weighting(self) -> Weighting:
        """The masses and token filters of the options, or of the published code."""
        changes: dict[str, Any] = {"subwords": self.subwords, "punctuation": self.punctuation}
        stopwords = _stopwords(self.stopwords) if self.stopwords else frozenset()
        changes = {**changes, "stopwords": stopwords, **self._published.weighting}
        return replace(super().weighting, **changes)

    def prepare(self, item: Cloud, side: Side) -> Points | None:
        """Return the n-grams of a text; the published code also scores texts without mass."""
        return self.points(item) if self.compat and len(item) else super().prepare(item, side)

    def points(self, cloud: Cloud) -> Points:
        """Return the n-grams with the vectors of their combined layers."""
        published = {"mover-v1": power_means, "mover-v2": concatenate}.get(self.compat or "")
        vectors = (published or AGGREGATES[self.aggregate])(cloud.points)
        return ngram_points(vectors, cloud, self.ngram)

    def cost_matrix(self, candidate: Points, reference: Points) -> Floats:
        """Return the distances between vectors plus the cost of word order."""
        if self.compat:
            return _mover_compat.cost_matrix(candidate, reference, self.compat)
        cost = COSTS[self.cost][0](candidate.vectors, reference.vectors)
        if self.word_order:  # avoids a matrix of zeros, which is large for long texts
            cost += word_order(*cost.shape, weight=self.word_order)
        return cost

    def row_of_cost(self, cost: float) -> tuple[float, ...]:
        """Return the distance and its similarity, or the published score and its distance."""
        return _mover_compat.row(cost, self.compat) if self.compat else super().row_of_cost(cost)

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        """Return the components of every pair; the published code also scores one without mass."""
        if self.compat is None:
            return super().compare(candidates, references)
        found = partial(_mover_compat.distance, version=self.compat)
        return np.array([*map(self.row_of_cost, map(found, candidates, references))])


def _stopwords(path: str) -> frozenset[str]:
    require_file(path, "stop word file")
    try:
        return _read_words(path, Path(path).stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"stop word file {path!r} cannot be read: {error}") from error


@cache
def _read_words(path: str, _modified: int) -> frozenset[str]:
    """Return the words of a file; one that was modified since is read again."""
    return frozenset(Path(path).read_text("utf-8").lower().split())
