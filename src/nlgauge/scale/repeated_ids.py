"""Detection of repeated ids: workers compare sorted digests, one range of digests at a time.

Every block of the input writes the digests of its ids in sorted runs, with the row of each:

    ids-000012-0000         64-bit digests of system and id, then 32-bit rows within the block
    segments-000012-0000    the same for ids with references, if tables are fitted
    ids-repeats-000003.npy  rows of the fourth range of digests that occur before, by block

The probability of a collision among 100 million digests is 1 in 3,700.
"""

import hashlib
import io
import json
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.errors import FileError
from nlgauge.data.text_rows import Row
from nlgauge.scale.run_folder import NOT_SHARED, explain_errors, replace_file

Kind = Literal["ids", "segments"]
_RANGE_ROWS = 1 << 22  # digests in a run and in a range, for which a worker needs about 150 MB
_ROW_BITS = 32
_ROW_BYTES = 12


@dataclass(frozen=True)
class Repeats:
    """The rows of all blocks with an id, or a segment, that occurs before."""

    files: tuple[Path, ...] = ()
    first: tuple[int, int] | None = field(default=None, compare=False)  # block and row

    def among(self, block: int, first: int, length: int) -> frozenset[int]:
        """Return which rows of a range in a block are repeated, counted from its first row."""
        start = _keys(block, first)
        rows: set[int] = set()
        for file in self.files:
            keys = np.load(_check_exists(file), mmap_mode="r")
            low, high = np.searchsorted(keys, [start, start + np.uint64(length)])
            rows.update((keys[low:high] - start).tolist())
        return frozenset(rows)


class DigestWriter:
    """Writes digests of the ids or segments of a block in sorted runs of limited length."""

    def __init__(self, folder: Path, kind: Kind, block: int) -> None:
        self.runs = 0
        self._folder, self._kind, self._block = folder, kind, block
        self._digests, self._rows = bytearray(), array("L")

    def add(self, rows: Iterable[tuple[int, Row]]) -> None:
        """Add rows with their numbers in the block."""
        for number, row in rows:
            self._digests += _digest(self._kind, row)
            self._rows.append(number)
        if len(self._rows) >= _RANGE_ROWS:
            self.write()

    def write(self) -> None:
        """Write the digests that were added since the last run."""
        if self._rows:
            digests = np.frombuffer(bytes(self._digests), dtype="<u8")
            order = np.argsort(digests, kind="stable")
            file = _run_file(self._folder, self._kind, self._block, self.runs)
            with explain_errors(self._folder):
                self._folder.mkdir(exist_ok=True)
                rows = np.array(self._rows, dtype="<u4")[order]
                replace_file(file, [digests[order].tobytes(), rows.tobytes()])
            self.runs += 1
            self._digests, self._rows = bytearray(), array("L")


def _digest(kind: Kind, row: Row) -> bytes:
    value = [row.system, row.id] if kind == "ids" else [row.id, row.references]
    return hashlib.blake2b(json.dumps(value).encode(), digest_size=8).digest()


def _run_file(folder: Path, kind: Kind, block: int, run: int) -> Path:
    return folder / f"{kind}-{block:06d}-{run:04d}"


@dataclass(frozen=True)
class DigestRange:
    """A range of the digests of all blocks, for finding repeated ones."""

    folder: Path
    kind: Kind
    runs: tuple[int, ...]  # of every block
    number: int
    ranges: int
    excluded: Repeats = field(default_factory=Repeats)  # rows that are left out

    @property
    def name(self) -> str:
        """The number of the range, for messages."""
        return f"range {self.number} of {self.kind}"

    def find_repeats(self) -> Repeats:
        """Write the keys of the repeated rows, if there are any, to a file."""
        read = [self._read(block, run) for block, n in enumerate(self.runs) for run in range(n)]
        digests = np.concatenate([digests for digests, _ in read])
        keys = np.concatenate([keys for _, keys in read])
        order = np.argsort(digests, kind="stable")  # among equal digests, the first row comes first
        ordered = digests[order]
        repeated = np.sort(keys[order[1:][ordered[1:] == ordered[:-1]]])
        if not len(repeated):
            return Repeats()
        file = self.folder / f"{self.kind}-repeats-{self.number:06d}.npy"
        content = io.BytesIO()
        np.save(content, repeated)
        with explain_errors(self.folder):
            replace_file(file, [content.getvalue()])
        block, row = divmod(int(repeated[0]), 1 << _ROW_BITS)
        return Repeats((file,), (block, row))

    def _read(self, block: int, run: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """The digests of a run in the range, and the keys of their rows."""
        file = _check_exists(_run_file(self.folder, self.kind, block, run))
        length = file.stat().st_size // _ROW_BYTES
        digests = np.memmap(file, "<u8", "r", shape=(length,))
        rows = np.memmap(file, "<u4", "r", offset=8 * length, shape=(length,))
        bounds = ((n << 64) // self.ranges for n in (self.number, self.number + 1))
        low, high = (
            length if bound >> 64 else np.searchsorted(digests, np.uint64(bound))
            for bound in bounds
        )
        selected, keys = np.array(digests[low:high]), _keys(block, rows[low:high])
        if self.excluded.files:
            left_out = sorted(self.excluded.among(block, 0, 1 << _ROW_BITS))
            unique = ~np.isin(keys, _keys(block, np.array(left_out, dtype=np.uint64)))
            selected, keys = selected[unique], keys[unique]
        return selected, keys


def digest_ranges(
    folder: Path, kind: Kind, runs: tuple[int, ...], rows: int, excluded: Repeats | None = None
) -> Iterator[DigestRange]:
    """Yield the ranges for the digests of ``rows`` rows; none if no block has digests."""
    ranges = -(-rows // _RANGE_ROWS)
    for number in range(ranges if any(runs) else 0):
        yield DigestRange(folder, kind, runs, number, ranges, excluded or Repeats())


def find_repeats(_: object, task: DigestRange) -> Repeats:
    """Return the repeated rows of a range of digests."""
    return task.find_repeats()


def join_repeats(found: Iterable[Repeats]) -> Repeats:
    """Return the repeats of all ranges."""
    listed = list(found)
    firsts = [each.first for each in listed if each.first is not None]
    files = tuple(file for each in listed for file in each.files)
    return Repeats(files, min(firsts, default=None))


def _keys(block: int, rows: Any) -> NDArray[np.uint64]:
    keys: NDArray[np.uint64] = np.asarray(rows, dtype=np.uint64) + np.uint64(block << _ROW_BITS)
    return keys


def _check_exists(file: Path) -> Path:
    if not file.exists():
        raise FileError(NOT_SHARED.format(str(file)))
    return file
