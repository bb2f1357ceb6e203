"""The store: records by key in a folder, for as long as they are sound and there is room.

Nothing that goes wrong with a cache may cost a score: what cannot be read is recomputed, what
cannot be written is not kept, and either is said once.
"""

from __future__ import annotations

import sqlite3
import threading
import time
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from nlgauge.core.errors import FileError
from nlgauge.encode.cache.index import Holding, Index, IndexDamaged, NewerFormat
from nlgauge.encode.cache.place import size_limit
from nlgauge.encode.cache.shards import (
    ENDING,
    SMALL_BYTES,
    UNFINISHED,
    Array,
    Damaged,
    Record,
    Shard,
    Written,
    field_list,
    read_shard,
    shard_paths,
    write_shard,
)

INDEX = "nlgauge-cache.sqlite"
SHARDS = "shards"
_SHARD_BYTES = 64_000_000  # a shard is begun anew beyond this
_SMALL_SHARDS = 32  # so many small shards of a kind are made one
_OPEN_SHARDS = 64
_TOUCH_SECONDS = 5.0
_STALE_SECONDS = 3600.0  # an unfinished file this old has nobody who will finish it

_TROUBLE = (OSError, sqlite3.Error, IndexDamaged, NewerFormat)

Answer = TypeVar("Answer")


class CacheNote(UserWarning):
    """Something about the cache that its user should know, but that stops nothing."""


@dataclass(frozen=True)
class Checked:
    """What a check of the whole cache found: sound shards, and what was done about the others."""

    sound: int
    dropped: tuple[str, ...]
    missing: tuple[str, ...]
    adopted: tuple[str, ...]
    index_rebuilt: bool

    @property
    def clean(self) -> bool:
        """Whether nothing had to be dropped or made anew."""
        return not (self.dropped or self.missing or self.index_rebuilt)


@lru_cache(maxsize=16)
def open_store(folder: Path) -> Store:
    """The store of a folder, one in a process, so that shards are checked only once."""
    return Store(folder)


