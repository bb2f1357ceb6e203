"""The scheduler, which owns all queues and threads of the work that uses models.

Short requests are batched; they and other small requests use the models of this process in order of
arrival. Long requests and jobs run in separate processes, which are killed at the time limit.
Requests are only merged if this cannot change scores: they have the same metrics and the same
number of references, and no metric is fitted on the references.
"""

import dataclasses
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import InvalidStateError
from contextlib import suppress
from itertools import chain
from threading import Condition, Lock, Thread
from time import monotonic
from typing import Any

from nlgauge.core.corpus import Corpus
from nlgauge.core.scores import Scores
from nlgauge.service.errors import busy, log, service_error
from nlgauge.service.settings import Settings
from nlgauge.service.task import Cancelled, FairLock, Kind, ShortTask, Task, TaskGroup

Results = dict[Any, bytes | Exception]
_THREADS: Mapping[Kind, int] = {"short": 1, "single": 1, "long": 2, "job": 1}
_IN_PROCESSES: tuple[Kind, ...] = ("long", "job")
PROCESSES = sum(_THREADS[kind] for kind in _IN_PROCESSES)
_CLOSE_SECONDS = 1.0  # time to wait for threads that are computing
_MAX_WINDOWS = 10  # that a batch waits while requests keep arriving
_FOLLOW_UP = 0.3  # share of a batch's run time in which its clients may send their next request


