"""Part: consecutive rows of a stream, named by their content; the unit of work and of recovery."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.arrays import Bools
from nlgauge.core.corpus import Corpus
from nlgauge.data.text_rows import Rejected, Row

_MAX_CHARACTERS = 50_000_000  # bounds the memory that a part of very long texts takes
_MAX_GROWTH = 4  # times its size that a part may reach to keep the rows of a segment together


@dataclass(frozen=True)
class Part:
    """Rows of a stream, and the rejected rows among them."""

    number: int
    rows: tuple[Row, ...]
    rejected: tuple[Rejected, ...]
    # Indices of the first row of each segment; corpus tables are fitted on their references.
    new_segments: frozenset[int] = field(default=frozenset(), compare=False)

    def __len__(self) -> int:
        return len(self.rows) + len(self.rejected)

    @cached_property
    def name(self) -> str:
        """The part's number and a digest of its content, independent of file paths."""
        content = [
            (row.system, row.id, row.candidate, row.references)
            + (() if row.source is None else (row.source,))
            for row in self.rows
        ]
        encoded = json.dumps([content, [row.reason for row in self.rejected]]).encode()
        return f"part-{self.number:06d}-{hashlib.sha256(encoded).hexdigest()[:16]}"

    @property
    def corpus(self) -> Corpus:
        """The rows as a corpus; the reader has validated them."""
        return Corpus.from_rows(
            (row.candidate, row.references, row.system, row.id, row.source) for row in self.rows
        )


def split_into_parts(
    stream: Iterable[Row | Rejected], size: int, *, mark_new_segments: bool = False
) -> Iterator[Part]:
    """Yield parts of about ``size`` rows, in order, with adjacent rows of a segment together."""
    ids, segments = IdSet(), IdSet()
    for number, batch in enumerate(_batches(stream, size)):
        rows = [row for row in batch if isinstance(row, Row)]
        rejected = [row for row in batch if isinstance(row, Rejected)]
        unique = ids.add([row.system, row.id] for row in rows)
        for row in compress(rows, ~unique):
            reason = f"segment id {row.id!r} occurs before for system {row.system!r}"
            rejected.append(Rejected(row.place, f"{reason}; ids must be unique within a system"))
        kept = list(compress(rows, unique))
        new = segments.add([row.id, row.references] for row in kept) if mark_new_segments else ()
        indices = frozenset(np.flatnonzero(new).tolist())
        yield Part(number, tuple(kept), tuple(rejected), indices)


def _batches(stream: Iterable[Row | Rejected], size: int) -> Iterator[Sequence[Row | Rejected]]:
    batch: list[Row | Rejected] = []
    characters = 0
    for row in stream:
        full = len(batch) >= size or characters >= _MAX_CHARACTERS
        if full and (len(batch) >= _MAX_GROWTH * size or _segment(batch[-1]) != _segment(row)):
            yield batch
            batch, characters = [], 0
        batch.append(row)
        if isinstance(row, Row):
            characters += len(row.candidate) + sum(map(len, row.references))
            characters += len(row.source or "")
    if batch:
        yield batch


def _segment(row: Row | Rejected) -> object:
    return row.id if isinstance(row, Row) else row


class IdSet:
    """A set of JSON values as 64-bit digests; two among 100 million collide once in 3,700 runs."""

    def __init__(self) -> None:
        self._arrays: list[NDArray[np.uint64]] = []  # sorted, each at least twice the next's length

    def add(self, values: Iterable[object]) -> Bools:
        """Add the values and return which of them occur for the first time."""
        texts = (json.dumps(value).encode() for value in values)
        digests = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts)
        keys, first = np.unique(np.frombuffer(digests, dtype="<u8"), return_index=True)
        known = np.zeros(len(keys), dtype=bool)
        for array in self._arrays:
            places = np.minimum(np.searchsorted(array, keys), len(array) - 1)
            known |= array[places] == keys
        new = np.zeros(len(digests) // 8, dtype=bool)
        new[first[~known]] = True
        array = keys[~known]
        while len(array) and self._arrays and len(self._arrays[-1]) < 2 * len(array):
            array = np.concatenate([self._arrays.pop(), array])
            array.sort(kind="stable")  # merges sorted runs in one pass
        if len(array):
            self._arrays.append(array)
        return new
