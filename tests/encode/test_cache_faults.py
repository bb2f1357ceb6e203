"""The embedding cache with damaged files, disk errors, size limits and several processes."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cached_encoders import (
    TEXTS,
    CountingEncoder,
    assert_same,
    cached_encoder,
    corrupt_records,
    query,
)
from nlgauge.core.errors import FileError
from nlgauge.encode.cache import database
from nlgauge.encode.cache.database import (
    FILE_NAME,
    CacheWarning,
    EmbeddingCache,
    Verification,
)
from nlgauge.encode.cache.records import text_key
from nlgauge.encode.cache.sqlite_file import FORMAT
from nlgauge.encode.hashing import HashingEncoder

RENAMED = f"{FILE_NAME}.damaged"


@pytest.fixture(autouse=True)
def _unexpected_warnings_are_errors() -> object:
    """A warning that a test does not expect is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", CacheWarning)
        yield


# Damage.


@pytest.mark.parametrize("how", ["flip", "bytes", "cut", "empty", "text", "header", "pages"])
def test_damaged_records_are_computed_again(tmp_path: Path, how: str) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS, (2,))
    path = tmp_path / FILE_NAME
    content = path.read_bytes()
    if how == "flip":
        corrupt_records(tmp_path)
    elif how == "bytes":  # of a record that spans several pages, in the file itself
        at = content.index(CountingEncoder().encode(TEXTS[-1:], (2,))[0].points[0, 200].tobytes())
        path.write_bytes(content[:at] + b"?" + content[at + 1 :])
    else:
        damaged = {
            "cut": content[: len(content) // 2],
            "empty": b"",
            "text": b"this is no cache\n" * 100,
            "header": b"\0" * 40 + content[40:],
            "pages": content[:8192] + b"\xa5" * (len(content) - 8192),
        }
        path.write_bytes(damaged[how])
    messages = {
        "flip": f"held {2 * len(TEXTS)} damaged records, dropped",
        "bytes": "held 1 damaged",
    }
    encoder, behind = cached_encoder(tmp_path)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        found = encoder.encode(TEXTS, (2,))
    if how == "empty":  # a killed process may leave the same
        assert not notes
    else:
        (note,) = notes
        assert messages.get(how, f"had a damaged file, renamed to {RENAMED}") in str(note.message)
    assert_same(found, CountingEncoder().encode(TEXTS, (2,)))
    assert len(behind.encoded) == (1 if how == "bytes" else len(TEXTS))
    assert (tmp_path / RENAMED).exists() == (how not in {"flip", "bytes", "empty"})
    encoder, behind = cached_encoder(tmp_path)
    assert_same(encoder.encode(TEXTS, (2,)), found)
    assert behind.encoded == []
    assert EmbeddingCache(tmp_path).verify().clean


def test_verify_counts_the_records_it_deleted(tmp_path: Path) -> None:
    encoder, _ = cached_encoder(tmp_path)
    encoder.encode(TEXTS[:3], (2,))
    encoder.encode(TEXTS[3:], (2,))
    corrupt_records(tmp_path, "id <= 5")
    query(tmp_path, "DELETE FROM content WHERE id = 6")
    with pytest.warns(CacheWarning, match="held 6 damaged records"):
        found = EmbeddingCache(tmp_path).verify()
    assert (found.dropped, found.valid) == (6, 2 * len(TEXTS) - 6)
    assert not found.clean
    assert EmbeddingCache(tmp_path).verify().clean
    assert EmbeddingCache(tmp_path).contents()[0].entries == len(TEXTS) - 3


@pytest.mark.parametrize("change", ["DROP TABLE content", "PRAGMA application_id = 7"])
def test_a_file_of_another_program_is_renamed(tmp_path: Path, change: str) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS, (2,))
    query(tmp_path, change)
    changed = (tmp_path / FILE_NAME).read_bytes()
    encoder, _ = cached_encoder(tmp_path)
    with pytest.warns(CacheWarning, match=f"had a damaged file, renamed to {RENAMED}"):
        found = encoder.encode(TEXTS, (2,))
    assert_same(found, CountingEncoder().encode(TEXTS, (2,)))
    assert (tmp_path / RENAMED).read_bytes() == changed
    assert EmbeddingCache(tmp_path).verify().clean


