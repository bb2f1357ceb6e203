"""Memory is given back once it has grown, and not again for what the work takes."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from nlgauge.core import tidying
from nlgauge.core.tidying import Tidier


@pytest.fixture
def tidied(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Whether a process that holds so much gives memory back, at each of several moments."""

    def tidied(levels: list[int | None]) -> list[bool]:
        given: list[bool] = []
        monkeypatch.setattr(tidying, "_give_back", lambda: lambda: given.append(True))
        tidier, found = Tidier(), []
        for level in levels:
            monkeypatch.setattr(tidying, "resident_bytes", lambda level=level: level)
            given.clear()
            tidier.tidy()
            found.append(bool(given))
        return found

    return tidied


def test_what_has_piled_up_is_given_back(tidied: Any) -> None:
    assert tidied([100, 101, 99, 103, 100, 103]) == [False, False, False, True, False, True]


def test_work_that_takes_more_is_left_alone(tidied: Any) -> None:
    assert tidied([100, 200, 200, 203, 203, 208]) == [False, True, False, False, False, True]


def test_nothing_is_done_where_the_system_tells_nothing(tidied: Any) -> None:
    assert tidied([None, None]) == [False, False]


def test_other_c_libraries_have_nothing_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    tidying._give_back.cache_clear()
    assert tidying._give_back()() is None
    tidying._give_back.cache_clear()
