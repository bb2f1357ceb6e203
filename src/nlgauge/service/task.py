"""Tasks of the scheduler: progress, time limit, cancellation, and the lock of the models."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Event, Lock
from time import monotonic
from typing import Literal

from nlgauge.core.corpus import Corpus
from nlgauge.core.scores import Scores
from nlgauge.scoring import Scorer

Kind = Literal["short", "long", "job"]


class Cancelled(Exception):
    """The task was cancelled, or its time is over."""


class FairLock:
    """A first-in, first-out lock; ``threading.Lock`` guarantees no order."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: deque[Event] = deque()
        self._held = False

    def acquire(self) -> None:
        """Wait behind all earlier callers."""
        with self._lock:
            if not self._held:
                self._held = True
                return
            granted = Event()
            self._waiting.append(granted)
        granted.wait()

    def release(self) -> None:
        """Pass the lock to the first caller that waits."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._held = False

    def reacquire(self) -> None:
        """Release the lock to all callers that wait now, and take it again after them."""
        if self._waiting:
            self.release()
            self.acquire()


class Task:
    """A function that runs in a thread of the scheduler; its result arrives in ``future``."""

    def __init__(
        self, kind: Kind, run: Callable[[Task], bytes], *, seconds: float | None = None
    ) -> None:
        self.kind = kind
        self.run = run
        self.future: Future[bytes] = Future()
        self.started: float | None = None
        self.finished: float | None = None
        self.rows_done = 0
        self.rows_total: int | None = None
        self._ends = None if seconds is None else monotonic() + seconds
        self._cancelled = Event()
        self._held: FairLock | None = None

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled, or its time is over."""
        return self._cancelled.is_set() or (self._ends is not None and monotonic() > self._ends)

    @property
    def seconds(self) -> float:
        """Run time so far, or in total."""
        return (self.finished or monotonic()) - self.started if self.started else 0.0

    def cancel(self) -> None:
        """Have the task end before its next portion of rows."""
        self._cancelled.set()
        self.future.cancel()

    def progress(self, done: int, total: int) -> None:
        """Record the progress; raise Cancelled, or let other tasks use the models."""
        self.rows_done, self.rows_total = done, total
        if self.cancelled:
            raise Cancelled
        if done >= total:  # statistics follow, which need no model
            self._release()
        elif self.kind != "short" and self._held is not None:
            self._held.reacquire()

    @contextmanager
    def holding(self, models: FairLock) -> Iterator[None]:
        """Hold the models until all rows are scored, or the block ends."""
        models.acquire()
        self._held = models
        self.started = monotonic()
        try:
            if self.cancelled:
                raise Cancelled
            yield
        finally:
            self.finished = monotonic()
            self._release()

    def _release(self) -> None:
        if self._held is not None:
            self._held.release()
            self._held = None


class ShortTask(Task):
    """A corpus to score, alone or together with others of the same key."""

    def __init__(
        self,
        scorer: Scorer,
        corpus: Corpus,
        key: Hashable,
        write: Callable[[list[Scores]], bytes],
        *,
        seconds: float | None = None,
    ) -> None:
        super().__init__("short", self.score, seconds=seconds)
        self.scorer, self.corpus, self.key, self.write = scorer, corpus, key, write

    def score(self, task: Task) -> bytes:
        """The answer, from the rows of this task only."""
        board = self.scorer.score_corpus(self.corpus, progress=task.progress)
        return self.write([scores for by_metric in board.values() for scores in by_metric.values()])


class TaskGroup(Task):
    """Short tasks that run as one; it is cancelled once all of them are."""

    def __init__(self, members: Sequence[Task]) -> None:
        super().__init__("short", lambda _: b"")
        self._members = members

    @property
    def cancelled(self) -> bool:
        """Whether no member is needed any more."""
        return all(member.cancelled for member in self._members)

    @contextmanager
    def holding(self, models: FairLock) -> Iterator[None]:
        """Hold the models for all members."""
        with super().holding(models):
            for member in self._members:
                member.started = self.started
            yield
