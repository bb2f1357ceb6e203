"""The Ray engine: one actor per worker, on this machine or on a cluster."""

import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Self

from nlgauge.core.errors import MissingExtra, NlgaugeError, UsageError
from nlgauge.inputs import Tables
from nlgauge.scale.engine import QUEUED_PER_WORKER, Engine, WorkerLost, warn_of_lost_worker
from nlgauge.scale.worker import Work, Worker, WorkerConfig

try:
    import ray
    from ray.exceptions import ObjectLostError, RayActorError, RayTaskError
except ImportError:
    raise MissingExtra("--engine ray", "ray", "ray") from None


class RayEngine(Engine[Any]):
    """Ray actors on a running or a temporary cluster.

    The tasks of an actor that dies are run by the others. The actor is replaced as soon as the
    cluster has resources, which may be never if a machine is lost.
    """

    def __init__(self, config: WorkerConfig, workers: int, address: str | None) -> None:
        self._config, self._workers, self._address = config, workers, address
        self.capacity = workers * QUEUED_PER_WORKER
        self._started = False
        self._actors: list[Any] = []
        self._starting: dict[Any, Any] = {}  # replacements, by the task that ends with their start
        self._actor_of: dict[Any, Any] = {}
        self._tasks_of: Counter[Any] = Counter()

    def __enter__(self) -> Self:
        """Join or start the cluster, and start the actors."""
        self._started = not ray.is_initialized()
        if self._started:
            _connect(self._address, self._workers)
        try:
            _check_resources(self._workers, ["CPU", "GPU"] if self._cuda else ["CPU"])
        except UsageError:
            self.__exit__(None, None, None)
            raise
        self._actors = [self._start_actor() for _ in range(self._workers)]
        return self

    @property
    def _cuda(self) -> bool:
        return self._config.runtime.device.startswith("cuda")

    def _start_actor(self) -> Any:
        # Restarts are disabled: Ray would hold back the tasks of an actor until it can restart.
        options = {"num_cpus": 1, "num_gpus": int(self._cuda), "scheduling_strategy": "SPREAD"}
        remote: Any = ray.remote
        actor = remote(**options)(WorkerActor)
        return actor.remote(self._config, str(Path.cwd()))

    def share_tables(self, tables: Sequence[Tables], scratch: Path) -> None:
        """Put the tables into Ray's object store; every actor reads them once."""
        self._load_tables = partial(ray.get, ray.put(tables))

    def _submit(self, work: Work, task: Any) -> Any:
        while not self._actors:
            self._wait(())
        actor = min(self._actors, key=self._tasks_of.__getitem__)
        submitted = actor.run.remote(work, task, self._load_tables)
        self._actor_of[submitted] = actor
        self._tasks_of[actor] += 1
        return submitted

    def _wait(self, tasks: Collection[Any]) -> Collection[Any]:
        listed = [*tasks, *self._starting]
        ray.wait(listed, num_returns=1)
        # Return all finished tasks: the time of a call is proportional to the tasks in progress.
        finished: list[Any] = ray.wait(listed, num_returns=len(listed), timeout=0)[0]
        for started in [task for task in finished if task in self._starting]:
            finished.remove(started)
            actor = self._starting.pop(started)
            try:
                with _explain_errors():
                    ray.get(started)
                self._actors.append(actor)
            except WorkerLost:
                warn_of_lost_worker()
                self._replace(actor)
        return finished

    def _result(self, task: Any) -> Any:
        actor = self._actor_of.pop(task)
        self._tasks_of[actor] -= 1
        try:
            with _explain_errors():
                return ray.get(task)
        except WorkerLost:
            if actor in self._actors:
                warn_of_lost_worker()
                self._actors.remove(actor)
                self._replace(actor)
            raise

    def _replace(self, actor: Any) -> None:
        ray.kill(actor)  # it may be disconnected but still running
        replacement = self._start_actor()
        self._starting[replacement.ready.remote()] = replacement

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Stop the actors, and the cluster if it was started here."""
        for actor in (*self._actors, *self._starting.values()):
            ray.kill(actor)
        if self._started:
            ray.shutdown()


@contextmanager
def _explain_errors() -> Iterator[None]:
    """Turn Ray's errors into WorkerLost or the error that a worker raised."""
    try:
        yield
    except RayActorError as error:
        if error.actor_init_failed:  # the last line is the reason, the rest a traceback
            reason = str(error).strip().rpartition("\n")[2]
            raise NlgaugeError(f"a worker cannot start: {reason}") from error
        raise WorkerLost from error
    except ObjectLostError as error:  # the result was lost with its machine
        raise WorkerLost from error
    except RayTaskError as error:
        cause = error.cause
        raise (cause if isinstance(cause, NlgaugeError | MemoryError) else error) from None


class WorkerActor(Worker):
    """A worker in the working directory of the driver, for relative paths."""

    def __init__(self, config: WorkerConfig, folder: str) -> None:
        with suppress(OSError):  # a machine without the folder still reads absolute paths
            os.chdir(folder)
        super().__init__(config)

    def ready(self) -> None:
        """Do nothing; the call returns when the worker has started."""


def _connect(address: str | None, workers: int) -> None:
    """Join the cluster at an address, or start one on this machine."""
    options = {"num_cpus": workers, "include_dashboard": False} if address is None else {}
    start: Any = ray.init
    try:
        start(address or "local", log_to_driver=False, configure_logging=False, **options)
    except Exception as error:  # Ray raises this when a busy machine starts it too slowly
        if address is not None:
            raise UsageError(f"no Ray cluster answers at {address!r}: {error}") from error
        raise NlgaugeError(
            f"Ray could not be started here: {error} Try again when the machine is less busy, "
            "or use --engine local"
        ) from error


def _check_resources(workers: int, kinds: Sequence[str]) -> None:
    """Raise an error if the cluster lacks resources, for which Ray would wait forever."""
    resources: Any = ray.cluster_resources
    for kind in kinds:
        available = resources().get(kind, 0)
        if workers > available:
            raise UsageError(
                f"{workers} workers need {workers} {kind}s, but the Ray cluster has {available:g}; "
                "use fewer --workers, or add machines first"
            )
