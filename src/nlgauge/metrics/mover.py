"""MoverScore: the word mover's distance between contextual n-grams.

    WMD(x^n, y^n) = min_F sum_ij F_ij ||E(x_i^n) - E(y_j^n)||,  F 1 = f_x,  F^T 1 = f_y

An n-gram's vector is the weighted mean of its tokens' vectors, at unit length, its mass the sum of
their weights (equations 1 and 2); an n above the text's length leaves one n-gram, the whole text.
A token's vector joins several layers: side by side at unit length (``concat``, whose cosine is the
mean of the layers' cosines), minimum, mean and maximum (``pmeans``, the paper's), their ``mean``,
or ``routing`` (the paper's appendix). Lower is better, range [0, 2] for the Euclidean cost; the
similarity beside it is 1 / (1 + WMD).

``compat`` gives the numbers of the published code, whose scores are higher for better texts:
``mover-v1`` (1 - EMD of squared distances, power means of the last five layers) and ``mover-v2``
(1 / (1 + EMD), last layer); both weigh either side by its own idf, drop ASCII punctuation, and v2
also drops all but the first piece of a word, whatever is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self

from nlgauge.core.cloud import Cloud
from nlgauge.core.errors import FileError, OptionError
from nlgauge.core.metric import Scale, Side, distance
from nlgauge.core.options import option
from nlgauge.core.plan import Floats
from nlgauge.core.requirements import ModelCard, Weighting
from nlgauge.measure.cost import cosine, euclid, squared_euclid, word_order
from nlgauge.measure.layers import AGGREGATES, concatenate, pool_ngrams, power_means
from nlgauge.metrics import _mover_compat
from nlgauge.metrics._points import Points
from nlgauge.metrics._transport import TransportMetric

COSTS: dict[str, tuple[Callable[[Any, Any], Floats], float]] = {
    "euclid": (euclid, 2.0),
    "squared_euclid": (squared_euclid, 4.0),
    "cosine": (cosine, 2.0),
}


@dataclass(frozen=True)
class Mover(TransportMetric):
    """The least cost of moving one text's contextual n-grams onto the other's."""

    paper: ClassVar[str] = "Zhao et al. 2019, MoverScore (EMNLP), equations 1-2"

    layers: int | str = option(
        "best", "Hidden layers: best, all, last5, 4, 3+4+6 or 2-6.", server="text"
    )
    aggregate: str = option("concat", "How layers are joined.", choices=tuple(AGGREGATES))
    ngram: int = option(1, "Tokens in an n-gram; 1000 makes the text one.", low=1, server=1000)
    cost: str = option("euclid", "Distance of two n-grams.", choices=tuple(COSTS))
    word_order: float = option(0.0, "Price of moving from first to last place.", low=0)
    subwords: str = option("all", "Pieces of a word kept.", choices=("all", "first"))
    punctuation: str = option("keep", "Punctuation tokens.", choices=("keep", "drop"))
    stopwords: str | None = option(None, "Text file of words to leave out, one per line.")
    compat: str | None = option(
        None, "The numbers of a public implementation.", choices=("mover-v1", "mover-v2")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.compat == "mover-v2" and self.ngram != 1:
            raise OptionError(f"mover-v2 ignores n-grams; leave out ngram={self.ngram}")

    @property
    def scale(self) -> Scale:
        """A distance, or the score of the compatibility mode."""
        if self.compat is not None:
            return _mover_compat.SCALES[self.compat]
        return distance(COSTS[self.cost][1] + self.word_order)

    @property
    def components(self) -> tuple[str, ...]:  # type: ignore[override]
        """The distance and its similarity, or the compatible score and its distance."""
        return ("score", "distance") if self.compat else ("distance", "similarity")

    @property
    def weighting(self) -> Weighting:
        """The filters as asked for, or as the compatible code has them."""
        asked = replace(
            super().weighting,
            subwords="first" if self.subwords == "first" else "all",
            punctuation="drop" if self.punctuation == "drop" else "keep",
            stopwords=_stopwords(self.stopwords) if self.stopwords else frozenset(),
        )
        return _mover_compat.weighting(asked, self.compat) if self.compat else asked

    def bind(self, card: ModelCard) -> Self:
        """The layers of the model, or those the compatible code takes."""
        if self.compat is not None and self.layers == "best":
            layers = {"mover-v1": "last5", "mover-v2": "last"}[self.compat]
            return replace(self, layers=layers).bind(card)
        return super().bind(card)

    def prepare(self, item: Cloud, side: Side) -> Points | None:
        """The n-grams of a text; the compatible codes score texts without mass, too."""
        return self.gather(item) if self.compat and len(item) else super().prepare(item, side)

    def gather(self, cloud: Cloud) -> Points:
        """The n-grams with the vectors of their joined layers."""
        join = {"mover-v1": power_means, "mover-v2": concatenate}.get(self.compat or "")
        vectors = (join or AGGREGATES[self.aggregate])(cloud.points)
        points, masses = pool_ngrams(vectors, cloud.weights, self.ngram)
        words = cloud.tokens.strings
        span = min(self.ngram, len(words))
        grams = [" ".join(words[i : i + span]) for i in range(len(masses))]
        return Points(points, masses, tuple(grams))

    def price(self, candidate: Points, reference: Points) -> Floats:
        """The cost of two n-grams' vectors, and of their places."""
        cost = COSTS[self.cost][0](candidate.vectors, reference.vectors)
        return cost + word_order(*cost.shape, weight=self.word_order)

    @property
    def scored_by_plan(self) -> bool:
        """Whether the score is the cost of the plan; the compatible codes compute another."""
        return self.compat is None

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        """Distance and similarity of every pair."""
        if self.compat is None:
            return super().compare(candidates, references)
        return _mover_compat.compare(candidates, references, self.compat)


@cache
def _stopwords(path: str) -> frozenset[str]:
    try:
        return frozenset(Path(path).read_text("utf-8").lower().split())
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"the file of stop words {path!r} cannot be read: {error}") from error