def test_a_damaged_file_that_cannot_be_replaced_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS[:3], (2,))
    (tmp_path / FILE_NAME).write_text("this is no cache")
    monkeypatch.setattr(EmbeddingCache, "_set_aside", fail_with(errno.EROFS))
    encoder, behind = cached_encoder(tmp_path)
    with pytest.warns(CacheWarning) as notes:
        assert_same(encoder.encode(TEXTS, (2,)), CountingEncoder().encode(TEXTS, (2,)))
    messages = [str(note.message) for note in notes]
    assert len(messages) == 2
    assert all(os.strerror(errno.EROFS) in each and "renamed" not in each for each in messages)
    assert len(behind.encoded) == len(TEXTS)


def test_records_of_other_texts_are_not_used(tmp_path: Path) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS[:2], (2,))
    query(tmp_path, "UPDATE content SET id = id + 10")
    query(tmp_path, "UPDATE content SET id = 1 + (id - 10 + 1) % 4")
    encoder, behind = cached_encoder(tmp_path)
    with pytest.warns(CacheWarning, match="held 4 damaged records"):
        assert_same(encoder.encode(TEXTS[:2], (2,)), CountingEncoder().encode(TEXTS[:2], (2,)))
    assert len(behind.encoded) == 2


def test_records_of_another_model_are_not_used(tmp_path: Path) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS, (2,))
    other, behind = cached_encoder(tmp_path, precision="int8")
    other.encode(TEXTS[:1], (1,))
    query(tmp_path, "UPDATE OR IGNORE record SET identity = 3 - identity")
    behind.encoded.clear()
    with pytest.warns(CacheWarning, match=f"held {2 * len(TEXTS) - 2} damaged records"):
        other.encode(TEXTS[1:], (2,))
    assert len(behind.encoded) == len(TEXTS) - 1


def test_records_are_not_used_if_the_identities_are_exchanged(tmp_path: Path) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS, (2,))
    other, behind = cached_encoder(tmp_path, precision="int8")
    other.encode(TEXTS[:1], (1,))
    for old, new in ((1, 3), (2, 1), (3, 2)):
        query(tmp_path, f"UPDATE identity SET id = {new} WHERE id = {old}")
    behind.encoded.clear()
    with pytest.warns(CacheWarning, match=f"held {2 * len(TEXTS)} damaged records"):
        other.encode(TEXTS, (2,))
    assert len(behind.encoded) == len(TEXTS)


@pytest.mark.parametrize("change", ["content SET bytes = 7", "record SET part = x'07', key = 'x'"])
def test_values_of_another_type_are_damaged(tmp_path: Path, change: str) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS[:1], (2,))
    query(tmp_path, f"UPDATE {change} WHERE id = 1")
    with pytest.warns(CacheWarning, match="held 1 damaged record,"):
        cached_encoder(tmp_path)[0].encode(TEXTS[:1], (2,))
        assert EmbeddingCache(tmp_path).verify().dropped == ("key" in change)


def test_a_damaged_schema_is_renamed(tmp_path: Path) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS, (2,))
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes().replace(b"TABLE content", b"TABL\xc5 content"))
    with pytest.warns(CacheWarning, match=f"had a damaged file, renamed to {RENAMED}"):
        cached_encoder(tmp_path)[0].encode(TEXTS, (2,))


# Disk errors.