class Store:
    """Records of any number of spaces; ``about`` is the text that tells spaces apart."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._shards = folder / SHARDS
        self._index = Index(folder / INDEX)
        self._lock = threading.RLock()
        self._open: OrderedDict[str, Shard] = OrderedDict()
        self._sound: set[tuple[str, int, int]] = set()
        self._broken: set[str] = set()  # which a read-only folder keeps
        self._rebuilds = 0
        self._said: set[str] = set()
        self._writes = True
        self._first_write = True
        self._touched = _Touched(self._index)

    def read(
        self, about: str, keys: Sequence[bytes], fields: Iterable[str]
    ) -> dict[bytes, dict[str, Array]]:
        """The fields that are there of each key; keys of which there is nothing are left out."""
        wanted = frozenset(fields)
        with self._lock:
            places = self._ask(lambda: self._index.find(about, keys)) or {}
            found: dict[bytes, dict[str, Array]] = {}
            for key, shards in places.items():
                for name, held in shards:
                    record = found.setdefault(key, {})
                    if not (wanted - record.keys()) & set(held.split()):
                        continue
                    shard = self._shard(name)
                    if shard is not None and shard.about == about and key in shard.rows:
                        record |= shard.record(key, wanted)
                        self._touched.times[name] = time.time_ns()
            return {key: record for key, record in found.items() if record}

    def count(self, about: str, hits: int, misses: int) -> None:
        """Remember how many keys were found and how many not; it is written down now and then."""
        with self._lock:
            self._touched.count(about, hits, misses)
            if time.monotonic() - self._touched.since > _TOUCH_SECONDS:
                self._touched.write()

    def write(self, about: str, records: Mapping[bytes, Record]) -> None:
        """Keep records, all with the same fields, and make room for them if need be."""
        if not records or not self._writes:
            return
        with self._lock, self._forgive_writing():
            self._shards.mkdir(parents=True, exist_ok=True)
            if self._first_write:
                self._tidy()
                self._first_write = False
            small = self._small(about, field_list(next(iter(records.values()))))
            merged = {**self._records(small), **records}
            written = [write_shard(self._shards, about, part) for part in _portions(merged)]
            kept = {shard.name for shard in written}
            self._broken -= kept
            merged_away = [name for name in small if name not in kept]
            gone = self._mended(
                lambda: self._index.change(
                    add=written,
                    drop=merged_away,
                    used=self._touched.times,
                    counts=self._touched.counts,
                    limit=size_limit(),
                )
            )
            self._touched.forget()
            self._remove([*merged_away, *gone])

    def holdings(self) -> list[Holding]:
        """What is there, space by space."""
        with self._lock, self._refuse():
            self._touched.write()
            return self._mended(self._index.holdings)

    def clear(self) -> int:
        """Delete all that is the cache's, and nothing else; the number of shards deleted."""
        with self._lock, self._refuse():
            with suppress(IndexDamaged):
                self._index.names()  # a newer format is not ours to delete
            self._index.remove()
            self._open.clear()
            paths = list(shard_paths(self._shards))
            for path in [*paths, *self._shards.glob(f"*{UNFINISHED}")]:
                path.unlink(missing_ok=True)
            for folder in (self._shards, self.folder):
                with suppress(OSError):  # there is something of the user's in it
                    folder.rmdir()
            return len(paths)

    def verify(self) -> Checked:
        """Check every shard and the index against each other; drop and repair what is unsound."""
        with self._lock, self._refuse():
            self._sound.clear()
            self._open.clear()
            self._broken.clear()
            before = self._rebuilds
            self._mended(self._index.check)
            known = self._mended(self._index.shards)
            there, dropped, adopted = set(), [], []
            for path in shard_paths(self._shards):
                shard = self._shard(path.stem)
                if shard is None:
                    dropped.append(path.stem)
                    continue
                there.add(path.stem)
                if known.get(path.stem) != len(shard.rows):
                    adopted.append(path.stem)
            self._adopt(adopted)
            missing = sorted(known.keys() - there - set(dropped))
            self._drop(missing)
            self._sweep()
            return Checked(
                sound=len(there),
                dropped=tuple(dropped),
                missing=tuple(missing),
                adopted=tuple(adopted),
                index_rebuilt=self._rebuilds > before,
            )

    def _shard(self, name: str) -> Shard | None:
        """An open shard, checked the first time; None where it is gone or had to be dropped."""
        if name in self._open:
            self._open.move_to_end(name)
            return self._open[name]
        if name in self._broken:
            return None
        path = self._shards / f"{name}{ENDING}"
        try:
            status = path.stat()
            seen = (name, status.st_size, status.st_mtime_ns)
            shard = read_shard(path, check=seen not in self._sound)
        except FileNotFoundError:  # another process needed the room
            return None
        except OSError as error:
            self._say(f"cannot be read ({error.strerror}); what it held is computed again")
            return None
        except Damaged:
            self._say("held a damaged shard; it was dropped and is computed again")
            self._broken.add(name)
            self._drop([name])
            return None
        self._sound.add(seen)
        self._open[name] = shard
        if len(self._open) > _OPEN_SHARDS:
            self._open.popitem(last=False)
        return shard

    def _small(self, about: str, fields: str) -> list[str]:
        """Shards to be merged with what is written next: none, or many small ones."""
        names = self._mended(lambda: self._index.small(about, fields, SMALL_BYTES))
        return names if len(names) >= _SMALL_SHARDS else []

    def _records(self, names: Iterable[str]) -> dict[bytes, Record]:
        shards = [shard for name in names if (shard := self._shard(name)) is not None]
        return {
            key: shard.record(key, shard.fields.keys()) for shard in shards for key in shard.rows
        }

    def _adopt(self, names: Sequence[str]) -> None:
        """Enter sound shards that the index does not know, or knows wrongly."""
        found = []
        for name in names:
            if (shard := self._shard(name)) is not None:
                size = (self._shards / f"{name}{ENDING}").stat().st_size
                found.append(Written.of(name, size, shard))
        if found:
            self._index.change(drop=[shard.name for shard in found], add=found)

    def _tidy(self) -> None:
        """Take in shards that a killed process left out of the index, and clear its remains."""
        known = set(self._mended(self._index.names))
        self._adopt([p.stem for p in shard_paths(self._shards) if p.stem not in known])
        self._sweep()

    def _sweep(self) -> None:
        for path in self._shards.glob(f"*{UNFINISHED}"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()

    def _rebuild(self) -> None:
        self._rebuilds += 1
        self._index.remove()
        self._adopt([path.stem for path in shard_paths(self._shards)])

    def _drop(self, names: Sequence[str]) -> None:
        if names:
            with suppress(sqlite3.Error, IndexDamaged):
                self._index.change(drop=names)
            self._remove(names)

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            self._open.pop(name, None)
            with suppress(OSError):  # read-only, or in use on a system that minds
                (self._shards / f"{name}{ENDING}").unlink(missing_ok=True)

    def _mended(self, question: Callable[[], Answer]) -> Answer:
        """The index's answer; a damaged index is made anew from the shards and asked again."""
        try:
            return question()
        except IndexDamaged:
            self._rebuild()
            self._say("had a damaged index; it was made anew from the shards")
            return question()

    def _ask(self, question: Callable[[], Answer]) -> Answer | None:
        """The index's answer, or None and a note where it cannot give one."""
        try:
            return self._mended(question)
        except _TROUBLE as error:
            self._say(f"{_reason(error, 'read')}; scores are computed without it")
            return None

    @contextmanager
    def _forgive_writing(self) -> Iterator[None]:
        """Carry on without writing where the disk is full or must not be written to."""
        try:
            yield
        except _TROUBLE as error:
            self._writes = False
            self._say(f"{_reason(error, 'written to')}; from now on it is only read")

    @contextmanager
    def _refuse(self) -> Iterator[None]:
        """Turn trouble into an error where the cache itself is what the user asked for."""
        try:
            yield
        except _TROUBLE as error:
            raise FileError(f"the cache {str(self.folder)!r} {_reason(error, 'used')}") from error

    def _say(self, what: str) -> None:
        if what not in self._said:
            self._said.add(what)
            warnings.warn(f"the cache {str(self.folder)!r} {what}", CacheNote, stacklevel=2)


class _Touched:
    """What was used since it was last written down; the rest is written as the process ends."""

    def __init__(self, index: Index) -> None:
        self.times: dict[str, int] = {}
        self.counts: dict[str, tuple[int, int]] = {}
        self.since = time.monotonic()
        self._index = index
        weakref.finalize(self, _write_down, index, self.times, self.counts)

    def count(self, about: str, hits: int, misses: int) -> None:
        """Add to the counts of a space."""
        before = self.counts.get(about, (0, 0))
        self.counts[about] = (before[0] + hits, before[1] + misses)

    def write(self) -> None:
        """Write down what was used, so that it is not the first to go."""
        _write_down(self._index, self.times, self.counts)
        self.forget()

    def forget(self) -> None:
        """Begin anew after it was written down."""
        self.since = time.monotonic()
        self.times.clear()
        self.counts.clear()


def _write_down(
    index: Index, times: Mapping[str, int], counts: Mapping[str, tuple[int, int]]
) -> None:
    if (times or counts) and index.path.exists():
        with suppress(*_TROUBLE):  # only times and counts would be lost
            index.change(used=times, counts=counts)


def _reason(error: Exception, verb: str) -> str:
    if isinstance(error, NewerFormat):
        return str(error)
    return f"cannot be {verb} ({getattr(error, 'strerror', None) or error})"


def _portions(records: Mapping[bytes, Record]) -> Iterator[dict[bytes, Record]]:
    portion: dict[bytes, Record] = {}
    size = 0
    for key, record in records.items():
        portion[key] = record
        size += sum(array.nbytes for array in record.values())
        if size > _SHARD_BYTES:
            yield portion
            portion, size = {}, 0
    if portion:
        yield portion
