"""Work in several threads gives the results of one thread and restores all settings."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from nlgauge.runtime import threads
from nlgauge.runtime.threads import (
    limit_threads,
    map_in_threads,
    one_ahead,
    spread,
    thread_count,
)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("items", [0, 1, 7, 64])
def test_portions_cover_the_items_in_order(monkeypatch, count, items) -> None:
    monkeypatch.setattr(threads, "thread_count", lambda: count)
    parts = spread(list, range(items), least=3)
    assert [item for part in parts for item in part] == list(range(items))
    assert len(parts) <= count
    assert len(parts) == 1 or min(map(len, parts)) >= 3


def test_portions_run_at_the_same_time(monkeypatch) -> None:
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    meeting = threading.Barrier(2, timeout=120)
    assert len(spread(lambda _: meeting.wait(), range(8), least=1)) == 2


def test_an_error_in_a_portion_reaches_the_caller(monkeypatch) -> None:
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    with pytest.raises(ZeroDivisionError):
        spread(lambda part: [1 // item for item in part], range(4), least=1)


@pytest.mark.parametrize("asked", ["1", "0", "many", ""])
def test_the_environment_may_lower_the_number_of_threads(monkeypatch, asked) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert thread_count() == 1 if asked in {"0", "1"} else thread_count() >= 1


def test_products_of_matrices_get_their_threads_back(monkeypatch) -> None:
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    np.ones((2, 2)) @ np.ones((2, 2))

    def seen() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    threads._controller.cache_clear()  # other tests may have loaded further libraries since
    before = seen()
    for least in (1, 4):  # in two threads, and in this one
        inside = spread(lambda _: seen(), range(4), least=least)
        assert all(set(numbers) <= {1} for numbers in inside)
        assert seen() == before
    assert spread(lambda _: seen(), range(1), least=1) == [before], "one item may be large"


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("items", [0, 1, 2, 5])
def test_items_prepared_ahead_come_in_order(monkeypatch, count, items) -> None:
    monkeypatch.setattr(threads, "thread_count", lambda: count)
    assert list(one_ahead(lambda k: 2 * k + 1, range(1, items + 1))) == [
        2 * k + 1 for k in range(1, items + 1)
    ]


def test_exactly_one_item_is_prepared_ahead(monkeypatch) -> None:
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    made = [threading.Event() for _ in range(4)]

    def work(k: int) -> int:
        made[k - 1].set()
        return k

    for k in one_ahead(work, [1, 2, 3, 4]):
        if k < 4:
            assert made[k].wait(120)  # nobody has asked for it yet
        assert not any(event.is_set() for event in made[k + 1 :])


def test_an_error_ahead_reaches_the_caller_in_its_turn(monkeypatch) -> None:
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    coming = one_ahead(lambda k: 6 // (2 - k), [1, 2, 3])
    assert next(coming) == 6
    with pytest.raises(ZeroDivisionError):
        next(coming)


@pytest.mark.parametrize("limit", [1, 2, 9])
@pytest.mark.parametrize("items", [[], [3], [3, 1, 2]])
def test_results_of_single_items_come_in_order(monkeypatch, limit, items) -> None:
    monkeypatch.setattr(threads, "thread_count", lambda: limit)
    assert map_in_threads(lambda item: 2 * item, items) == [2 * item for item in items]


def test_single_items_run_at_the_same_time(monkeypatch) -> None:
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    barrier = threading.Barrier(2, timeout=60)
    assert sorted(map_in_threads(lambda _: barrier.wait(), "ab")) == [0, 1]


def test_portions_share_the_threads(monkeypatch) -> None:
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with limit_threads(6):
        assert spread(lambda _: thread_count(), range(8), least=4) == [3, 3]
        assert spread(lambda _: thread_count(), range(8), least=1) == [1] * 6
        assert spread(lambda _: thread_count(), range(8), least=8) == [6]
