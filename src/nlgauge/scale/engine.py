"""Engines: workers in this process, in a process pool or on a Ray cluster; results are equal."""

import os
import pickle
import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from nlgauge.core.errors import DataError, UsageError
from nlgauge.inputs import Tables
from nlgauge.runtime.processes import follow_parent
from nlgauge.runtime.threads import thread_count
from nlgauge.scale.run_folder import explain_errors
from nlgauge.scale.signals import delay_signals
from nlgauge.scale.worker import LoadTables, Work, Worker, WorkerConfig
from nlgauge.scoring import Scorer

ATTEMPTS = 3  # submissions of a task
QUEUED_PER_WORKER = 2  # so that no worker is idle while its result is received
Task = TypeVar("Task")


class WorkerWarning(UserWarning):
    """Warns that a worker died and its parts are scored again."""


def warn_of_lost_worker() -> None:
    """Warn that a worker died."""
    message = "a worker died; the parts in progress are scored again"
    warnings.warn(message, WorkerWarning, stacklevel=3)


class WorkerLost(Exception):
    """The worker of a task died."""


class Engine(ABC, Generic[Task]):
    """A context manager that runs tasks on workers."""

    capacity = 1  # tasks in progress at once
    _load_tables: LoadTables | None = None

    def run(self, work: Work, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield the result of the work on each task, in order of completion."""
        return (result for _, result in self._completed(work, tasks))

    def run_in_order(self, work: Work, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield the result of the work on each task, in the order of the tasks."""
        waiting: dict[int, Any] = {}
        following = 0
        for number, result in self._completed(work, tasks):
            waiting[number] = result
            while following in waiting:
                yield waiting.pop(following)
                following += 1

    def _completed(self, work: Work, tasks: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the number of each task and its result, in order of completion."""
        queue = enumerate(tasks)
        pending: dict[Task, tuple[int, Any, int]] = {}
        while True:
            for number, task in islice(queue, self.capacity - len(pending)):
                pending[self._submit(work, task)] = number, task, 1
            if not pending:
                return
            for submitted in self._wait(pending):
                number, task, attempt = pending.pop(submitted)
                try:
                    result = self._result(submitted)
                except WorkerLost as error:
                    if attempt == ATTEMPTS:
                        raise DataError(
                            f"workers died {ATTEMPTS} times while processing {task.name}, perhaps "
                            "out of memory; try fewer workers or smaller parts (--part-rows). "
                            "Finished parts are kept"
                        ) from error
                    pending[self._submit(work, task)] = number, task, attempt + 1
                else:
                    yield number, result

    @abstractmethod
    def share_tables(self, tables: Sequence[Tables], scratch: Path) -> None:
        """Send corpus tables to all workers, which use them from now on.

        ``scratch`` is the folder of temporary files, which is deleted after the run.
        """

    @abstractmethod
    def _submit(self, work: Work, task: Any) -> Task:
        """Start a task."""

    @abstractmethod
    def _wait(self, tasks: Collection[Task]) -> Collection[Task]:
        """Wait until tasks are done and return them."""

    @abstractmethod
    def _result(self, task: Task) -> Any:
        """Return the result of a task that is done, or raise its error or WorkerLost."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Stop the workers, at once after an error."""


def open_engine(
    name: str,
    config: WorkerConfig,
    workers: int,
    address: str | None = None,
    scorer: Scorer | None = None,
) -> Engine[Any]:
    """Return the named engine; a worker in this process uses ``scorer``, if given."""
    if name not in ("local", "ray"):
        raise UsageError(f"unknown engine {name!r}; the engines are local and ray")
    if workers < 1:
        raise UsageError(f"invalid number of workers {workers}; use at least 1")
    if name == "ray":
        from nlgauge.scale.ray_engine import RayEngine

        return RayEngine(config, workers, address)
    if address is not None:
        raise UsageError("an address requires --engine ray; local workers have none")
    return ProcessPool(config, workers) if workers > 1 else InProcess(config, scorer)


class InProcess(Engine[partial[Any]]):
    """One worker in this process; a task runs when its result is requested."""

    def __init__(self, config: WorkerConfig, scorer: Scorer | None = None) -> None:
        self._worker = Worker(config, scorer)

    def share_tables(self, tables: Sequence[Tables], scratch: Path) -> None:
        """Pass the tables on."""
        self._load_tables = lambda: tables

    def _submit(self, work: Work, task: Any) -> partial[Any]:
        return partial(self._worker.run, work, task, self._load_tables)

    def _wait(self, tasks: Collection[partial[Any]]) -> Collection[partial[Any]]:
        return list(tasks)

    def _result(self, task: partial[Any]) -> Any:
        return task()


class ProcessPool(Engine[Future[Any]]):
    """Worker processes; when one dies the pool is replaced and its parts are submitted again."""

    def __init__(self, config: WorkerConfig, workers: int) -> None:
        self._config, self._workers = config, workers
        self.capacity = workers * QUEUED_PER_WORKER
        self._pool: ProcessPoolExecutor  # from the start of the context on
        self._previous: dict[str, str | None] = {}  # values of environment variables

    def _start(self) -> ProcessPoolExecutor:
        context = get_context("spawn")  # forked processes would inherit locks of torch
        return ProcessPoolExecutor(self._workers, context, _start_worker, (self._config,))

    def share_tables(self, tables: Sequence[Tables], scratch: Path) -> None:
        """Write the tables to a file that every worker reads once."""
        file = scratch / "tables"
        with explain_errors(scratch):
            scratch.mkdir(exist_ok=True)
            file.write_bytes(pickle.dumps(tables))
        self._load_tables = partial(_read_tables, file)

    def _submit(self, work: Work, task: Any) -> Future[Any]:
        try:
            with delay_signals():  # the pool may start a worker, which must be known to be killed
                return self._pool.submit(_work, work, task, self._load_tables)
        except BrokenProcessPool:
            warn_of_lost_worker()
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = self._start()
            return self._submit(work, task)

    def _wait(self, tasks: Collection[Future[Any]]) -> Collection[Future[Any]]:
        return wait(tasks, return_when=FIRST_COMPLETED).done

    def _result(self, task: Future[Any]) -> Any:
        try:
            return task.result()
        except (BrokenProcessPool, CancelledError) as error:
            raise WorkerLost from error

    def __enter__(self) -> Self:
        """Start the pool, with variables that divide the cores among the workers.

        The process of multiprocessing that deletes semaphores warns on stderr that they are left
        if the driver was ended by a second signal or killed.
        """
        threads = str(max(thread_count() // self._workers, 1))
        variables = {"OMP_NUM_THREADS": threads, "TOKENIZERS_PARALLELISM": "false"}
        variables |= {name: os.environ[name] for name in variables.keys() & os.environ.keys()}
        filters = [os.environ.get("PYTHONWARNINGS", ""), "ignore:resource_tracker:UserWarning"]
        variables["PYTHONWARNINGS"] = ",".join(filter(None, filters))
        self._previous = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)
        self._pool = self._start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Stop the workers; after an error, at once, because their results are not needed."""
        if error is not None:
            for process in list((self._pool._processes or {}).values()):
                process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for name in self._previous:
            del os.environ[name]
        os.environ.update({name: old for name, old in self._previous.items() if old is not None})


_workers: list[Worker] = []  # one in each process of the pool


def _start_worker(config: WorkerConfig) -> None:
    follow_parent()
    _workers.append(Worker(config))


def _read_tables(file: Path) -> Any:
    return pickle.loads(file.read_bytes())


def _work(work: Work, task: Any, load_tables: LoadTables | None) -> Any:
    return _workers[0].run(work, task, load_tables)
