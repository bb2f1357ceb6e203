"""CIDEr-D and CIDEr: cosine of tf-idf weighted n-grams, for captions with several references.

Vedantam, Zitnick, Parikh (2015): for n = 1 to 4, g(text) is the vector of n-gram counts times
log(N / df), where df is the number of the N segments whose references contain the n-gram;
CIDEr = 10/4 times the sum over n of the mean over references of cos(g(candidate), g(reference)).
CIDEr-D clips the candidate's weights to the reference's in the product and multiplies by
exp(-(difference of lengths)² / (2 sigma²)), sigma = 6. Higher is better, 0 to 10; identical texts
of four words or more get 10 unless all segments share all n-grams of some order. Both variants
have the factor 10, as in the authors' code.

``fit`` counts the document frequencies in the references. A text whose n-grams occur in every
segment (any text, if there is one segment) has no weight: it gets 0 and a note.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.custom_tokenizer import CustomTokenizer
from nlgauge.core.metric import Aliases, PairMetric, Rows, Side, similarity
from nlgauge.core.options import option
from nlgauge.metrics._ngram_table import NgramTableMetric
from nlgauge.text.ngrams import Ngram, NgramTable, ngrams_up_to
from nlgauge.text.stem import stem
from nlgauge.text.tokenize import split_words

ONE_SEGMENT_NOTE = "document frequencies of a single segment give every n-gram the weight 0"


class Vector(NamedTuple):
    """The tf-idf weights of a text's n-grams, their squared norms, and the number of words."""

    weights: dict[Ngram, float]
    squares: list[float]  # of each order
    length: int


@dataclass(frozen=True)
class Cider(NgramTableMetric, PairMetric):
    """Consensus of a caption with its references."""

    paper = "Vedantam et al. 2015, CIDEr (CVPR)"
    aliases: ClassVar[Aliases] = {"ciderd": {}}
    more_references_never_hurt = False
    scale = similarity(0.0, 10.0)

    over_references: str = option("mean", "Mean or best of references.", choices=("mean", "best"))
    variant: str = option("d", "CIDEr-D, or plain CIDEr.", choices=("d", "plain"))
    order: int = option(4, "Longest n-grams.", low=1, high=100)
    sigma: float = option(6.0, "Length difference that CIDEr-D tolerates, in words.", low=1e-3)
    tokenize: str | CustomTokenizer = option(
        "words",
        "words: Unicode words; ptb: as in the Penn Treebank, without punctuation, as the published "
        "code; or a Python function.",
        choices=("words", "ptb"),
    )
    stem: bool = option(False, "Compare Porter stems, as in the paper (not in its code).")

    @property
    def title(self) -> str:
        """CIDEr-D or CIDEr."""
        return "CIDEr-D" if self.variant == "d" else "CIDEr"

    def count(self, references: Iterable[Sequence[str]]) -> NgramTable:
        """Return the document frequencies of these segments."""
        counts: Counter[Ngram] = Counter()
        segments = 0
        for group in references:
            segments += 1
            counts.update({ngram for text in group for ngram in self._ngrams(text)})
        return NgramTable(dict(counts), segments)

    def rows(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Rows:
        """Return the score of every segment."""
        rows = super().rows(candidates, references)
        single = np.full(len(candidates), self.fitted_table.total == 1)
        return Rows(rows.statistics, {**rows.notes, ONE_SEGMENT_NOTE: single})

    def prepare(self, item: str, side: Side) -> Vector | None:
        """Return the weighted n-grams of a text, or None if all weights are 0."""
        table, counts = self.fitted_table, self._ngrams(item)
        seen = {ngram: max(table.counts.get(ngram, 0), 1) for ngram in counts}
        weights = {ngram: n * math.log(table.total / seen[ngram]) for ngram, n in counts.items()}
        squares = [0.0] * self.order
        for ngram, weight in weights.items():
            squares[len(ngram) - 1] += weight * weight
        if not any(squares):
            return None
        length = sum(n for ngram, n in counts.items() if len(ngram) == 1)
        return Vector(weights, squares, length)

    def compare(self, candidates: Sequence[Vector], references: Sequence[Vector]) -> Floats:
        """Return ten times the mean cosine over orders of every pair."""
        return np.array([[x] for x in map(self._similarity, candidates, references)])

    def _similarity(self, candidate: Vector, reference: Vector) -> float:
        products = [0.0] * self.order
        for ngram, weight in candidate.weights.items():
            other = reference.weights.get(ngram, 0.0)
            clipped = min(weight, other) if self.variant == "d" else weight
            products[len(ngram) - 1] += clipped * other
        pairs = zip(candidate.squares, reference.squares, strict=True)
        norms = [math.sqrt(a * b) for a, b in pairs]  # exact for equal texts
        cosines = [min(p / n, 1.0) for p, n in zip(products, norms, strict=True) if n > 0]
        gap = (candidate.length - reference.length) / self.sigma if self.variant == "d" else 0.0
        return 10.0 * sum(cosines) / self.order * math.exp(-gap * gap / 2)

    def _ngrams(self, text: str) -> Counter[Ngram]:
        words = split_words(text, self.tokenize)
        return ngrams_up_to(list(map(stem, words)) if self.stem else words, self.order)
