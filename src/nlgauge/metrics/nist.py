"""NIST: n-gram precision in which rare n-grams weigh more.

Doddington (2002), equations 2 and 3: Info(w1..wn) = log2(#(w1..wn-1) / #(w1..wn)) over all
references; NIST = sum over n of (information of the matched n-grams / number of n-grams of the
candidate), times exp(b log² min(1, L_candidate / L_reference)) with b such that two thirds of the
average reference length cost a half. Matches are clipped by the largest count in any reference,
as in mteval. Higher is better, from 0 without an upper end: what identical texts get depends on
how rare their words are. An empty candidate or reference gets 0.

``fit`` counts the n-grams of the references. An n-gram unknown to the table (fitted on other
texts) counts as seen once.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar, Self

import numpy as np

from nlgauge.core.cloud import Floats
from nlgauge.core.metric import VOID_NOTE, Metric, Rows, similarity
from nlgauge.core.options import option
from nlgauge.text.ngrams import Ngram, NgramTable, fitted, ngrams_up_to
from nlgauge.text.tokenize import words

PENALTY = math.log(0.5) / math.log(1.5) ** 2


@dataclass(frozen=True)
class Nist(Metric):
    """Information-weighted n-gram precision of a corpus."""

    paper: ClassVar[str] = (
        "Doddington (2002), Automatic Evaluation of Machine Translation Quality "
        "Using N-gram Co-Occurrence Statistics"
    )
    scale = similarity(0.0, math.inf)

    order: int = option(5, "The longest n-grams.", low=1)
    lowercase: bool = option(True, "Lowercase both sides, as mteval does.")
    table: NgramTable | None = dataclasses.field(
        default=None, kw_only=True, repr=False, compare=False
    )

    def fit(self, references: Iterable[Sequence[str]]) -> Self:
        """The metric with the n-grams of these references counted."""
        counts: Counter[Ngram] = Counter()
        for group in references:
            for text in group:
                counts.update(ngrams_up_to(self._words(text), self.order))
        total = sum(count for ngram, count in counts.items() if len(ngram) == 1)
        return dataclasses.replace(self, table=NgramTable(dict(counts), total))

    def pool(self, parts: Sequence[Self]) -> Self:
        """The metric with the counts of all parts added up."""
        tables = [fitted(part.table, self.name) for part in parts]
        return dataclasses.replace(self, table=NgramTable.pool(tables))

    def facts(self) -> dict[str, str]:
        """The digest of the fitted table."""
        return {"table_sha": self.table.digest if self.table else "none"}

    def rows(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Rows:
        """Matched information and n-grams of every order, and both lengths."""
        fitted(self.table, self.name)
        pairs = zip(candidates, references, strict=True)
        statistics = np.array([self._row(text, group) for text, group in pairs])
        return Rows(statistics, {VOID_NOTE: (statistics[:, -2:] == 0).any(axis=1)})

    def finish(self, totals: Floats, counts: Floats) -> Floats:
        """Equation 3 of each sum of rows."""
        information, sizes = totals[:, : self.order], totals[:, self.order : -2]
        precision = (information / np.maximum(sizes, 1)).sum(axis=1)
        candidate, reference = totals[:, -2], totals[:, -1]
        ratio = np.clip(candidate / np.where(reference > 0, reference, 1), 1e-300, 1.0)
        return np.asarray(precision * np.exp(PENALTY * np.log(ratio) ** 2))[:, None]

    def _row(self, candidate: str, group: Sequence[str]) -> list[float]:
        mine = self._words(candidate)
        theirs = [self._words(text) for text in group]
        counts = ngrams_up_to(mine, self.order)
        clip = reduce(Counter.__or__, (ngrams_up_to(text, self.order) for text in theirs))
        information = [0.0] * self.order
        for ngram, count in sorted((counts & clip).items()):  # one order of summing for all rows
            information[len(ngram) - 1] += count * self._information(ngram)
        sizes = [max(len(mine) - n, 0) for n in range(self.order)]
        return [*information, *sizes, len(mine), sum(map(len, theirs)) / len(theirs)]

    def _information(self, ngram: Ngram) -> float:
        table = fitted(self.table, self.name)
        before = table.counts.get(ngram[:-1], 1) if len(ngram) > 1 else max(table.total, 1)
        return math.log2(max(before / table.counts.get(ngram, 1), 1.0))

    def _words(self, text: str) -> list[str]:
        return words(text, lowercase=self.lowercase, marks=True)
