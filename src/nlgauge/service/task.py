"""Tasks of the scheduler: progress, time limit, cancellation, and the lock of the models.

A short task is scored in a batch with others and a single task alone, both in this process; long
tasks and jobs run in separate processes.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Condition, Event
from time import monotonic
from typing import Any, Literal

from nlgauge.core.corpus import Corpus
from nlgauge.core.scores import Scores
from nlgauge.scoring import Scorer

Kind = Literal["short", "single", "long", "job"]
Write = Callable[[list[Scores]], bytes]


def flat(board: Mapping[str, Mapping[str, Scores]]) -> list[Scores]:
    """Return the scores in the order of systems, then of metrics."""
    return [scores for by_metric in board.values() for scores in by_metric.values()]


class Cancelled(Exception):
    """The task was cancelled, or its time is over."""


class FairLock:
    """A first-in, first-out lock; ``threading.Lock`` guarantees no order."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._callers = 0
        self._released = 0

    def acquire(self) -> None:
        """Wait until all earlier callers have released the lock."""
        with self._changed:
            before = self._callers
            self._callers += 1
            self._changed.wait_for(lambda: self._released == before)

    def release(self) -> None:
        """Pass the lock to the next caller."""
        with self._changed:
            self._released += 1
            self._changed.notify_all()


class Task:
    """A function that runs in a thread of the scheduler; its result arrives in ``future``."""

    def __init__(
        self, kind: Kind, run: "Callable[[Task], bytes]", *, seconds: float | None = None
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
        self.report: Callable[[int, int], None] | None = None

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled, or its time is over."""
        return self._cancelled.is_set() or (self._ends is not None and monotonic() > self._ends)

    @property
    def seconds(self) -> float:
        """Run time so far, or in total."""
        return (self.finished or monotonic()) - self.started if self.started else 0.0

    def cancel(self) -> None:
        """End the task before its next chunk of rows."""
        self._cancelled.set()
        self.future.cancel()

    def progress(self, done: int, total: int) -> None:
        """Record the progress; raise Cancelled if cancelled; release the models at the end."""
        self.rows_done, self.rows_total = done, total
        if self.report is not None:
            self.report(done, total)
        if self.cancelled:
            raise Cancelled
        if self._held is not None and done >= total:  # statistics follow, which need no model
            self._held.release()
            self._held = None

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Record when the block begins and ends."""
        self.started = monotonic()
        try:
            yield
        finally:
            self.finished = monotonic()

    @contextmanager
    def holding(self, models: FairLock) -> Iterator[None]:
        """Hold the models until all rows are scored, or the block ends."""
        models.acquire()
        self._held = models
        try:
            with self.timed():
                if self.cancelled:
                    raise Cancelled
                yield
        finally:
            if self._held is not None:
                self._held.release()


class ShortTask(Task):
    """A corpus to score, alone or together with others of the same key."""

    def __init__(
        self, scorer: Scorer, corpus: Corpus, key: Hashable, write: Write, **options: Any
    ) -> None:
        super().__init__("short", self.score, **options)
        self.scorer, self.corpus, self.key, self.write = scorer, corpus, key, write

    def score(self, task: Task) -> bytes:
        """The response, from the rows of this task only."""
        board = self.scorer.score_corpus(self.corpus, progress=task.progress)
        return self.write(flat(board))


class TaskGroup(Task):
    """Short tasks that run together; the group is cancelled when all of them are."""

    def __init__(self, members: Sequence[Task]) -> None:
        super().__init__("short", lambda _: b"")
        self._members = members

    @property
    def cancelled(self) -> bool:
        """Whether all members are cancelled."""
        return all(member.cancelled for member in self._members)