def fail_with(number: int) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_write_errors_change_no_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS[:3], (2,))
    monkeypatch.setattr(database, "_evict", fail_with(number))
    encoder, behind = cached_encoder(tmp_path)
    with pytest.warns(CacheWarning, match="only read") as notes:
        found = encoder.encode(TEXTS, (2,))
        encoder.encode(["one more"], (2,))
    assert len(notes) == 1
    assert os.strerror(number) in str(notes[0].message)
    assert_same(found, CountingEncoder().encode(TEXTS, (2,)))
    assert {text for text, _ in behind.encoded} == {*TEXTS[3:], "one more"}
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
    assert EmbeddingCache(tmp_path).verify() == Verification(6, 0)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may write anywhere"
)
def test_a_read_only_folder_is_read(tmp_path: Path) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS[:3], (2,))
    everything = [tmp_path, *tmp_path.rglob("*")]
    for path in everything:
        path.chmod(path.stat().st_mode & ~0o222)
    encoder, behind = cached_encoder(tmp_path)
    encoder.encode(TEXTS[:3], (2,))
    assert behind.encoded == []
    with pytest.warns(CacheWarning, match="only read"):
        encoder.encode(TEXTS, (2,))
    for path in everything:
        path.chmod(path.stat().st_mode | 0o200)
    assert len(behind.encoded) == len(TEXTS) - 3


def test_a_full_disk_changes_no_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS[:3], (2,))
    connect = sqlite3.connect

    def connect_to_full_disk(*arguments: object, **options: object) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA max_page_count = 1")  # no more pages than there are
        return connection

    monkeypatch.setattr(database.sqlite3, "connect", connect_to_full_disk)
    encoder, behind = cached_encoder(tmp_path)
    with pytest.warns(CacheWarning, match="database or disk is full.*only read") as notes:
        found = encoder.encode(TEXTS, (2,))
    assert len(notes) == 1
    assert_same(found, CountingEncoder().encode(TEXTS, (2,)))
    assert len(behind.encoded) == len(TEXTS) - 3
    monkeypatch.undo()
    assert EmbeddingCache(tmp_path).verify() == Verification(6, 0)


def test_a_folder_that_cannot_be_created_changes_no_score(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    encoder, _ = cached_encoder(tmp_path / "file" / "cache")
    with pytest.warns(CacheWarning, match="cannot be written to"):
        encoder.encode(TEXTS, (2,))


def test_a_newer_format_is_left_alone(tmp_path: Path) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS[:3], (2,))
    query(tmp_path, f"PRAGMA user_version = {FORMAT + 1}")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    encoder, behind = cached_encoder(tmp_path)
    with pytest.warns(CacheWarning, match=f"has format {FORMAT + 1}.*upgrade nlgauge"):
        encoder.encode(TEXTS, (2,))
    assert len(behind.encoded) == len(TEXTS)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for work in (EmbeddingCache.contents, EmbeddingCache.verify, EmbeddingCache.clear):
        with pytest.raises(FileError, match="upgrade nlgauge"):
            work(EmbeddingCache(tmp_path))
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


# Size.


def records(size: int, *names: str) -> dict[bytes, dict[str, bytes]]:
    return {text_key(name): {"x": name.encode() * size} for name in names}


def held(cache: EmbeddingCache, names: str) -> str:
    found = cache.read("identity", [text_key(name) for name in names], ["x"])
    return "".join(name for name in names if text_key(name) in found)


def test_the_least_recently_used_record_is_deleted_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLGAUGE_CACHE_SIZE", "3.5MB")
    cache = EmbeddingCache(tmp_path)
    for name in "abc":
        cache.write("identity", records(1_000_000, name))
    assert held(EmbeddingCache(tmp_path), "abc") == "abc"
    assert held(cache, "a") == "a"  # so b is the oldest now
    cache.write("identity", records(1_000_000, "d"))
    assert held(EmbeddingCache(tmp_path), "abcd") == "acd"
    cache.write("identity", records(3_000_000, "e"))
    assert held(EmbeddingCache(tmp_path), "abcde") == "e"
    cache.write("identity", records(4_000_000, "f"))  # larger than the limit
    assert held(EmbeddingCache(tmp_path), "abcdef") == "e"
    assert (tmp_path / FILE_NAME).stat().st_size <= 3_500_000


