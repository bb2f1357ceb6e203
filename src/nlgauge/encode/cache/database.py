"""The embedding cache: one SQLite file of records with checksums.

A failure of the cache never prevents scoring: values are computed again, and a ``CacheWarning``
reports it once.
"""

import sqlite3
import threading
import time
import warnings
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate, groupby
from pathlib import Path
from typing import TypeVar

from nlgauge.core.errors import FileError
from nlgauge.encode.cache.settings import size_limit
from nlgauge.encode.cache.sqlite_file import (
    PAGE_BYTES,
    DamagedFile,
    NewerFormat,
    connect,
    sibling,
    transaction,
)

FILE_NAME = "nlgauge-cache.sqlite"
_ERRORS = (OSError, sqlite3.Error, DamagedFile, NewerFormat)
_KEYS_PER_QUERY = 800  # older versions of SQLite allow 999 values in a statement
_TRANSACTION_BYTES = 64_000_000
_USAGE_SECONDS = 5.0  # between updates of the times of use
_SELECT = """
SELECT record.id, key, part, bytes, checksum
FROM record LEFT JOIN content ON content.id = record.id
"""
_SELECT_ALL = """
SELECT record.id, description, key, part, bytes, checksum
FROM record LEFT JOIN content ON content.id = record.id
LEFT JOIN identity ON identity.id = record.identity
"""
_FIND_IDENTITY = "SELECT id FROM identity WHERE description = ?"
_ADD_IDENTITY = "INSERT OR IGNORE INTO identity (description) VALUES (?)"
_ADD_RECORD = "INSERT OR IGNORE INTO record VALUES (NULL, ?, ?, ?, ?, ?, ?)"
_ADD_CONTENT = "INSERT OR REPLACE INTO content VALUES (?, ?)"

Record = Mapping[str, bytes]
Times = dict[int, int]
Counts = dict[str, list[int]]
Result = TypeVar("Result")


class CacheWarning(UserWarning):
    """A problem of the embedding cache that does not affect scores."""


@dataclass(frozen=True)
class CacheContents:
    """Size and use of the records with one identity."""

    identity: str
    entries: int
    size: int
    hits: int
    misses: int


@dataclass(frozen=True)
class Verification:
    """The numbers of valid and dropped records, and whether the whole file was replaced."""

    valid: int
    dropped: int
    file_replaced: bool = False

    @property
    def clean(self) -> bool:
        """Whether no damage was found."""
        return not (self.dropped or self.file_replaced)


@lru_cache(maxsize=16)
def open_cache(folder: Path) -> "EmbeddingCache":
    """Return the cache of a folder; there is one instance per folder and process."""
    return EmbeddingCache(folder)


