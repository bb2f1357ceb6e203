"""NIST: n-gram precision with information weights, so that rare n-grams count more.

Doddington (2002), equations 2 and 3: Info(w1..wn) = log2(#(w1..wn-1) / #(w1..wn)) over all
references; NIST = sum over n of (information of the matched n-grams / number of n-grams of the
candidate), times exp(b log² min(1, L_candidate / L_reference)), with b such that the factor is 1/2
at two thirds of the average reference length. Matches are clipped to the largest count in any
reference, as in mteval. Higher is better, from 0 without an upper bound: the score of identical
texts depends on how rare their words are. An empty candidate or reference gets 0.

Words are those of the Unicode tokenizer; ``tokenize=13a`` gives the words and the scores of
mteval-v13a, which lowercases A-Z only and weights a bigram that begins with the word 0 like a
single word.

``fit`` counts the n-grams of the references. An n-gram that is not in the table (if it was fitted
on other texts) counts as seen once.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from string import ascii_lowercase, ascii_uppercase

import numpy as np
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from nlgauge.core.arrays import Floats
from nlgauge.core.custom_tokenizer import CustomTokenizer
from nlgauge.core.metric import VOID_NOTE, Rows, similarity
from nlgauge.core.options import option
from nlgauge.metrics._ngram_table import NgramTableMetric
from nlgauge.text.ngrams import Ngram, NgramTable, ngrams_up_to
from nlgauge.text.tokenize import split_words

PENALTY = math.log(0.5) / math.log(1.5) ** 2
_FALSE = ("0",)  # mteval treats a word after "0" as the first word, because "0" is false in Perl
_tokenizer_class: Callable[[], Callable[[str], str]] = Tokenizer13a
_split_13a = _tokenizer_class()
_LOWERCASE = str.maketrans(ascii_uppercase, ascii_lowercase)


@dataclass(frozen=True)
class Nist(NgramTableMetric):
    """Information-weighted n-gram precision of a corpus."""

    title = "NIST"
    paper = "Doddington 2002, MT Evaluation Using N-gram Co-Occurrence Statistics (HLT)"
    scale = similarity(0.0, math.inf)

    order: int = option(5, "Longest n-grams.", low=1, high=100)
    lowercase: bool = option(True, "Lowercase both sides; with tokenize=13a, the letters A-Z.")
    tokenize: str | CustomTokenizer = option(
        "words",
        "words: words and marks of any script; 13a: the words and scores of mteval-v13a; ptb: as "
        "in the Penn Treebank; or a Python function.",
        choices=("words", "13a", "ptb"),
    )

    def count(self, references: Iterable[Sequence[str]]) -> NgramTable:
        """Return the n-gram counts of these references."""
        counts: Counter[Ngram] = Counter()
        for group in references:
            for text in group:
                counts.update(ngrams_up_to(self._words(text), self.order))
        total = sum(count for ngram, count in counts.items() if len(ngram) == 1)
        return NgramTable(dict(counts), total)

    def rows(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Rows:
        """Return matched information and number of n-grams of every order, and both lengths."""
        table = self.fitted_table
        pairs = zip(candidates, references, strict=True)
        statistics = np.array([self._row(table, text, group) for text, group in pairs])
        return Rows(statistics, {VOID_NOTE: (statistics[:, -2:] == 0).any(axis=1)})

    def finish(self, totals: Floats, counts: Floats) -> Floats:
        """Return equation 3 for each sum of rows."""
        information, sizes = totals[:, : self.order], totals[:, self.order : -2]
        precision = (information / np.maximum(sizes, 1)).sum(axis=1)
        candidate, reference = totals[:, -2], totals[:, -1]
        ratio = np.clip(candidate / np.where(reference > 0, reference, 1), 1e-300, 1.0)
        return np.asarray(precision * np.exp(PENALTY * np.log(ratio) ** 2))[:, None]

    def _row(self, table: NgramTable, candidate: str, group: Sequence[str]) -> list[float]:
        tokens = self._words(candidate)
        references = [self._words(text) for text in group]
        clip = reduce(Counter.__or__, (ngrams_up_to(text, self.order) for text in references))
        matches = ngrams_up_to(tokens, self.order) & clip
        information = [0.0] * self.order
        for ngram, count in sorted(matches.items()):  # the same order of summation in all rows
            alone = len(ngram) == 1 or (self.tokenize == "13a" and ngram[:-1] == _FALSE)
            prefix = max(table.total, 1) if alone else table.counts.get(ngram[:-1], 1)
            ratio = prefix / table.counts.get(ngram, 1)
            information[len(ngram) - 1] += count * math.log2(max(ratio, 1.0))
        sizes = [max(len(tokens) - n, 0) for n in range(self.order)]
        return [*information, *sizes, len(tokens), sum(map(len, references)) / len(references)]

    def _words(self, text: str) -> list[str]:
        if self.tokenize != "13a":
            return split_words(text, self.tokenize, lowercase=self.lowercase, marks=True)
        line = _split_13a(text)
        return (line.translate(_LOWERCASE) if self.lowercase else line).split()
