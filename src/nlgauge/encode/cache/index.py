"""The index: an sqlite file that says in which shards the records of a key lie.

It is a hint and never believed: keys and checksums stand in the shards themselves, so a damaged
index costs time but no right answer, and it can be made anew from the shards. Connections live for
one transaction only, which keeps threads, forks and several processes out of each other's way.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from nlgauge.encode.cache.shards import Written

FORMAT = 1
_APPLICATION = 0x6E6C6763  # "nlgc"
_PATIENCE = 30.0  # seconds to wait for other processes
_AT_ONCE = 900  # older sqlite takes 999 values in a statement
_DAMAGE = {"SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR"}  # the last: tables are not there
_TABLES = """
CREATE TABLE space (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, about TEXT NOT NULL,
    hits INTEGER NOT NULL DEFAULT 0, misses INTEGER NOT NULL DEFAULT 0);
CREATE TABLE shard (
    id INTEGER PRIMARY KEY, space INTEGER NOT NULL, name TEXT NOT NULL UNIQUE,
    fields TEXT NOT NULL, bytes INTEGER NOT NULL, used INTEGER NOT NULL);
CREATE TABLE entry (
    space INTEGER NOT NULL, key BLOB NOT NULL, shard INTEGER NOT NULL,
    PRIMARY KEY (space, key, shard)) WITHOUT ROWID;
CREATE INDEX entry_of_shard ON entry (shard);
"""


class IndexDamaged(Exception):
    """The index file is no sound index."""


class NewerFormat(Exception):
    """The index was made by a newer version of nlgauge."""


@dataclass(frozen=True)
class Holding:
    """What the index knows of one space."""

    about: str
    entries: int
    size: int
    shards: int
    hits: int
    misses: int


def space_key(about: str) -> str:
    """The short name of what a space is about."""
    return hashlib.sha256(about.encode()).hexdigest()[:32]


class Index:
    """The index file of a cache folder; it is made by the first write."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def find(self, about: str, keys: Sequence[bytes]) -> dict[bytes, list[tuple[str, str]]]:
        """The names and fields of the shards that are said to hold each key."""
        found: dict[bytes, list[tuple[str, str]]] = {}
        with self._open() as connection:
            if connection is None:
                return found
            for start in range(0, len(keys), _AT_ONCE):
                part = keys[start : start + _AT_ONCE]
                rows = connection.execute(
                    "SELECT entry.key, shard.name, shard.fields FROM entry "
                    "JOIN space ON space.id = entry.space JOIN shard ON shard.id = entry.shard "
                    f"WHERE space.key = ? AND entry.key IN ({','.join('?' * len(part))})",
                    (space_key(about), *part),
                )
                for key, name, fields in rows:
                    found.setdefault(key, []).append((name, fields))
        return found

    def change(
        self,
        *,
        add: Iterable[Written] = (),
        drop: Iterable[str] = (),
        used: Mapping[str, int] = MappingProxyType({}),
        counts: Mapping[str, tuple[int, int]] = MappingProxyType({}),
        limit: int | None = None,
    ) -> list[str]:
        """Forget and enter shards, note their use, and name those that a limit leaves no room for.

        All of it is one transaction, as each costs a wait for the disk. ``used`` tells when shards
        were, ``counts`` the hits and misses of spaces; what was unused for longest goes first.
        """
        with self._change() as connection:
            for name in drop:
                _forget(connection, name)
            for shard in add:
                _enter(connection, shard)
            connection.executemany(
                "UPDATE shard SET used = ? WHERE name = ?",
                [(time_used, name) for name, time_used in used.items()],
            )
            connection.executemany(
                "UPDATE space SET hits = hits + ?, misses = misses + ? WHERE key = ?",
                [(hits, misses, space_key(about)) for about, (hits, misses) in counts.items()],
            )
            return [] if limit is None else _shrink(connection, limit)

    def small(self, about: str, fields: str, size: int) -> list[str]:
        """The names of the space's shards with these fields that are smaller than ``size``."""
        with self._open() as connection:
            if connection is None:
                return []
            rows = connection.execute(
                "SELECT shard.name FROM shard JOIN space ON space.id = shard.space "
                "WHERE space.key = ? AND shard.fields = ? AND shard.bytes < ?",
                (space_key(about), fields, size),
            )
            return [name for (name,) in rows]

    def names(self) -> list[str]:
        """The names of all shards."""
        with self._open() as connection:
            rows = connection.execute("SELECT name FROM shard") if connection else ()
            return [name for (name,) in rows]

    def shards(self) -> dict[str, int]:
        """How many keys each shard is said to hold."""
        with self._open() as connection:
            if connection is None:
                return {}
            rows = connection.execute(
                "SELECT shard.name, count(entry.key) FROM shard "
                "LEFT JOIN entry ON entry.shard = shard.id GROUP BY shard.id"
            )
            return dict(rows.fetchall())

    def holdings(self) -> list[Holding]:
        """What is there, space by space, the largest first."""
        with self._open() as connection:
            if connection is None:
                return []
            rows = connection.execute(
                "SELECT about, (SELECT count(DISTINCT key) FROM entry WHERE space = space.id), "
                "(SELECT coalesce(sum(bytes), 0) FROM shard WHERE space = space.id) AS size, "
                "(SELECT count(*) FROM shard WHERE space = space.id), hits, misses "
                "FROM space ORDER BY size DESC"
            )
            return [Holding(*row) for row in rows]

    def check(self) -> None:
        """Read the whole index and raise ``IndexDamaged`` if sqlite finds it unsound."""
        with self._open() as connection:
            if connection is None:
                return
            (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if verdict != "ok":
                raise IndexDamaged(verdict)

    def remove(self) -> None:
        """Delete the file and the journal beside it."""
        self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)

    @contextmanager
    def _open(self, mode: str = "rw") -> Iterator[sqlite3.Connection | None]:
        """A connection, or None where there is nothing to read yet."""
        if mode == "rw" and not self.path.exists():
            yield None
            return
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        try:
            with closing(
                sqlite3.connect(address, uri=True, timeout=_PATIENCE, isolation_level=None)
            ) as connection:
                empty = _recognise(connection)
                yield None if empty and mode == "rw" else connection
        except sqlite3.DatabaseError as error:
            name = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT")
            if any(name.startswith(known) for known in _DAMAGE):
                raise IndexDamaged(str(error)) from error
            raise

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a transaction that holds the only right to write."""
        with self._open("rwc") as connection:
            assert connection is not None
            connection.execute("BEGIN IMMEDIATE")
            try:
                _create(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


def _recognise(connection: sqlite3.Connection) -> bool:
    """Whether the file is still empty; anything but an index of this format is refused."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application == _APPLICATION and version > FORMAT:
        raise NewerFormat(
            f"has format {version}, but this version of nlgauge reads format {FORMAT}; "
            "upgrade nlgauge or name another folder"
        )
    if (application, version) not in {(_APPLICATION, FORMAT), (0, 0)}:
        raise IndexDamaged(f"application {application:x}, format {version}")
    return bool(version == 0)


