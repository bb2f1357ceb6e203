"""Freed memory is returned to the system, at most once per interval."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from nlgauge.runtime import memory
from nlgauge.runtime.memory import MemoryTrimmer


def test_memory_is_trimmed_at_most_once_per_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    now, done = [100.0], []
    monkeypatch.setattr(memory, "monotonic", lambda: now[0])
    monkeypatch.setattr(memory, "_malloc_trim", lambda: lambda: done.append(now[0]))
    trimmer = MemoryTrimmer(2.0)
    for moment in (100.0, 101.9, 102.1, 103.0, 104.0, 110.0):
        now[0] = moment
        trimmer.trim()
    assert done == [102.1, 110.0]


def test_malloc_trim_can_be_called() -> None:
    memory._malloc_trim()()


def test_c_libraries_without_malloc_trim_do_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    memory._malloc_trim.cache_clear()
    assert memory._malloc_trim()() is None
    memory._malloc_trim.cache_clear()


_ARENAS = """
import ctypes, sys
from threading import Barrier, Thread
from nlgauge.runtime.memory import use_one_arena
library = ctypes.CDLL(None)
if not hasattr(library, "malloc_info"):
    print(1)  # another C library
    sys.exit()
library.fopen.restype = library.malloc.restype = ctypes.c_void_p
together = Barrier(4)

def allocate():
    together.wait()
    library.malloc(100_000)
    together.wait()

def arenas(path):
    threads = [Thread(target=allocate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stream = ctypes.c_void_p(library.fopen(path.encode(), b"w"))
    library.malloc_info(0, stream)
    library.fclose(stream)
    return open(path).read().count("<heap nr")

use_one_arena()
print(arenas(sys.argv[1]))
"""


def test_threads_share_one_arena(tmp_path: Path) -> None:
    words = [sys.executable, "-c", _ARENAS, str(tmp_path / "arenas.xml")]
    assert subprocess.check_output(words, text=True).strip() == "1"


def test_objects_of_the_models_are_frozen() -> None:
    script = """
import gc
from nlgauge.runtime.memory import freeze_objects
held = [[] for _ in range(200_000)]
freeze_objects()
print(gc.get_freeze_count() > 200_000, len(gc.get_objects()) < 100_000)
"""
    messages = subprocess.check_output([sys.executable, "-c", script], text=True)
    assert messages.split() == ["True", "True"]
