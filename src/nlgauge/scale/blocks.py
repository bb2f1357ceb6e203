"""Blocks: ranges of the input files that workers read and check before anything is scored."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.errors import NlgaugeError
from nlgauge.data.csv_records import quoted_at_stop
from nlgauge.data.files import explain_errors, is_compressed, open_bytes, open_file
from nlgauge.data.input_ranges import InputRange, Place
from nlgauge.data.text_rows import Rejected, Row
from nlgauge.scale.parts import cut_parts
from nlgauge.scale.repeated_ids import DigestWriter, Kind
from nlgauge.scale.run_folder import RunFolder


@dataclass(frozen=True)
class Bytes:
    """A range of the bytes of a file as stored."""

    path: str
    start: int
    stop: int
    csv: bool = False  # whether quotation marks matter


@dataclass(frozen=True)
class Scan:
    """Properties of a range of bytes that are known without parsing its rows."""

    sha256: bytes
    lines: int  # that begin in the range
    # Whether a quoted field is open at the end, if none or one is open at the start.
    quoted: tuple[bool, bool]


@dataclass(frozen=True)
class FilesTask:
    """Ranges of bytes, or tables, for one worker."""

    items: tuple[Any, ...]
    size: int = 0  # of the ranges into which tables are divided

    @property
    def name(self) -> str:
        """The description of the task in messages."""
        return "the input files"


def scan_bytes(_: object, task: FilesTask) -> list[Scan]:
    """Return the scan of every range."""
    return [_scan(each) for each in task.items]


def divide_tables(_: object, task: FilesTask) -> list[list[InputRange]]:
    """Return the spans of every table."""
    return [list(table.divide(task.size)) for table in task.items]


def _scan(span: Bytes) -> Scan:
    before = min(span.start, 1)  # the previous byte, which may end a line
    with explain_errors(span.path), open_file(span.path) as content:
        content.seek(span.start - before)
        data = content.read(span.stop - span.start + before)
    lines = data.count(b"\n", 0, -1) + (not before)
    quoted = False, True
    if span.csv and not is_compressed(span.path):
        with open_bytes(span.path) as content:
            quoted = quoted_at_stop(content, span.start, span.stop)
    return Scan(hashlib.sha256(memoryview(data)[before:]).digest(), lines, quoted)


@dataclass(frozen=True)
class Block:
    """A range of the input, and which digests of its rows to write."""

    number: int
    span: InputRange
    folder: RunFolder
    part_rows: int
    counts: Counter[str] | None  # rows of each system before it, if they are known
    kinds: tuple[Kind, ...]  # of digests that are written

    @property
    def name(self) -> str:
        """The input file, for messages."""
        return f"block {self.number}, in {self.span.label}"


@dataclass(frozen=True)
class BlockIndex:
    """The parts of a block, and errors in its rows."""

    counts: Counter[str]  # rows of each system in the block
    parts: NDArray[np.int64]  # rows, line and offsets of every part
    counts_before: list[Mapping[str, int]]  # rows of each system before every part in the block
    runs: int  # of digests
    rejected: Rejected | None  # the first one
    sources: set[bool]
    unreferenced: str | None  # place of the first row without references
    error: NlgaugeError | None


def index_block(_: object, block: Block) -> BlockIndex:
    """Read and check the rows of a block, divide them into parts, and write digests of ids."""
    counts = Counter(block.counts or {})
    digests = [DigestWriter(block.folder.scratch, kind, block.number) for kind in block.kinds]
    places: list[tuple[int, Place]] = []
    sources: set[bool] = set()
    rejected = unreferenced = error = None
    length = 0
    try:
        for place, batch in cut_parts(block.span.rows(counts), block.part_rows):
            accepted = [(i, row) for i, row in enumerate(batch, length) if isinstance(row, Row)]
            for each in digests:
                each.add(accepted)
            sources.update(row.source is not None for _, row in accepted)
            without = (row.place for _, row in accepted if not row.references)
            unreferenced = unreferenced or next(without, None)
            wrong = (row for row in batch if isinstance(row, Rejected))
            rejected = rejected or next(wrong, None)
            places.append((len(batch), place))
            length += len(batch)
            if block.folder.stop_requested():
                break
    except NlgaugeError as raised:  # raised later, in the order of the input
        error = raised
    for each in digests:
        each.write()
    parts = [(length, place.line, *place.offsets) for length, place in places]
    before = [place.counts for _, place in places] if block.span.numbered else []
    runs = max((each.runs for each in digests), default=0)
    index = np.array(parts, np.int64)
    return BlockIndex(counts, index, before, runs, rejected, sources, unreferenced, error)
