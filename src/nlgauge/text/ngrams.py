"""N-grams of words: their counts in a text, and a table of counts over a corpus."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from nlgauge.core.errors import UsageError

Ngram: TypeAlias = tuple[str, ...]


def ngrams(words: Sequence[str], order: int) -> Counter[Ngram]:
    """How often every n-gram of ``order`` words occurs."""
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


def ngrams_up_to(words: Sequence[str], order: int) -> Counter[Ngram]:
    """How often every n-gram of 1 to ``order`` words occurs."""
    counts: Counter[Ngram] = Counter()
    for n in range(1, order + 1):
        counts.update(ngrams(words, n))
    return counts


@dataclass(frozen=True, eq=False)
class NgramTable:
    """Counts of n-grams over a corpus and ``total``, what they are counts out of."""

    counts: Mapping[Ngram, int]
    total: int

    @classmethod
    def pool(cls, parts: Iterable[NgramTable]) -> NgramTable:
        """The table of all parts together."""
        counts: Counter[Ngram] = Counter()
        total = 0
        for part in parts:
            counts.update(part.counts)
            total += part.total
        return cls(dict(counts), total)

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits that differ when any count differs."""
        lines = sorted("\x1f".join(ngram) + f"\x1e{n}" for ngram, n in self.counts.items())
        return hashlib.sha256("\n".join([str(self.total), *lines]).encode()).hexdigest()[:12]


def fitted(table: NgramTable | None, metric: str) -> NgramTable:
    """The table, or an error that tells how to make one."""
    if table is None:
        raise UsageError(
            f"{metric} weighs n-grams by their counts in the references, but has not seen any; "
            "call metric.fit(references) first, or use nlgauge.score, which does"
        )
    return table
