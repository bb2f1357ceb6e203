"""Part: some rows of a stream, named by what they hold, and the unit of work and of repair."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from nlgauge.core.corpus import Corpus
from nlgauge.data.streams import Rejected, Row
from nlgauge.scale.duplicate_ids import Seen

_MOST_CHARACTERS = 50_000_000  # a part of very long texts is cut early, or memory would grow
_STRETCH = 4  # sizes that a part may grow to for the sake of one segment


@dataclass(frozen=True)
class Part:
    """Rows with their number in the stream, and the rows among them that cannot be scored."""

    number: int
    rows: tuple[Row, ...]
    rejected: tuple[Rejected, ...]
    fresh: frozenset[int] = field(default=frozenset(), compare=False)
    """Rows whose segment was not met before, on which tables are fitted."""

    @cached_property
    def name(self) -> str:
        """The part's number and the start of a digest of its content, wherever the files lie."""
        content = [(row.system, row.id, row.candidate, row.references) for row in self.rows]
        encoded = json.dumps([content, [row.reason for row in self.rejected]]).encode()
        return f"part-{self.number:06d}-{hashlib.sha256(encoded).hexdigest()[:16]}"

    @property
    def corpus(self) -> Corpus:
        """The rows as a corpus; they were checked when they were read."""
        return Corpus(
            tuple(row.candidate for row in self.rows),
            tuple(row.references for row in self.rows),
            tuple(row.system for row in self.rows),
            tuple(row.id for row in self.rows),
        )


def cut(found: Iterable[Row | Rejected], size: int, *, mark_fresh: bool = False) -> Iterator[Part]:
    """Parts of about ``size`` rows, in order; rows of one segment that follow each other stay.

    A row whose id its system had before is rejected. ``mark_fresh`` marks the first row of every
    segment, so that tables count its references once.
    """
    ids, segments = Seen(), Seen()
    for number, batch in enumerate(_batches(found, size)):
        rows = [row for row in batch if isinstance(row, Row)]
        rejected = [row for row in batch if isinstance(row, Rejected)]
        admitted = ids.admit([row.system, row.id] for row in rows)
        rejected += [_doubled(rows[i]) for i in np.flatnonzero(~admitted)]
        kept = [rows[i] for i in np.flatnonzero(admitted)]
        new = segments.admit([row.id, row.references] for row in kept) if mark_fresh else ()
        fresh = frozenset(np.flatnonzero(new).tolist())
        yield Part(number, tuple(kept), tuple(rejected), fresh)


def _batches(found: Iterable[Row | Rejected], size: int) -> Iterator[Sequence[Row | Rejected]]:
    batch: list[Row | Rejected] = []
    characters = 0
    for one in found:
        full = len(batch) >= size or characters >= _MOST_CHARACTERS
        if full and (len(batch) >= _STRETCH * size or not _same_segment(batch[-1], one)):
            yield batch
            batch, characters = [], 0
        batch.append(one)
        if isinstance(one, Row):
            characters += len(one.candidate) + sum(map(len, one.references))
    if batch:
        yield batch


def _same_segment(one: Row | Rejected, other: Row | Rejected) -> bool:
    return isinstance(one, Row) and isinstance(other, Row) and one.id == other.id


def _doubled(row: Row) -> Rejected:
    reason = f"segment id {row.id!r} occurs before for system {row.system!r}"
    return Rejected(row.place, f"{reason}; ids must be unique within a system")
