"""Part: consecutive rows of the input, named by their content; the unit of work and resumption."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import FileError
from nlgauge.data.input_ranges import InputRange, Place
from nlgauge.data.text_rows import Rejected, Row, to_corpus
from nlgauge.scale.repeated_ids import Repeats

CHANGED = "an input file was changed while it was read; use another folder and start over"
_MAX_CHARACTERS = 50_000_000  # limits the memory of a part with very long texts
_MAX_GROWTH = 4  # factor by which a part may exceed its size to keep the rows of a segment together


@dataclass(frozen=True)
class Part:
    """Rows of the input, and the rejected rows among them."""

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
        """The rows as a corpus."""
        return to_corpus(self.rows)


def cut_parts(
    stream: Iterable[tuple[Place, Row | Rejected]], size: int
) -> Iterator[tuple[Place, list[Row | Rejected]]]:
    """Yield about ``size`` rows at a time with their place, keeping segments together."""
    batch: list[Row | Rejected] = []
    begin = before = Place(0, ())
    characters = 0
    for place, row in stream:
        full = len(batch) >= size or characters >= _MAX_CHARACTERS
        if full and place == before:  # rows of the same line always stay together
            full = False
        if full and (len(batch) >= _MAX_GROWTH * size or _segment(batch[-1]) != _segment(row)):
            yield begin, batch
            batch, characters = [], 0
        begin, before = begin if batch else place, place
        batch.append(row)
        if isinstance(row, Row):
            characters += len(row.candidate) + sum(map(len, row.references))
            characters += len(row.source or "")
    if batch:
        yield begin, batch


def _segment(row: Row | Rejected) -> object:
    return row.id if isinstance(row, Row) else row


def form_part(
    number: int,
    batch: Sequence[Row | Rejected],
    repeated: Collection[int] = (),
    known_segments: Collection[int] | None = None,
) -> Part:
    """Return the part of these rows, without those at the indices ``repeated``.

    The references of rows at the indices ``known_segments`` occur before; None marks no segments.
    """
    rejected = [row for row in batch if isinstance(row, Rejected)]
    accepted: dict[int, Row] = {}
    for i, row in enumerate(batch):
        if isinstance(row, Row) and i not in repeated:
            accepted[i] = row
        elif isinstance(row, Row):
            reason = f"segment id {row.id!r} occurs before for system {row.system!r}"
            rejected.append(Rejected(row.place, f"{reason}; ids must be unique within a system"))
    new: frozenset[int] = frozenset()
    if known_segments is not None:
        new = frozenset(at for at, i in enumerate(accepted) if i not in known_segments)
    return Part(number, tuple(accepted.values()), tuple(rejected), new)


@dataclass(frozen=True)
class PartRange:
    """Consecutive parts of a block."""

    number: int  # of the first part
    span: InputRange  # begins with it
    counts: Mapping[str, int]  # rows of each system before it, if these are their ids
    rows: tuple[int, ...]  # of each part
    block: int
    first_row: int  # within the block
    ids: Repeats
    segments: Repeats | None = None  # if tables are fitted

    @property
    def name(self) -> str:
        """The numbers of the parts, for messages."""
        last = self.number + len(self.rows) - 1
        return f"part {self.number}" + f" to {last}" * (last > self.number)

    def read(self) -> Iterator[Part]:
        """Yield the parts."""
        stream = (row for _, row in self.span.rows(Counter(self.counts)))
        first = self.first_row
        for number, length in enumerate(self.rows, self.number):
            batch = list(islice(stream, length))
            if len(batch) < length:
                raise FileError(CHANGED)
            repeated = self.ids.among(self.block, first, length)
            known = None
            if self.segments is not None:
                known = self.segments.among(self.block, first, length)
            yield form_part(number, batch, repeated, known)
            first += length