def _create(connection: sqlite3.Connection) -> None:
    """Make the tables of a new file, inside the transaction that first writes to it."""
    if connection.execute("PRAGMA user_version").fetchone() == (0,):
        for statement in _TABLES.split(";")[:-1]:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")


def _enter(connection: sqlite3.Connection, shard: Written) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO space (key, about) VALUES (?, ?)",
        (space_key(shard.about), shard.about),
    )
    (space,) = connection.execute(
        "SELECT id FROM space WHERE key = ?", (space_key(shard.about),)
    ).fetchone()
    connection.execute(
        "INSERT OR IGNORE INTO shard (space, name, fields, bytes, used) VALUES (?, ?, ?, ?, ?)",
        (space, shard.name, shard.fields, shard.size, time.time_ns()),
    )
    (number,) = connection.execute("SELECT id FROM shard WHERE name = ?", (shard.name,)).fetchone()
    connection.executemany(
        "INSERT OR IGNORE INTO entry (space, key, shard) VALUES (?, ?, ?)",
        [(space, key, number) for key in shard.keys],
    )


def _forget(connection: sqlite3.Connection, name: str) -> None:
    connection.execute(
        "DELETE FROM entry WHERE shard IN (SELECT id FROM shard WHERE name = ?)", (name,)
    )
    connection.execute("DELETE FROM shard WHERE name = ?", (name,))


def _shrink(connection: sqlite3.Connection, limit: int) -> list[str]:
    (total,) = connection.execute("SELECT total(bytes) FROM shard").fetchone()
    names = []
    if total > limit:
        for name, size in connection.execute("SELECT name, bytes FROM shard ORDER BY used, id"):
            if total <= limit:
                break
            names.append(name)
            total -= size
    for name in names:
        _forget(connection, name)
    return names
