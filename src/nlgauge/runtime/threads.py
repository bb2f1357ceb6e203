"""Parallel work in threads, for arithmetic that releases the global interpreter lock."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import chain, islice, pairwise
from threading import Lock
from typing import Any, TypeVar

from nlgauge.runtime.progress import portion, report_progress

Item = TypeVar("Item")
Made = TypeVar("Made")

_REPORT_SECONDS = 0.25  # between reports of progress while threads work
_LIMIT: ContextVar[int | None] = ContextVar("thread_limit", default=None)


def thread_count() -> int:
    """Return the maximum number of threads: `limit_threads`, OMP_NUM_THREADS or the cores."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    limit = _LIMIT.get()
    if limit is None:
        variable = os.environ.get("OMP_NUM_THREADS", "")
        limit = int(variable) if variable.isdigit() else cores
    return max(1, min(cores, limit))


@contextmanager
def limit_threads(count: int | None) -> Iterator[None]:
    """Use at most `count` threads in the block; None changes nothing."""
    token = _LIMIT.set(_LIMIT.get() if count is None else count)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def spread(
    work: Callable[[Sequence[Item]], Made], items: Sequence[Item], *, least: int
) -> list[Made]:
    """Return the results of ``work`` on consecutive portions of at least ``least`` items."""
    if len(items) < 2:  # a single item may be large: its matrix products use all cores
        return [work(items)]
    threads = thread_count()
    count = max(1, min(threads, len(items) // least))
    edges = pairwise(len(items) * k // count for k in range(count + 1))
    portions = [items[start:stop] for start, stop in edges]
    with _BLAS.alone():
        if count == 1:
            return [work(items)]

        def work_on(batch: Sequence[Item]) -> Made:
            with portion(len(batch) / len(items)), limit_threads(threads // count):
                return work(batch)

        with ThreadPoolExecutor(threads) as pool:
            futures = [pool.submit(copy_context().run, work_on, batch) for batch in portions]
            return [_result(future) for future in futures]


def map_in_threads(work: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
    """Return the results of ``work`` on each item; a free thread takes the next item."""
    threads = min(thread_count(), len(items))
    with _BLAS.alone():
        if threads < 2:
            return list(map(work, items))
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(work, items))


def one_ahead(work: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
    """Yield the result of ``work`` on each item; the next one is computed in the background."""
    remaining = iter(items)
    first = list(islice(remaining, 2))
    if len(first) < 2 or thread_count() == 1:
        yield from map(work, chain(first, remaining))
        return
    with ThreadPoolExecutor(1) as pool:
        context = copy_context()
        following = pool.submit(context.run, work, first[0])
        for item in chain(first[1:], remaining):
            current, following = following, pool.submit(context.run, work, item)
            yield _result(current)
        yield _result(following)


def _result(future: "Future[Made]") -> Made:
    """Wait for the result of a future, and report the progress of its thread."""
    while report_progress() and not future.done():
        wait([future], timeout=_REPORT_SECONDS)
    return future.result()


class _Blas:
    """Limits the threads of numpy's linear algebra, one setting of the whole process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._blocks = 0
        self._limit: Any = None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Use one thread for each product of matrices until the last such block ends."""
        with self._lock:
            if not self._blocks:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._blocks += 1
        try:
            yield
        finally:
            with self._lock:
                self._blocks -= 1
                if not self._blocks:
                    self._limit.restore_original_limits()


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # takes long to import

    return ThreadpoolController()


_BLAS = _Blas()
