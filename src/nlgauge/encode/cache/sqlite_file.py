"""The SQLite file of the embedding cache: its tables, its format, connections and transactions.

A connection is only used for one transaction, so that threads, forks and processes can share the
file. A rollback journal also works in read-only folders and network file systems.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

FORMAT = 3  # the checksums of older formats did not depend on the identity
PAGE_BYTES = 8192
_APPLICATION = 0x6E6C6763  # "nlgc"
_BUSY_SECONDS = 30.0  # time to wait for other processes
# The last one is raised if tables are missing.
_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR")
# The bytes are in a separate table because updating the time of use rewrites the whole row.
_SCHEMA = """
CREATE TABLE identity (
    id INTEGER PRIMARY KEY, description TEXT NOT NULL UNIQUE,
    hits INTEGER NOT NULL DEFAULT 0, misses INTEGER NOT NULL DEFAULT 0);
CREATE TABLE record (
    id INTEGER PRIMARY KEY, identity INTEGER NOT NULL, key BLOB NOT NULL, part TEXT NOT NULL,
    size INTEGER NOT NULL, checksum INTEGER NOT NULL, used INTEGER NOT NULL,
    UNIQUE (identity, key, part));
CREATE INDEX record_used ON record (used);
CREATE TABLE content (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
"""
_FIND_FORMAT = "SELECT * FROM pragma_application_id, pragma_user_version"


class DamagedFile(Exception):
    """The file is not a valid cache, or has an older format."""


class NewerFormat(Exception):
    """The file was written by a newer version of nlgauge."""


def sibling(path: Path, ending: str = ".damaged") -> Path:
    """Return the path of a file beside the cache: a damaged copy, or SQLite's journal."""
    return path.with_name(path.name + ending)


@contextmanager
def connect(path: Path, mode: str = "rw") -> Iterator[sqlite3.Connection]:
    """Yield a connection to the file, or to an empty cache if there is no file to read."""
    for file in (sibling(path, ending) for ending in ("", "-journal", "-wal")):
        if file.exists() and not file.is_file():  # reading from a pipe may block forever
            raise OSError(f"{file.name} is not a regular file; delete it")
    address = f"{path.absolute().as_uri()}?mode={mode}"
    if mode == "rw" and not path.exists():
        address = ":memory:"
    try:
        with closing(
            sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
        ) as connection:
            if _format(connection) or mode == "rwc":
                yield connection
                return
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(_SCHEMA)
            yield connection
    except UnicodeDecodeError as error:  # of a message that quotes damaged text
        raise DamagedFile(str(error)) from error
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorname", _DAMAGE[0]).startswith(_DAMAGE):
            raise DamagedFile(str(error)) from error
        raise


@contextmanager
def transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection in a write transaction; a new file gets its tables."""
    with connect(path, "rwc") as connection, connection:
        if not _format(connection):
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("BEGIN IMMEDIATE")
        if not _format(connection):
            for statement in _SCHEMA.split(";")[:-1]:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
        yield connection


def _format(connection: sqlite3.Connection) -> int:
    """Return the format of the file, 0 if it is new; raise if it cannot be used."""
    # A single statement, so that both values are consistent.
    application, version = connection.execute(_FIND_FORMAT).fetchone()
    if application == _APPLICATION and version > FORMAT:
        raise NewerFormat(
            f"has format {version}, but this version of nlgauge reads format {FORMAT}; "
            "upgrade nlgauge or name another folder"
        )
    if (application, version) not in {(_APPLICATION, FORMAT), (0, 0)}:
        raise DamagedFile(f"application {application:x}, format {version}")
    return int(version)
