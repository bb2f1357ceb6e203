"""Memory is given back, at most every other second."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from nlgauge.service import tidying
from nlgauge.service.tidying import Tidier


def test_it_is_done_at_once_and_then_not_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now, done = [100.0], []
    monkeypatch.setattr(tidying, "monotonic", lambda: now[0])
    monkeypatch.setattr(tidying, "_give_back", lambda: lambda: done.append(now[0]))
    tidier = Tidier()
    for moment in (100.0, 100.5, 101.9, 102.1, 103.0, 110.0):
        now[0] = moment
        tidier.tidy()
    assert done == [100.0, 102.1, 110.0]


def test_other_c_libraries_have_nothing_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(_: Any) -> Any:
        return object()

    monkeypatch.setattr(ctypes, "CDLL", without)
    tidying._give_back.cache_clear()
    Tidier().tidy()
    tidying._give_back.cache_clear()
