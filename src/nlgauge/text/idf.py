"""IdfTable: how rare a token is in a fixed corpus, looked up by its integer id."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.core.cloud import Floats, Ints


@dataclass(frozen=True, eq=False)
class IdfTable:
    """Document frequencies of token ids in ``documents`` texts.

    ``idf(t) = ln((N + 1) / (df(t) + 1))``, unseen tokens ``ln(N + 1)``: the formula of BERTScore,
    MoverScore, BaryScore and InfoLM. A token in every text, such as [CLS], weighs 0.
    ``plus_one`` is YiSi's ``ln(1 + (N + 1) / (df(t) + 1))``, which is never 0.
    """

    documents: int
    ids: Ints
    counts: Ints

    @classmethod
    def fit(cls, documents: Iterable[Ints]) -> IdfTable:
        """The table of a corpus given as the token ids of each text."""
        frequency: Counter[int] = Counter()
        total = 0
        for ids in documents:
            frequency.update(np.unique(ids).tolist())
            total += 1
        known = np.array(sorted(frequency), dtype=np.int64)
        counts = np.array([frequency[int(token)] for token in known], dtype=np.int64)
        return cls(total, known, counts)

    @classmethod
    def pool(cls, parts: Sequence[IdfTable]) -> IdfTable:
        """The table of all parts together."""
        known, places = np.unique(np.concatenate([part.ids for part in parts]), return_inverse=True)
        counts = np.zeros(len(known), dtype=np.int64)
        np.add.at(counts, places, np.concatenate([part.counts for part in parts]))
        return cls(sum(part.documents for part in parts), known, counts)

    def weights(self, ids: Ints, *, plus_one: bool = False) -> Floats:
        """The idf of every id."""
        frequency = np.zeros(len(ids))
        if len(self.ids):
            places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
            found = self.ids[places] == ids
            frequency[found] = self.counts[places[found]]
        ratio = (self.documents + 1) / (frequency + 1)
        return np.asarray(np.log1p(ratio) if plus_one else np.log(ratio))

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that two tables share only if they are equal."""
        content = hashlib.blake2b(str(self.documents).encode(), digest_size=6)
        content.update(self.ids.astype("<i8").tobytes())
        content.update(self.counts.astype("<i8").tobytes())
        return content.hexdigest()