class EmbeddingCache:
    """Records by identity (model, options, versions) and key (the hash of a text)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / FILE_NAME
        self._lock = threading.RLock()
        self._writable = True
        self._warned: set[str] = set()
        self._times: Times = {}
        self._counts: Counts = {}
        self._saved = time.monotonic()
        weakref.finalize(self, _save_usage, self._path, self._times, self._counts)

    def read(
        self, identity: str, keys: Sequence[bytes], parts: Sequence[str]
    ) -> dict[bytes, dict[str, bytes]]:
        """Return the stored parts of each key, without keys that have none."""
        with self._lock:
            try:
                return self._retry_on_damage(partial(self._read, identity, keys, parts))
            except _ERRORS as error:
                self._warn(f"{_reason(error, 'read')}; scores are computed without it")
                return {}

    def write(self, identity: str, records: Mapping[bytes, Record]) -> None:
        """Store records; beyond the size limit, the least recently used are deleted."""
        rows = [(key, *part) for key, record in records.items() for part in record.items()]
        if not rows or not self._writable:
            return
        batch_bytes = max(min(_TRANSACTION_BYTES, size_limit() // 2), 1)
        sized = zip(rows, accumulate(len(content) for *_, content in rows), strict=True)
        with self._lock:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                for _, batch in groupby(sized, lambda pair: pair[1] // batch_bytes):
                    batch_rows = [row for row, _ in batch]
                    self._retry_on_damage(partial(self._write, identity, batch_rows))
            except _ERRORS as error:
                self._writable = False
                self._warn(f"{_reason(error, 'written to')}; from now on it is only read")

    def count(self, identity: str, hits: int, misses: int) -> None:
        """Add to the hits and misses of an identity; they are written periodically."""
        with self._lock:
            count = self._counts.setdefault(identity, [0, 0])
            count[:] = count[0] + hits, count[1] + misses
            if time.monotonic() - self._saved > _USAGE_SECONDS:
                _save_usage(self._path, self._times, self._counts)
                self._saved = time.monotonic()

    def contents(self) -> list[CacheContents]:
        """Return the contents by identity, the largest first."""
        with self._lock, self._raise_file_error():
            _save_usage(self._path, self._times, self._counts)
            return self._retry_on_damage(self._contents)

    def clear(self) -> int:
        """Delete the cache, keep other files of the folder, and return the number of entries."""
        with self._lock, self._raise_file_error():
            entries = 0
            with suppress(DamagedFile):  # raises an error for a newer format
                entries = sum(each.entries for each in self._contents())
            for path in (self._path, sibling(self._path, "-journal"), sibling(self._path)):
                path.unlink(missing_ok=True)
            with suppress(OSError):  # the folder has other files
                self.folder.rmdir()
            return entries

    def verify(self) -> Verification:
        """Check the file and every checksum; drop damaged records or replace a damaged file."""
        with self._lock, self._raise_file_error():
            try:
                with connect(self._path) as connection:
                    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
                    if verdict != "ok":
                        raise DamagedFile(verdict)
                    (total,) = connection.execute("SELECT count(*) FROM record").fetchone()
                    rows = connection.execute(_SELECT_ALL)
                    damaged = [row[0] for row in rows if row[-1] != _checksum(*row[1:-1])]
            except DamagedFile:
                self._set_aside()
                return Verification(0, 0, file_replaced=True)
            self._drop(damaged)
            return Verification(total - len(damaged), len(damaged))

    def _read(
        self, identity: str, keys: Sequence[bytes], parts: Sequence[str]
    ) -> dict[bytes, dict[str, bytes]]:
        records: dict[bytes, dict[str, bytes]] = {}
        damaged, now = [], time.time_ns()
        with connect(self._path) as connection:
            for start in range(0, len(keys), _KEYS_PER_QUERY):
                batch = keys[start : start + _KEYS_PER_QUERY]
                rows = connection.execute(
                    f"{_SELECT} WHERE identity = ({_FIND_IDENTITY}) "
                    f"AND key IN ({_placeholders(batch)}) AND part IN ({_placeholders(parts)})",
                    (identity, *batch, *parts),
                )
                for number, key, part, content, checksum in rows:
                    if checksum == _checksum(identity, key, part, content):
                        records.setdefault(key, {})[part] = content
                        self._times[number] = now
                    else:
                        damaged.append(number)
        self._drop(damaged)
        return records

    def _write(self, identity: str, rows: Sequence[tuple[bytes, str, bytes]]) -> None:
        now, limit = time.time_ns(), size_limit()
        size = sum(len(content) for *_, content in rows)
        if size > limit:
            return
        with transaction(self._path) as connection:
            connection.execute(_ADD_IDENTITY, [identity])
            (owner,) = connection.execute(_FIND_IDENTITY, [identity]).fetchone()
            _write_usage(connection, self._times, self._counts)
            _evict(connection, limit - size)
            for key, part, content in rows:
                checksum = _checksum(identity, key, part, content)
                values = (owner, key, part, len(content), checksum, now)
                added = connection.execute(_ADD_RECORD, values)
                if added.rowcount:
                    connection.execute(_ADD_CONTENT, (added.lastrowid, content))
            excess = _pragma(connection, "page_count") - limit // PAGE_BYTES
            for _ in range(min(excess, _pragma(connection, "freelist_count"))):
                connection.execute("PRAGMA incremental_vacuum(1)")

    def _contents(self) -> list[CacheContents]:
        with connect(self._path) as connection:
            rows = connection.execute(
                "SELECT description, count(DISTINCT key), coalesce(sum(size), 0) AS total, "
                "hits, misses FROM identity LEFT JOIN record ON record.identity = identity.id "
                "GROUP BY identity.id ORDER BY total DESC"
            )
            return [CacheContents(*row) for row in rows]

    def _drop(self, damaged: Sequence[int]) -> None:
        """Report damaged records and delete them, if the file can be written to."""
        if damaged:
            records = "1 damaged record" if len(damaged) == 1 else f"{len(damaged)} damaged records"
            self._warn(f"held {records}, dropped and computed again")
            with suppress(*_ERRORS), transaction(self._path) as connection:
                _delete(connection, damaged)

    def _set_aside(self) -> None:
        """Rename a damaged file, so that a new one can be created."""
        sibling(self._path, "-journal").unlink(missing_ok=True)
        self._path.replace(sibling(self._path))
        self._warn(f"had a damaged file, renamed to {sibling(self._path).name}; it starts empty")

    def _retry_on_damage(self, work: Callable[[], Result]) -> Result:
        """Return the result of ``work``, with a new file if the current one is damaged."""
        try:
            return work()
        except DamagedFile:
            self._set_aside()
            return work()

    @contextmanager
    def _raise_file_error(self) -> Iterator[None]:
        """Turn failures into ``FileError``, for calls that are about the cache itself."""
        try:
            yield
        except _ERRORS as error:
            raise FileError(f"the cache {str(self.folder)!r} {_reason(error, 'used')}") from error

    def _warn(self, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            warnings.warn(f"the cache {str(self.folder)!r} {message}", CacheWarning, stacklevel=2)


def _save_usage(path: Path, times: Times, counts: Counts) -> None:
    """Write times of use, hits and misses; a failure loses nothing else."""
    if (times or counts) and path.exists():
        with suppress(*_ERRORS), transaction(path) as connection:
            _write_usage(connection, times, counts)


def _write_usage(connection: sqlite3.Connection, times: Times, counts: Counts) -> None:
    connection.executemany(
        "UPDATE record SET used = ? WHERE id = ?", [(used, n) for n, used in times.items()]
    )
    connection.executemany(
        "UPDATE identity SET hits = hits + ?, misses = misses + ? WHERE description = ?",
        [(*count, identity) for identity, count in counts.items()],
    )
    times.clear()
    counts.clear()


def _evict(connection: sqlite3.Connection, limit: int) -> None:
    """Delete the least recently used records until the others fit into ``limit`` bytes."""
    pages = _pragma(connection, "page_count") - _pragma(connection, "freelist_count")
    excess = pages * PAGE_BYTES - limit
    numbers = []
    if excess > 0:
        for number, size in connection.execute("SELECT id, size FROM record ORDER BY used, id"):
            numbers.append(number)
            excess -= size
            if excess <= 0:
                break
    _delete(connection, numbers)


def _delete(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    rows = [(number,) for number in numbers]
    connection.executemany("DELETE FROM record WHERE id = ?", rows)
    connection.executemany("DELETE FROM content WHERE id = ?", rows)


def _checksum(identity: object, key: object, part: object, content: object) -> int:
    """Return the CRC-32 of the content and its key, -1 if they are not bytes.

    Damage may change the type of a value, or connect a record to another identity.
    """
    if not (isinstance(key, bytes) and isinstance(content, bytes)):
        return -1
    return zlib.crc32(content, zlib.crc32(key + f"{part} {identity}".encode()))


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _placeholders(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _reason(error: Exception, verb: str) -> str:
    if isinstance(error, NewerFormat):
        return str(error)
    return f"cannot be {verb} ({getattr(error, 'strerror', None) or error})"
