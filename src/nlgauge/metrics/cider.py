"""CIDEr-D and CIDEr: cosine of tf-idf weighted n-grams, for captions with several references.

Vedantam, Zitnick, Parikh (2015): for n = 1 to 4, a text is the vector g of its n-gram counts times
log(N / df), df being the number of the N segments whose references contain the n-gram;
CIDEr = 10/4 times the sum over n of the mean over references of cos(g(candidate), g(reference)).
CIDEr-D clips the candidate's weights by the reference's in the product and multiplies with
exp(-(difference of lengths)² / (2 sigma²)), sigma = 6. Higher is better, 0 to 10; identical texts
of four words or more, none of whose orders is common to all segments, get 10. The factor 10 is
applied to both variants, as the authors' code does.

``fit`` counts documents in the references. A text all of whose n-grams occur in every segment (so
any text, if there is only one segment) has no weight: it gets 0 and a note.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nlgauge.core.cloud import Floats
from nlgauge.core.metric import PairMetric, Rows, Side, similarity
from nlgauge.core.options import option
from nlgauge.text.ngrams import Ngram, NgramTable, fitted, ngrams_up_to
from nlgauge.text.stem import stem
from nlgauge.text.tokenize import words

ONE_SEGMENT_NOTE = "document frequencies of a single segment give every n-gram the weight 0"


@dataclass(frozen=True)
class Weighted:
    """A text as tf-idf weights of n-grams, the norm of each order, and its length in words."""

    weights: dict[Ngram, float]
    norms: tuple[float, ...]
    length: int


@dataclass(frozen=True)
class Cider(PairMetric):
    """Consensus of a caption with its references."""

    paper: ClassVar[str] = (
        "Vedantam, Zitnick, Parikh (2015), CIDEr: Consensus-based Image Description Evaluation"
    )
    more_references_never_hurt: ClassVar[bool] = False
    scale = similarity(0.0, 10.0)

    over_references: str = option(
        "mean", "Of several references take the mean (CIDEr) or the best.", choices=("mean", "best")
    )
    variant: str = option("d", "CIDEr-D, or plain CIDEr.", choices=("d", "plain"))
    order: int = option(4, "The longest n-grams.", low=1)
    sigma: float = option(6.0, "Words of difference in length that CIDEr-D tolerates.", low=1e-3)
    stem: bool = option(False, "Compare Porter stems, as the paper (not its code) does.")
    table: NgramTable | None = dataclasses.field(
        default=None, kw_only=True, repr=False, compare=False
    )

    def fit(self, references: Iterable[Sequence[str]]) -> Self:
        """The metric with document frequencies counted over these segments."""
        counts: Counter[Ngram] = Counter()
        segments = 0
        for group in references:
            segments += 1
            counts.update({gram for text in group for gram in self._ngrams(self._words(text))})
        return dataclasses.replace(self, table=NgramTable(dict(counts), segments))

    def pool(self, parts: Sequence[Self]) -> Self:
        """The metric with the counts of all parts added up."""
        tables = [fitted(part.table, self.name) for part in parts]
        return dataclasses.replace(self, table=NgramTable.pool(tables))

    def facts(self) -> dict[str, str]:
        """The digest of the fitted table."""
        return {"table_sha": self.table.digest if self.table else "none"}

    def rows(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Rows:
        """The score of every segment."""
        found = super().rows(candidates, references)
        alone = np.full(len(candidates), fitted(self.table, self.name).total == 1)
        return Rows(found.statistics, {**found.notes, ONE_SEGMENT_NOTE: alone})

    def prepare(self, item: str, side: Side) -> Weighted | None:
        """The weighted n-grams of a text; None if all weights are 0."""
        found = self._words(item)
        weights = {gram: n * self._idf(gram) for gram, n in self._ngrams(found).items()}
        squares = [0.0] * self.order
        for gram, weight in weights.items():
            squares[len(gram) - 1] += weight * weight
        if not any(squares):
            return None
        return Weighted(weights, tuple(map(math.sqrt, squares)), len(found))

    def compare(self, candidates: Sequence[Weighted], references: Sequence[Weighted]) -> Floats:
        """Ten times the mean cosine over orders of every pair."""
        pairs = zip(candidates, references, strict=True)
        return np.array([[self._similarity(*pair)] for pair in pairs])

    def _similarity(self, mine: Weighted, theirs: Weighted) -> float:
        products = [0.0] * self.order
        for gram, weight in mine.weights.items():
            other = theirs.weights.get(gram, 0.0)
            products[len(gram) - 1] += (
                min(weight, other) if self.variant == "d" else weight
            ) * other
        norms = [a * b for a, b in zip(mine.norms, theirs.norms, strict=True)]
        cosines = [p / n for p, n in zip(products, norms, strict=True) if n > 0]
        gap = (mine.length - theirs.length) / self.sigma if self.variant == "d" else 0.0
        return 10.0 * sum(cosines) / self.order * math.exp(-gap * gap / 2)

    def _idf(self, gram: Ngram) -> float:
        table = fitted(self.table, self.name)
        return math.log(table.total / max(table.counts.get(gram, 0), 1))

    def _ngrams(self, found: Sequence[str]) -> Counter[Ngram]:
        return ngrams_up_to(found, self.order)

    def _words(self, text: str) -> list[str]:
        found = words(text)
        return [stem(word) for word in found] if self.stem else found