def test_records_that_together_exceed_the_limit_are_stored_as_far_as_they_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLGAUGE_CACHE_SIZE", "3.5MB")
    cache = EmbeddingCache(tmp_path)
    cache.write("identity", records(100_000, *map(str, range(50))))
    assert sum(each.entries for each in cache.contents()) > 15
    assert (tmp_path / FILE_NAME).stat().st_size <= 3_500_000


def test_an_old_and_a_new_process_see_the_same_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = EmbeddingCache(tmp_path), EmbeddingCache(tmp_path)
    old.write("identity", records(1_000_000, *"ac"))
    assert held(new, "ac") == "ac"
    monkeypatch.setenv("NLGAUGE_CACHE_SIZE", "1.5MB")
    new.write("identity", records(1_000_000, "b"))
    assert held(old, "abc") == "b"
    assert (tmp_path / FILE_NAME).stat().st_size <= 1_500_000  # the file shrinks, too


def test_a_file_that_vanishes_is_a_miss(tmp_path: Path) -> None:
    encoder, behind = cached_encoder(tmp_path)
    encoder.encode(TEXTS, (2,))
    (tmp_path / FILE_NAME).unlink()
    assert_same(encoder.encode(TEXTS, (2,)), CountingEncoder().encode(TEXTS, (2,)))
    assert len(behind.encoded) == 2 * len(TEXTS)


def test_many_small_writes_take_little_space(tmp_path: Path) -> None:
    encoder, _ = cached_encoder(tmp_path)
    words = [f"word {n}" for n in range(70)]
    for word in words:
        encoder.encode([word], (2,))
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
    (held,) = EmbeddingCache(tmp_path).contents()
    assert (tmp_path / FILE_NAME).stat().st_size < 2 * held.size
    again, behind = cached_encoder(tmp_path)
    assert_same(again.encode(words, (2,)), CountingEncoder().encode(words, (2,)))
    assert behind.encoded == []
    assert EmbeddingCache(tmp_path).verify().clean


def test_large_writes_are_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_TRANSACTION_BYTES", 25_000)
    cache = EmbeddingCache(tmp_path)
    cache.write("identity", records(10_000, *"abcdefg"))
    assert query(tmp_path, "SELECT count(DISTINCT used) FROM record") == [(3,)]
    assert held(EmbeddingCache(tmp_path), "abcdefg") == "abcdefg"


