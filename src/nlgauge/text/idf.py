"""IdfTable: inverse document frequencies of token ids in a corpus."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class IdfTable:
    """Document frequencies of token ids in ``documents`` texts.

    ``idf(t) = ln((N + 1) / (df(t) + 1))``, as in BERTScore, MoverScore, BaryScore and InfoLM.
    ``plus_one`` is YiSi's ``ln(1 + (N + 1) / (df(t) + 1))``, which is never 0.
    """

    documents: int
    ids: Ints
    counts: Ints

    @classmethod
    def fit(cls, documents: Iterable[Ints]) -> "IdfTable":
        """Return the table of a corpus, given the token ids of each text."""
        frequency: Counter[int] = Counter()
        total = 0
        for ids in documents:
            frequency.update(np.unique(ids).tolist())
            total += 1
        table = np.array(sorted(frequency.items()), dtype=np.int64).reshape(-1, 2)
        return cls(total, table[:, 0].copy(), table[:, 1].copy())

    @classmethod
    def pool(cls, parts: "Sequence[IdfTable]") -> "IdfTable":
        """Return the table of all parts together."""
        ids = np.concatenate([part.ids for part in parts])
        known, positions = np.unique(ids, return_inverse=True)
        counts = np.zeros(len(known), dtype=np.int64)
        np.add.at(counts, positions, np.concatenate([part.counts for part in parts]))
        return cls(sum(part.documents for part in parts), known, counts)

    def weights(self, ids: Ints, *, plus_one: bool = False) -> Floats:
        """Return the idf of every id."""
        frequency = np.zeros(len(ids))
        if len(self.ids):
            positions = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
            known = self.ids[positions] == ids
            frequency[known] = self.counts[positions[known]]
        ratio = (self.documents + 1) / (frequency + 1)
        return np.asarray(np.log1p(ratio) if plus_one else np.log(ratio))

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that differ when the tables differ."""
        arrays = (array.astype("<i8").tobytes() for array in (self.ids, self.counts))
        content = b"".join([str(self.documents).encode(), *arrays])
        return hashlib.blake2b(content, digest_size=6).hexdigest()
