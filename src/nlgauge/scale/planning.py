"""Plan of a run: the division of the input into blocks and parts.

Workers read the rows; the driver only receives sizes, digests and counts.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.errors import DataError, FileError
from nlgauge.data.files import file_size
from nlgauge.data.input_ranges import InputRange, Place, TableRange
from nlgauge.data.systems import InputFiles
from nlgauge.data.text_rows import Rejected
from nlgauge.scale.blocks import (
    Block,
    BlockIndex,
    Bytes,
    FilesTask,
    Scan,
    divide_tables,
    index_block,
    scan_bytes,
)
from nlgauge.scale.engine import Engine
from nlgauge.scale.parts import PartRange
from nlgauge.scale.repeated_ids import Kind, Repeats, digest_ranges, find_repeats, join_repeats
from nlgauge.scale.run_folder import RunFolder
from nlgauge.scale.signals import SignalHandler

_FILES_PER_TASK = 64
_MIN_TASKS_PER_WORKER = 4
_SOME_SOURCES = (
    "some rows up to {} have a source and others have none; a metric reads the sources, so give "
    "them for all rows or for none"
)
_NO_REFERENCES = (
    "{} needs references, but {} has none: give -r FILE, a column 'references' (or --columns "
    "reference=COLUMN)"
)


@dataclass(frozen=True)
class InputScan:
    """Sizes and digests of the input files, block by block."""

    inputs: InputFiles
    block_bytes: int
    scans: Mapping[str, Sequence[Scan]]
    sizes: Mapping[str, int]

    @classmethod
    def of(cls, engine: Engine[Any], inputs: InputFiles, block_bytes: int) -> "InputScan":
        """Scan the files."""
        sizes = {path: file_size(path) for path in inputs.paths()}
        csv = {span.label for _, spans in inputs.ranges() for span in spans if _is_csv(span)}
        ranges = [
            Bytes(path, start, min(start + block_bytes, size), path in csv and size > block_bytes)
            for path, size in sizes.items()
            for start in range(0, max(size, 1), block_bytes)
        ]
        scans: dict[str, list[Scan]] = {path: [] for path in sizes}
        tasks = [FilesTask(tuple(group)) for group in _groups(ranges, block_bytes)]
        scanned = (scan for listed in engine.run_in_order(scan_bytes, tasks) for scan in listed)
        for file_range, scan in zip(ranges, scanned, strict=True):
            scans[file_range.path].append(scan)
        return cls(inputs, block_bytes, scans, sizes)

    @property
    def digests(self) -> list[dict[str, str | int]]:
        """Name without folders, size and digest of every file.

        The digest is the SHA-256 of the file if it is one block, else of the digests of its blocks.
        """
        digests: list[dict[str, str | int]] = []
        for path in self.inputs.paths():
            blocks = [scan.sha256 for scan in self.scans[path]]
            digest = blocks[0] if len(blocks) == 1 else hashlib.sha256(b"".join(blocks)).digest()
            size = self.sizes[path]
            digests.append({"name": Path(path).name, "bytes": size, "sha256": digest.hex()})
        return digests

    def spans(self, engine: Engine[Any]) -> Iterator[tuple[str, list[InputRange]]]:
        """Yield every candidate path with the ranges of its files for workers."""
        files = self.inputs.ranges()
        if not self.inputs.tabular:
            yield from files
            return
        tables = [span for _, spans in files for span in spans]
        starts = range(0, len(tables), _FILES_PER_TASK)
        groups = (tuple(tables[i : i + _FILES_PER_TASK]) for i in starts)
        tasks = (FilesTask(group, self.block_bytes) for group in groups)
        divided = (each for group in engine.run_in_order(divide_tables, tasks) for each in group)
        for path, spans in files:
            yield path, [span for _ in spans for span in self._locate(next(divided))]

    def _locate(self, spans: Sequence[InputRange]) -> Iterator[InputRange]:
        """Yield ranges of lines with the number of lines before them and their quoting state."""
        line, quoted = 0, False
        for i, span in enumerate(spans):
            if isinstance(span, TableRange) and span.seekable and span.form != "parquet":
                yield replace(span, line=line, quoted=quoted)
                scan = self.scans[span.label][i]
                line, quoted = line + scan.lines, _is_csv(span) and scan.quoted[quoted]
            else:
                yield span


def _is_csv(span: InputRange) -> bool:
    return isinstance(span, TableRange) and span.form == "csv"


def _groups(ranges: Sequence[Bytes], size: int) -> Iterator[list[Bytes]]:
    """Yield consecutive ranges of about ``size`` bytes together."""
    group: list[Bytes] = []
    for file_range in ranges:
        group.append(file_range)
        if len(group) == _FILES_PER_TASK or sum(one.stop - one.start for one in group) >= size:
            yield group
            group = []
    if group:
        yield group


@dataclass(frozen=True)
class _IndexedBlock:
    """A span of the input and its parts."""

    span: InputRange
    counts: Mapping[str, int]  # rows of each system before it, if these are their ids
    parts: NDArray[np.int64]  # rows, line and offsets of every part
    counts_before: Sequence[Mapping[str, int]]  # rows of each system before every part


@dataclass
class Plan:
    """The blocks of the input, their parts, and the rows whose ids are repeated."""

    folder: RunFolder
    blocks: list[_IndexedBlock]
    runs: list[int]  # of digests of every block
    ids: Repeats
    rows: int = 0
    parts: int = 0

    @classmethod
    def of(
        cls,
        engine: Engine[Any],
        scan: InputScan,
        folder: RunFolder,
        part_rows: int,
        *,
        segments: bool,
        stop_at_rejected: bool,
        equal_sources: bool,
        references_for: str | None,
        signals: SignalHandler,
        report: Callable[[int], None],
    ) -> "Plan":
        """Let workers read and check all rows; raise the first error in the order of the input.

        ``references_for`` is a metric that needs references, if there is one.
        """
        kinds: tuple[Kind, ...] = ("ids", "segments") if segments else ("ids",)
        plan, counts, sources = cls(folder, [], [], Repeats()), Counter[str](), set[bool]()
        files = list(scan.spans(engine))
        spans = [(at, span) for at, (_, spans) in enumerate(files) for span in spans]
        rows = [0] * len(files)
        tasks = (
            Block(i, span, folder, part_rows, None, () if span.numbered else kinds)
            for i, (_, span) in enumerate(spans)
        )
        indexes = engine.run_in_order(index_block, signals.until_signal(tasks))
        for (at, span), index in zip(spans, indexes, strict=False):
            sources |= index.sources
            if index.error is not None:
                raise index.error
            if index.rejected is not None and stop_at_rejected:
                raise rejection(index.rejected)
            if index.unreferenced is not None and references_for is not None:
                raise DataError(_NO_REFERENCES.format(references_for, index.unreferenced))
            if equal_sources and len(sources) == 2:
                raise DataError(_SOME_SOURCES.format(span.label))
            rows[at] += plan._add(span, index, counts)
            report(plan.rows)
        signals.raise_if_interrupted("")
        for (path, _), length in zip(files, rows, strict=True):
            scan.inputs.check_rows(path, length)
        plan._write_numbered(engine, part_rows, kinds)
        plan.ids = plan._find_repeats(engine, "ids")
        if plan.ids.first is not None and stop_at_rejected:
            raise rejection(plan._find_first_repeated())
        return plan

    def _add(self, span: InputRange, index: BlockIndex, counts: Counter[str]) -> int:
        """Add a block and return the number of its rows."""
        base = dict(counts) if span.numbered else {}
        self.blocks.append(_IndexedBlock(span, base, index.parts, index.counts_before))
        self.runs.append(index.runs)
        rows = int(index.parts[:, 0].sum()) if len(index.parts) else 0
        self.rows += rows
        self.parts += len(index.parts)
        counts.update(index.counts)
        return rows

    def _write_numbered(self, engine: Engine[Any], part_rows: int, kinds: tuple[Kind, ...]) -> None:
        """Write the digests of blocks with row numbers as ids, which are known now.

        If all ids are row numbers, they are unique, and only segments are written.
        """
        numbered = [i for i, block in enumerate(self.blocks) if block.span.numbered]
        if len(numbered) == len(self.blocks) and "segments" not in kinds:
            return
        tasks = (
            Block(i, block.span, self.folder, part_rows, Counter(block.counts), kinds)
            for i, block in ((i, self.blocks[i]) for i in numbered)
        )
        for i, index in zip(numbered, engine.run_in_order(index_block, tasks), strict=True):
            self.runs[i] = index.runs

    def _find_repeats(
        self, engine: Engine[Any], kind: Kind, excluded: Repeats | None = None
    ) -> Repeats:
        runs = tuple(self.runs)
        ranges = digest_ranges(self.folder.scratch, kind, runs, self.rows, excluded)
        return join_repeats(engine.run(find_repeats, ranges))

    def repeated_segments(self, engine: Engine[Any]) -> Repeats:
        """Return the rows with a new id and references that occur before."""
        return self._find_repeats(engine, "segments", self.ids)

    def _find_first_repeated(self) -> Rejected:
        """Return the first row with a repeated id."""
        number, row = self.ids.first or (0, 0)
        block = self.blocks[number]
        part = int(np.searchsorted(np.cumsum(block.parts[:, 0]), row, side="right"))
        first_part = next(self._range(number, 0, slice(part, part + 1), None).read())
        return first_part.rejected[0]

    def ranges(
        self, size: Callable[[], int], workers: int, segments: Repeats | None = None
    ) -> Iterator[PartRange]:
        """Yield all parts in ranges within a block, with ``size()`` parts each.

        Ranges are longer in files that have to be read from the start for every range.
        """
        share = -(-self.parts // (_MIN_TASKS_PER_WORKER * workers))
        number = 0
        for i, block in enumerate(self.blocks):
            first = 0
            while first < len(block.parts):
                length = max(size(), 1 if block.span.seekable else share)
                part = slice(first, min(first + length, len(block.parts)))
                yield self._range(i, number, part, segments)
                first, number = part.stop, number + part.stop - part.start

    def _range(self, i: int, number: int, part: slice, segments: Repeats | None) -> PartRange:
        block = self.blocks[i]
        _, line, *offsets = block.parts[part.start].tolist()
        counts = Counter(block.counts)
        if block.span.numbered:
            counts.update(block.counts_before[part.start])
        return PartRange(
            number=number,
            span=block.span.begin(Place(line, tuple(offsets))),
            counts=dict(counts),
            rows=tuple(block.parts[part, 0].tolist()),
            block=i,
            first_row=int(block.parts[: part.start, 0].sum()),
            ids=self.ids,
            segments=segments,
        )


def rejection(row: Rejected) -> FileError:
    """Return the error for a row that stops the run."""
    hint = "To score the other rows, and list those left out, use --on-error skip"
    return FileError(f"{row.place}: {row.reason}. {hint}")
