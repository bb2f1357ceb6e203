"""Memory is given back now and then."""

from __future__ import annotations

import ctypes

import pytest

from nlgauge.runtime import memory
from nlgauge.runtime.memory import MemoryTrimmer


def test_it_is_done_after_a_while_and_then_not_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    now, done = [100.0], []
    monkeypatch.setattr(memory, "monotonic", lambda: now[0])
    monkeypatch.setattr(memory, "_malloc_trim", lambda: lambda: done.append(now[0]))
    tidier = MemoryTrimmer(2.0)
    for moment in (100.0, 101.9, 102.1, 103.0, 104.0, 110.0):
        now[0] = moment
        tidier.trim()
    assert done == [102.1, 110.0]


def test_it_can_be_done() -> None:
    memory._malloc_trim()()


def test_other_c_libraries_have_nothing_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    memory._malloc_trim.cache_clear()
    assert memory._malloc_trim()() is None
    memory._malloc_trim.cache_clear()