class Scheduler:
    """Runs tasks in threads; ``on_batch`` receives the requests and rows of every batch.

    An idle thread waits until no short task has arrived for ``settings.window`` seconds. The next
    batch waits briefly for clients that have just received a response; otherwise clients would
    split into two alternating groups.
    """

    def __init__(self, settings: Settings, on_batch: Callable[[int, int], None]) -> None:
        self.models = FairLock()  # encoders are not thread-safe
        self._settings = settings
        self._on_batch = on_batch
        self._lock = Lock()
        self._queues: dict[Kind, deque[Any]] = {kind: deque() for kind in _THREADS}
        self._changed = {kind: Condition(self._lock) for kind in _THREADS}
        self._running: dict[Kind, list[Any]] = {kind: [] for kind in _THREADS}
        self.open = True
        self._expected = 0  # clients of the last batch that may send their next request
        self._expected_seconds = 0.0
        self._threads = [
            Thread(target=self._work, args=(kind,), name=f"nlgauge-{kind}", daemon=True)
            for kind, count in _THREADS.items()
            for _ in range(count)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def waiting_requests(self) -> int:
        """The number of requests that wait for a thread."""
        return sum(len(queue) for kind, queue in self._queues.items() if kind != "job")

    @property
    def long_running(self) -> int:
        """The number of long tasks that have a thread."""
        return len(self._running["long"])

    def position(self, task: Task) -> int:
        """Return the position of a task in its queue, from 1; 0 if it is not waiting."""
        with self._lock:
            queue = self._queues[task.kind]
            return queue.index(task) + 1 if task in queue else 0

    def check_capacity(self, kind: Kind) -> None:
        """Raise an error with status 429 if the queue of this kind of task is full."""
        if kind == "job":
            jobs = len(self._queues["job"])
            if jobs >= self._settings.jobs:
                raise busy(f"{jobs} jobs are waiting already", seconds=30)
        elif (requests := self.waiting_requests) >= self._settings.queue:
            raise busy(f"{requests} requests are waiting already; try again soon", seconds=1)

    def submit(self, task: Task) -> None:
        """Queue a task, or raise an error if the queue is full."""
        with self._lock:
            self.check_capacity(task.kind)
            self._queues[task.kind].append(task)
            self._changed[task.kind].notify()

    def cancel(self, task: Task) -> None:
        """Cancel a task, and remove it from the queue if it is waiting."""
        task.cancel()
        with self._lock:
            if task in self._queues[task.kind]:
                self._queues[task.kind].remove(task)
                task.future.set_running_or_notify_cancel()

    def close(self) -> None:
        """Cancel all tasks and end the threads."""
        with self._lock:
            self.open = False
            tasks = [*chain(*self._queues.values(), *self._running.values())]
            for changed in self._changed.values():
                changed.notify_all()
        for task in tasks:
            task.cancel()
            _finish(task, Cancelled())  # a busy thread may notice it late
        latest = monotonic() + _CLOSE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, latest - monotonic()))

    def _work(self, kind: Kind) -> None:
        while tasks := self._next(kind):
            begun = monotonic()
            results = self._run(tasks)
            if kind == "short":
                self._expected_seconds = _FOLLOW_UP * (monotonic() - begun)
            with self._lock:
                self._running[kind] = [task for task in self._running[kind] if task not in results]
            for task, result in results.items():
                del task.run  # with the texts it refers to
                _finish(task, result)
            if kind == "short":
                scored = [len(task.corpus) for task, got in results.items() if type(got) is bytes]
                self._on_batch(len(scored), sum(scored))

    def _next(self, kind: Kind) -> list[Task]:
        """Return the tasks to run next, none if the scheduler is closed."""
        queue = self._queues[kind]
        with self._lock:
            while True:
                was_idle = not queue
                self._changed[kind].wait_for(lambda: queue or not self.open)
                if not self.open:
                    return []
                taken = self._next_batch(was_idle) if kind == "short" else [queue.popleft()]
                tasks = [task for task in taken if task.future.set_running_or_notify_cancel()]
                if tasks:
                    self._running[kind] += tasks
                    return tasks

    def _next_batch(self, was_idle: bool) -> list[ShortTask]:
        """Return the first short task and those with the same key that arrive in time."""
        queue, missed = self._queues["short"], False
        if was_idle:
            self._await_quiet()
        elif self._settings.window > 0 and self._expected > 1:
            waiting = len(queue)
            self._wait_short(waiting + self._expected, self._expected_seconds)
            missed = len(queue) - waiting < self._expected / 2
        tasks = self._take_batch()
        # If other clients than the expected ones send requests, the next batch does not wait.
        self._expected = 0 if missed else len(tasks)
        return tasks

    def _await_quiet(self) -> None:
        window = self._settings.window
        latest = monotonic() + _MAX_WINDOWS * window
        queued = 0
        while len(self._queues["short"]) > queued and (remaining := latest - monotonic()) > 0:
            queued = len(self._queues["short"])
            self._wait_short(queued + 1, min(window, remaining))

    def _wait_short(self, count: int, seconds: float) -> None:
        """Wait for this number of short tasks, or for a full batch."""
        queue, limit = self._queues["short"], self._settings.batch_rows

        def enough() -> bool:
            full = sum(len(task.corpus) for task in queue) >= limit
            return full or len(queue) >= count or not self.open

        self._changed["short"].wait_for(enough, seconds)

    def _take_batch(self) -> list[ShortTask]:
        queue: deque[ShortTask] = self._queues["short"]
        free, batch = self._settings.batch_rows, list[ShortTask]()
        for task in list(queue):
            fits = self._settings.window > 0 and len(task.corpus) <= free
            if not batch or (fits and task.key == batch[0].key):
                batch.append(task)
                queue.remove(task)
                free -= len(task.corpus)
        return batch

    def _run(self, tasks: list[Any]) -> Results:
        """Return the result of every task; a task that fails does not affect the others."""
        results: Results = dict.fromkeys(tasks, Cancelled())
        needed = [task for task in tasks if not task.cancelled]
        if len(needed) > 1:
            try:
                return results | self._run_batch(needed)
            except Cancelled:
                return results
            except Exception as error:
                log.info("a batch of %d requests is scored one by one: %s", len(needed), error)
        return results | {task: _result_of(self._run_alone, task) for task in needed}

    def _run_alone(self, task: Task) -> bytes:
        if task.kind in _IN_PROCESSES:
            with task.timed():
                return task.run(task)
        with task.holding(self.models):
            return task.run(task)

    def _run_batch(self, tasks: list[ShortTask]) -> Results:
        group = TaskGroup(tasks)
        with group.holding(self.models):
            for task in tasks:
                task.started = group.started
            corpus = _join([task.corpus for task in tasks])
            board = tasks[0].scorer.score_corpus(corpus, progress=group.progress)
        return {
            task: _result_of(task.write, _split(number, task.corpus, board))
            for number, task in enumerate(tasks)
        }


def _finish(task: Task, result: bytes | Exception) -> None:
    """Set the result of a task, unless it has been cancelled since."""
    with suppress(InvalidStateError):
        if isinstance(result, bytes):
            task.future.set_result(result)
        else:
            task.future.set_exception(result)


def _result_of(function: Callable[[Any], bytes], argument: Any) -> bytes | Exception:
    """Return the result of the function, or the exception to raise when it is awaited."""
    try:
        return function(argument)
    except Cancelled as cancelled:
        return cancelled
    except Exception as error:
        return service_error(error)


def _join(corpora: list[Corpus]) -> Corpus:
    """Return all rows in one corpus; names of systems and segments are prefixed by a number."""
    return Corpus.from_rows(
        (candidate, references, f"{number} {system}", f"{number} {name}", source)
        for number, corpus in enumerate(corpora)
        for candidate, references, system, name, source in corpus.rows()
    )


def _split(number: int, corpus: Corpus, board: Mapping[str, Mapping[str, Scores]]) -> list[Scores]:
    """Return the scores of one of the joined corpora, with its original names."""
    return [
        dataclasses.replace(
            scores, system=system, ids=corpus.ids_of(system), aligner=None, word_costs=None
        )
        for system in corpus.system_names
        for scores in board[f"{number} {system}"].values()
    ]