def test_clear_deletes_only_files_of_the_cache(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    cached_encoder(folder)[0].encode(TEXTS, (2,))
    for name in ("mine.txt", "mine.sqlite", RENAMED, f"{FILE_NAME}-journal"):
        (folder / name).touch()
    assert EmbeddingCache(folder).clear() == len(TEXTS)
    assert sorted(path.name for path in folder.iterdir()) == ["mine.sqlite", "mine.txt"]


def test_an_encoder_works_after_its_cache_is_cleared(tmp_path: Path) -> None:
    encoder, behind = cached_encoder(tmp_path / "cache")
    wanted = encoder.encode(TEXTS, (2,))
    EmbeddingCache(tmp_path / "cache").clear()
    assert not (tmp_path / "cache").exists()
    assert_same(encoder.encode(TEXTS, (2,)), wanted)
    assert len(behind.encoded) == 2 * len(TEXTS)


def test_hits_and_misses_are_counted(tmp_path: Path) -> None:
    encoder, _ = cached_encoder(tmp_path)
    encoder.encode(TEXTS[:4], (2,))
    encoder.encode(TEXTS[:6], (2,))
    (held,) = encoder._cache.contents()
    assert (held.entries, held.hits, held.misses) == (6, 4, 6)
    assert json.loads(held.identity)["kind"] == "clouds"


# Other threads and processes.


WRITER = """
import sys
from nlgauge.encode import open_encoder
encoder = open_encoder("hashing", cache=sys.argv[1])
print("ready", flush=True)
for n in range(int(sys.argv[2]), int(sys.argv[3])):
    encoder.encode([f"text {n} {k} of some length" for k in range(20)], (1, 2))
    print(n, flush=True)
"""


def texts_of(start: int, stop: int) -> list[str]:
    return [f"text {n} {k} of some length" for n in range(start, stop) for k in range(20)]


def writer(folder: Path, start: int, stop: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-W", "error", "-c", WRITER, str(folder), str(start), str(stop)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    spans = [(0, 12), (6, 18), (12, 24), (0, 24)]
    running = [writer(tmp_path, *span) for span in spans]
    for process in running:
        _, messages = process.communicate(timeout=300)
        assert process.returncode == 0, messages
        assert messages == ""
    assert EmbeddingCache(tmp_path).verify().clean
    encoder, behind = cached_encoder(tmp_path)
    texts = texts_of(0, 24)
    assert_same(encoder.encode(texts, (1, 2)), HashingEncoder().encode(texts, (1, 2)))
    assert behind.encoded == []


def test_several_threads_share_an_encoder(tmp_path: Path) -> None:
    encoder, _ = cached_encoder(tmp_path)
    parts = [texts_of(n, n + 3) for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        encoded = pool.map(lambda part: encoder.encode(part, (1,)), parts)
        for part, found in zip(parts, encoded, strict=True):
            assert_same(found, HashingEncoder().encode(part, (1,)))
    assert EmbeddingCache(tmp_path).verify().clean


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
def test_a_process_killed_while_writing_leaves_no_damaged_record(tmp_path: Path) -> None:
    moments = random.Random(1)
    for attempt in range(4):
        process = writer(tmp_path, 1000 * attempt, 1000 * attempt + 1000)
        assert process.stdout is not None
        for _ in range(1 + bool(attempt)):  # the first may be killed before it has written at all
            process.stdout.readline()
        time.sleep(moments.uniform(0.02, 0.4))
        process.kill()
        process.communicate()
    found = EmbeddingCache(tmp_path).verify()
    assert found.clean
    assert found.valid
    texts = [text for n in range(4) for text in texts_of(1000 * n, 1000 * n + 5)]
    encoder, behind = cached_encoder(tmp_path)
    assert_same(encoder.encode(texts, (1, 2)), HashingEncoder().encode(texts, (1, 2)))
    assert len(behind.encoded) < len(texts)


HALF_WRITTEN = """
import os, sys
from pathlib import Path
from nlgauge.encode.cache import database
rows = {bytes([n] * 16): {"x": b"b" * 100_000} for n in range(100)}
checksum = database._checksum
def dying(identity, key, part, content):
    if key[0] == 99:
        print(os.path.getsize(Path(sys.argv[1]) / (database.FILE_NAME + "-journal")), flush=True)
        os.kill(os.getpid(), 9)
    return checksum(identity, key, part, content)
database._checksum = dying
database.EmbeddingCache(Path(sys.argv[1])).write("identity", rows)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
@pytest.mark.parametrize("first", [True, False])
def test_files_of_a_killed_process_are_deleted(tmp_path: Path, first: bool) -> None:
    if not first:
        EmbeddingCache(tmp_path).write("identity", records(100, "a"))
    words = [sys.executable, "-c", HALF_WRITTEN, str(tmp_path)]
    killed = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert int(killed.stdout) > 0
    assert (tmp_path / f"{FILE_NAME}-journal").exists()
    assert held(EmbeddingCache(tmp_path), "ab") == ("" if first else "a")
    EmbeddingCache(tmp_path).write("identity", records(100, "c"))
    assert held(EmbeddingCache(tmp_path), "abc") == ("c" if first else "ac")
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
    assert EmbeddingCache(tmp_path).verify() == Verification(1 if first else 2, 0)
