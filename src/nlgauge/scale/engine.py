"""Engines: who does the work on parts, in this process, in others, or on a Ray cluster.

Every engine takes parts one by one, keeps a bounded number under way, and yields results as they
come. Results do not depend on the engine: each part is scored by itself.
"""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from multiprocessing import get_context, parent_process
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from nlgauge.core.errors import DataError, UsageError
from nlgauge.scale.parts import Part
from nlgauge.scale.worker import Duty, Worker

Method = Literal["learn", "score"]
TRIES = 3
AHEAD = 2  # parts that wait for each worker, so that none runs dry while the next one is read


class Engine(Protocol):
    """A context in which parts are worked on."""

    def run(self, method: Method, parts: Iterable[Part]) -> Iterator[Any]:
        """What the workers' method makes of each part, in the order of completion."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *raised: Any) -> None: ...


def open_engine(
    name: str, duty: Duty, *, workers: int, address: str | None = None
) -> AbstractContextManager[Engine]:
    """The engine of a name with its workers ready."""
    if name not in ("local", "ray"):
        raise UsageError(f"there is no engine {name!r}; the engines are local and ray")
    if workers < 1:
        raise UsageError(f"{workers} workers cannot do any work; name at least 1")
    if name == "ray":
        from nlgauge.scale.ray_engine import RayEngine

        return RayEngine(duty, workers, address)
    if address is not None:
        raise UsageError("an address is for --engine ray; local workers have none")
    return Here(duty) if workers == 1 else Processes(duty, workers)


class Here:
    """The work done in this process."""

    def __init__(self, duty: Duty) -> None:
        self._worker = Worker(duty)

    def run(self, method: Method, parts: Iterable[Part]) -> Iterator[Any]:
        """What the worker's method makes of each part, in order."""
        return map(getattr(self._worker, method), parts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: Any) -> None:
        """Nothing to close."""


class Processes:
    """The work done by processes of their own; those that die are replaced, their parts redone."""

    def __init__(self, duty: Duty, workers: int) -> None:
        self._duty, self._workers = duty, workers
        self._pool = self._open()
        self._before: dict[str, str | None] = {}

    def _open(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._workers,
            mp_context=get_context("spawn"),  # a forked process would share locks of torch
            initializer=_begin,
            initargs=(self._duty,),
        )

    def run(self, method: Method, parts: Iterable[Part]) -> Iterator[Any]:
        """What the workers' method makes of each part, in the order of completion."""
        queue = iter(parts)
        under_way: dict[Future[Any], tuple[Part, int]] = {}
        while True:
            while len(under_way) < self._workers * AHEAD and (part := next(queue, None)):
                under_way[self._submit(method, part)] = part, 1
            if not under_way:
                return
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in [future for future in done if not _lost(future)]:
                del under_way[future]
                yield future.result()
            if any(map(_lost, under_way)):
                under_way = self._again(method, under_way)

    def _submit(self, method: Method, part: Part) -> Future[Any]:
        try:
            return self._pool.submit(_work, method, part)
        except BrokenProcessPool as error:  # as if it had broken a moment later
            lost: Future[Any] = Future()
            lost.set_exception(error)
            return lost

    def _again(
        self, method: Method, under_way: dict[Future[Any], tuple[Part, int]]
    ) -> dict[Future[Any], tuple[Part, int]]:
        """The parts that a broken pool left undone, handed to a new one."""
        warnings.warn("a worker died; the parts under way are done again", stacklevel=2)
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = self._open()
        kept = {}
        for future, (part, tries) in under_way.items():
            if not _lost(future):
                kept[future] = part, tries
            elif tries == TRIES:
                raise DataError(lost_too_often(part, tries))
            else:
                kept[self._submit(method, part)] = part, tries + 1
        return kept

    def __enter__(self) -> Self:
        """Share the cores: libraries read these variables once, when a worker first loads them."""
        threads = str(max((os.cpu_count() or 1) // self._workers, 1))
        for name, value in {"OMP_NUM_THREADS": threads, "TOKENIZERS_PARALLELISM": "false"}.items():
            self._before[name] = os.environ.get(name)
            os.environ.setdefault(name, value)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the workers, at once if something was raised, as nobody will take their parts."""
        if raised is not None:
            for process in list((self._pool._processes or {}).values()):
                process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)


def _lost(future: Future[Any]) -> bool:
    """Whether the future ended because its worker did."""
    if not future.done():
        return False
    return future.cancelled() or isinstance(future.exception(), BrokenProcessPool)


def lost_too_often(part: Part, tries: int) -> str:
    """The sentence for a part whose workers keep dying."""
    return (
        f"workers died {tries} times while {part.name} was with them, perhaps of memory; "
        "try fewer workers or smaller parts (--part-rows). Finished parts are kept"
    )


_worker: Worker | None = None  # one for each process of the pool


def _begin(duty: Duty) -> None:
    global _worker  # noqa: PLW0603 (the pool gives a worker no other place to live)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal tells everybody; the parent decides
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = Worker(duty)


def _end_with_parent() -> None:
    """End this process when its parent is gone, killed perhaps, or it would wait for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(method: Method, part: Part) -> Any:
    assert _worker is not None  # the initialiser has run
    call: Callable[[Part], Any] = getattr(_worker, method)
    return call(part)
