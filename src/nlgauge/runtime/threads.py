"""Work spread over the cores, for arithmetic that releases the global interpreter lock."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from importlib import import_module
from itertools import chain
from threading import Lock
from typing import Any, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")

_LIMIT: ContextVar[int | None] = ContextVar("thread_limit", default=None)


def thread_count() -> int:
    """Return how many threads may compute at once.

    That is `limit_threads`, else OMP_NUM_THREADS, else the cores of this process.
    """
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
    """What ``work`` makes of consecutive portions of the items, in order.

    A portion has at least ``least`` items: fewer are not worth a thread. Nor are the products of
    matrices of one among several items; a single item may be large, and has all cores.
    """
    if len(items) < 2:
        return [work(items)]
    threads = thread_count()
    count = max(1, min(threads, len(items) // least))
    edges = [len(items) * k // count for k in range(count + 1)]
    portions = [items[edges[k] : edges[k + 1]] for k in range(count)]
    with _BLAS.alone():
        if count == 1:
            return [work(items)]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(work, portions))


def one_ahead(work: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
    """What ``work`` makes of each item, in order; the next is made while one is in use."""
    rest = iter(items)
    first = next(rest, None)
    second = next(rest, None)
    if first is None or second is None or thread_count() == 1:
        given = (item for item in (first, second) if item is not None)
        yield from map(work, chain(given, rest))
        return
    with ThreadPoolExecutor(1) as pool:
        context = copy_context()
        coming = pool.submit(context.run, work, first)
        for item in chain((second,), rest):
            made, coming = coming, pool.submit(context.run, work, item)
            yield made.result()
        yield coming.result()


class _Blas:
    """The linear algebra behind numpy, which starts threads of its own that would fight ours.

    Its number of threads is one setting of the whole process: the first who comes lowers it, the
    last who leaves restores it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._guests = 0
        self._limit: Any = None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One thread for each product of matrices while the block runs."""
        with self._lock:
            if not self._guests:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._guests += 1
        try:
            yield
        finally:
            with self._lock:
                self._guests -= 1
                if not self._guests:
                    self._limit.restore_original_limits()


@cache
def _controller() -> Any:
    return import_module("threadpoolctl").ThreadpoolController()  # imported by need: it is slow


_BLAS = _Blas()
