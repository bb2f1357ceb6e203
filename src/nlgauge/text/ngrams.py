"""N-gram counts of a text and of a corpus."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

Ngram: TypeAlias = tuple[str, ...]


def ngrams(words: Sequence[str], order: int) -> Counter[Ngram]:
    """Return the counts of the n-grams of ``order`` words."""
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


def ngrams_up_to(words: Sequence[str], order: int) -> Counter[Ngram]:
    """Return the counts of the n-grams of 1 to ``order`` words."""
    counts: Counter[Ngram] = Counter()
    for n in range(1, order + 1):
        counts.update(ngrams(words, n))
    return counts


@dataclass(frozen=True, eq=False)
class NgramTable:
    """Counts of n-grams in a corpus; ``total`` is the number of segments or words."""

    counts: Mapping[Ngram, int]
    total: int

    @classmethod
    def pool(cls, parts: "Iterable[NgramTable]") -> "NgramTable":
        """Return the table of all parts together."""
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
