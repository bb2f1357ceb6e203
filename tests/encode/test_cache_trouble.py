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

import numpy as np
import pytest

from caching import TEXTS, Counting, assert_same, cached, largest, shard_list
from nlgauge.core.errors import FileError
from nlgauge.encode.cache import CacheNote, Store
from nlgauge.encode.cache import shards as shard_files
from nlgauge.encode.cache.index import FORMAT, Index
from nlgauge.encode.cache.records import text_key
from nlgauge.encode.cache.store import INDEX, SHARDS
from nlgauge.encode.hashing import HashingEncoder

pytest.importorskip("safetensors", reason="the extra 'torch' is not installed")


@pytest.fixture(autouse=True)
def _silence_means_silence() -> object:
    """A note that a test does not expect is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", CacheNote)
        yield


# Damage.


def spoil(path: Path, how: str) -> None:
    content = bytearray(path.read_bytes())
    if how == "flip":
        content[len(content) // 2] ^= 1
    elif how == "cut":
        del content[len(content) // 2 :]
    elif how == "empty":
        content.clear()
    else:
        content[:8] = b"\xff" * 8
    path.write_bytes(content)


@pytest.mark.parametrize("how", ["flip", "cut", "empty", "header"])
def test_a_damaged_shard_is_dropped_and_computed_again(tmp_path: Path, how: str) -> None:
    cached(tmp_path)[0].encode(TEXTS, (2,))
    spoil(largest(tmp_path), how)
    encoder, behind = cached(tmp_path)
    with pytest.warns(CacheNote, match="held a damaged shard; it was dropped"):
        found = encoder.encode(TEXTS, (2,))
    assert_same(found, Counting().encode(TEXTS, (2,)))
    assert len(behind.encoded) == len(TEXTS)
    encoder, behind = cached(tmp_path)
    assert_same(encoder.encode(TEXTS, (2,)), found)
    assert behind.encoded == []
    assert Store(tmp_path).verify().clean


def test_verify_says_what_it_dropped(tmp_path: Path) -> None:
    encoder, _ = cached(tmp_path)
    encoder.encode(TEXTS[:3], (2,))
    encoder.encode(TEXTS[3:], (2,))
    bad, gone = (path.stem for path in shard_list(tmp_path))
    spoil(tmp_path / SHARDS / f"{bad}.safetensors", "flip")
    (tmp_path / SHARDS / f"{gone}.safetensors").unlink()
    with pytest.warns(CacheNote):
        found = Store(tmp_path).verify()
    assert (found.dropped, found.missing, found.sound) == ((bad,), (gone,), 0)
    assert not found.clean
    assert Store(tmp_path).verify().clean
    assert Store(tmp_path).holdings()[0].entries == 0


@pytest.mark.parametrize("how", ["text", "header", "pages", "tables", "foreign"])
def test_a_damaged_index_is_made_anew_from_the_shards(tmp_path: Path, how: str) -> None:
    cached(tmp_path)[0].encode(TEXTS, (2,))
    path = tmp_path / INDEX
    if how == "text":
        path.write_text("this is no index\n" * 100)
    elif how == "header":
        path.write_bytes(b"\0" * 40 + path.read_bytes()[40:])
    elif how == "pages":
        content = path.read_bytes()
        path.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))
    else:
        connection = sqlite3.connect(path)
        change = "DROP TABLE entry" if how == "tables" else "PRAGMA application_id = 7"
        connection.execute(change)
        connection.close()
    encoder, behind = cached(tmp_path)
    with pytest.warns(CacheNote, match="damaged index; it was made anew"):
        found = encoder.encode(TEXTS, (2,))
    assert_same(found, Counting().encode(TEXTS, (2,)))
    assert behind.encoded == []
    assert Store(tmp_path).verify().clean


def test_a_damaged_index_that_cannot_be_mended_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached(tmp_path)[0].encode(TEXTS[:3], (2,))
    (tmp_path / INDEX).write_text("this is no index")
    monkeypatch.setattr(Index, "remove", fail_with(errno.EROFS))
    encoder, behind = cached(tmp_path)
    with pytest.warns(CacheNote) as notes:
        assert_same(encoder.encode(TEXTS, (2,)), Counting().encode(TEXTS, (2,)))
    said = [str(note.message) for note in notes]
    assert len(said) == 2
    assert all(os.strerror(errno.EROFS) in each and "made anew" not in each for each in said)
    assert len(behind.encoded) == len(TEXTS)


def test_an_index_that_points_astray_is_not_believed(tmp_path: Path) -> None:
    encoder, _ = cached(tmp_path)
    encoder.encode(TEXTS[:3], (2,))
    encoder.encode(TEXTS[3:], (2,))
    with sqlite3.connect(tmp_path / INDEX) as connection:
        connection.execute("UPDATE entry SET shard = 3 - shard")
    encoder, behind = cached(tmp_path)
    assert_same(encoder.encode(TEXTS, (2,)), Counting().encode(TEXTS, (2,)))
    assert len(behind.encoded) == len(TEXTS)


def test_a_lost_index_is_found_again(tmp_path: Path) -> None:
    cached(tmp_path)[0].encode(TEXTS, (2,))
    (tmp_path / INDEX).unlink()
    found = Store(tmp_path).verify()
    assert len(found.adopted) == 1
    encoder, behind = cached(tmp_path)
    encoder.encode(TEXTS, (2,))
    assert behind.encoded == []


def test_a_shard_of_another_model_under_this_name_is_not_believed(tmp_path: Path) -> None:
    cached(tmp_path)[0].encode(TEXTS, (2,))
    other, behind = cached(tmp_path, precision="int8")
    other.encode(TEXTS[:1], (1,))
    with sqlite3.connect(tmp_path / INDEX) as connection:
        connection.execute("UPDATE OR IGNORE entry SET space = 3 - space")
    behind.encoded.clear()
    other.encode(TEXTS[1:], (2,))
    assert len(behind.encoded) == len(TEXTS) - 1


# Disks.


def fail_with(number: int) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_disk_that_takes_nothing_costs_no_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    cached(tmp_path)[0].encode(TEXTS[:3], (2,))
    monkeypatch.setattr(shard_files.os, "fsync", fail_with(number))
    encoder, behind = cached(tmp_path)
    with pytest.warns(CacheNote, match="only read") as notes:
        found = encoder.encode(TEXTS, (2,))
        encoder.encode(["one more"], (2,))
    assert len(notes) == 1
    assert os.strerror(number) in str(notes[0].message)
    assert_same(found, Counting().encode(TEXTS, (2,)))
    assert {text for text, _ in behind.encoded} == {*TEXTS[3:], "one more"}
    assert not list((tmp_path / SHARDS).glob("*.part"))


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may write anywhere"
)
def test_a_read_only_folder_is_read(tmp_path: Path) -> None:
    cached(tmp_path)[0].encode(TEXTS[:3], (2,))
    everything = [tmp_path, *tmp_path.rglob("*")]
    for path in everything:
        path.chmod(path.stat().st_mode & ~0o222)
    encoder, behind = cached(tmp_path)
    encoder.encode(TEXTS[:3], (2,))
    assert behind.encoded == []
    with pytest.warns(CacheNote, match="only read"):
        encoder.encode(TEXTS, (2,))
    for path in everything:
        path.chmod(path.stat().st_mode | 0o200)
    assert len(behind.encoded) == len(TEXTS) - 3


def test_an_index_on_a_full_disk_costs_no_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Index, "change", fail)
    encoder, _ = cached(tmp_path)
    with pytest.warns(CacheNote, match="database or disk is full"):
        found = encoder.encode(TEXTS, (2,))
    assert_same(found, Counting().encode(TEXTS, (2,)))


def test_a_folder_that_cannot_be_made_costs_no_score(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    encoder, _ = cached(tmp_path / "file" / "cache")
    with pytest.warns(CacheNote, match="cannot be written to"):
        encoder.encode(TEXTS, (2,))


def test_a_newer_format_is_left_alone(tmp_path: Path) -> None:
    cached(tmp_path)[0].encode(TEXTS[:3], (2,))
    with sqlite3.connect(tmp_path / INDEX) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    encoder, behind = cached(tmp_path)
    with pytest.warns(CacheNote, match=f"has format {FORMAT + 1}.*upgrade nlgauge"):
        encoder.encode(TEXTS, (2,))
    assert len(behind.encoded) == len(TEXTS)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for work in (Store.holdings, Store.verify, Store.clear):
        with pytest.raises(FileError, match="upgrade nlgauge"):
            work(Store(tmp_path))
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


# Room.


def records(size: int, *names: str) -> dict[bytes, dict[str, np.ndarray]]:
    return {text_key(name): {"x": np.full(size, ord(name[0]), np.uint8)} for name in names}


def held(store: Store, names: str) -> str:
    found = store.read("space", [text_key(name) for name in names], ["x"])
    return "".join(name for name in names if text_key(name) in found)


def test_what_was_unused_for_longest_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLGAUGE_CACHE_SIZE", "35kB")
    store = Store(tmp_path)
    for name in "abc":
        store.write("space", records(10_000, name))
    assert held(Store(tmp_path), "abc") == "abc"
    assert held(store, "a") == "a"  # so b is the oldest now
    store.write("space", records(10_000, "d"))
    assert held(Store(tmp_path), "abcd") == "acd"
    assert len(shard_list(tmp_path)) == 3
    store.write("space", records(30_000, "e"))
    assert held(Store(tmp_path), "abcde") == "e"


def test_an_old_and_a_new_process_agree_on_what_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = Store(tmp_path), Store(tmp_path)
    old.write("space", records(10_000, "a"))
    assert held(new, "a") == "a"
    monkeypatch.setenv("NLGAUGE_CACHE_SIZE", "15kB")
    new.write("space", records(10_000, "b"))
    assert held(old, "ab") == "b"


def test_a_shard_that_vanishes_is_a_miss(tmp_path: Path) -> None:
    cached(tmp_path)[0].encode(TEXTS, (2,))
    largest(tmp_path).unlink()
    encoder, behind = cached(tmp_path)
    assert_same(encoder.encode(TEXTS, (2,)), Counting().encode(TEXTS, (2,)))
    assert len(behind.encoded) == len(TEXTS)


def test_many_small_shards_become_one(tmp_path: Path) -> None:
    encoder, _ = cached(tmp_path)
    words = [f"word {n}" for n in range(70)]
    for word in words:
        encoder.encode([word], (2,))
    assert len(shard_list(tmp_path)) < 40
    again, behind = cached(tmp_path)
    assert_same(again.encode(words, (2,)), Counting().encode(words, (2,)))
    assert behind.encoded == []
    assert Store(tmp_path).verify().clean


def test_large_writes_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nlgauge.encode.cache.store._SHARD_BYTES", 25_000)
    store = Store(tmp_path)
    store.write("space", records(10_000, *"abcdefg"))
    assert len(shard_list(tmp_path)) == 3
    assert held(Store(tmp_path), "abcdefg") == "abcdefg"


def test_clear_deletes_only_what_is_the_caches(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    cached(folder)[0].encode(TEXTS, (2,))
    (folder / "mine.txt").touch()
    (folder / SHARDS / "mine.safetensors").touch()
    (folder / SHARDS / "left.part").touch()
    assert Store(folder).clear() == 1
    kept = sorted(path.name for path in folder.rglob("*") if path.is_file())
    assert kept == ["mine.safetensors", "mine.txt"]


def test_an_encoder_outlives_the_clearing_of_its_cache(tmp_path: Path) -> None:
    encoder, behind = cached(tmp_path / "cache")
    wanted = encoder.encode(TEXTS, (2,))
    Store(tmp_path / "cache").clear()
    assert not (tmp_path / "cache").exists()
    assert_same(encoder.encode(TEXTS, (2,)), wanted)
    assert len(behind.encoded) == 2 * len(TEXTS)


def test_hits_and_misses_are_counted(tmp_path: Path) -> None:
    encoder, _ = cached(tmp_path)
    encoder.encode(TEXTS[:4], (2,))
    encoder.encode(TEXTS[:6], (2,))
    (held,) = encoder._store.holdings()
    assert (held.entries, held.hits, held.misses) == (6, 4, 6)
    assert json.loads(held.about)["kind"] == "clouds"


# Company.


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
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
        assert said == ""
    assert Store(tmp_path).verify().clean
    encoder, behind = cached(tmp_path)
    texts = texts_of(0, 24)
    assert_same(encoder.encode(texts, (1, 2)), HashingEncoder().encode(texts, (1, 2)))
    assert behind.encoded == []


def test_several_threads_share_an_encoder(tmp_path: Path) -> None:
    encoder, _ = cached(tmp_path)
    parts = [texts_of(n, n + 3) for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        encoded = pool.map(lambda part: encoder.encode(part, (1,)), parts)
        for part, found in zip(parts, encoded, strict=True):
            assert_same(found, HashingEncoder().encode(part, (1,)))
    assert Store(tmp_path).verify().clean


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
def test_a_process_killed_while_writing_leaves_nothing_wrong(tmp_path: Path) -> None:
    moments = random.Random(1)
    for attempt in range(4):
        process = writer(tmp_path, 1000 * attempt, 1000 * attempt + 1000)
        assert process.stdout is not None
        for _ in range(1 + bool(attempt)):  # the first may be killed before it has written at all
            process.stdout.readline()
        time.sleep(moments.uniform(0.02, 0.4))
        process.kill()
        process.communicate()
    found = Store(tmp_path).verify()
    assert found.clean
    assert found.sound
    texts = [text for n in range(4) for text in texts_of(1000 * n, 1000 * n + 5)]
    encoder, behind = cached(tmp_path)
    assert_same(encoder.encode(texts, (1, 2)), HashingEncoder().encode(texts, (1, 2)))
    assert len(behind.encoded) < len(texts)


def test_remains_of_a_killed_process_are_taken_in(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write("space", records(100, "a"))
    shard_files.write_shard(tmp_path / SHARDS, "space", records(100, "b"))
    old, new = (tmp_path / SHARDS / f"{name}.part" for name in ("old", "new"))
    for path in (old, new):
        path.touch()
    os.utime(old, (0, 0))
    Store(tmp_path).write("space", records(100, "c"))
    assert held(Store(tmp_path), "abc") == "abc"
    assert not old.exists()
    assert new.exists()  # somebody may be writing it just now
