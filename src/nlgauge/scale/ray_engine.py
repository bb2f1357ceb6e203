"""The Ray engine: one actor per worker, on this machine or on a cluster."""

import os
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Self

from nlgauge.core.errors import MissingExtra, NlgaugeError, UsageError
from nlgauge.inputs import Tables
from nlgauge.scale.engine import ATTEMPTS, QUEUED_PER_WORKER, Engine, WorkerLost
from nlgauge.scale.worker import Work, Worker, WorkerConfig

try:
    import ray
    from ray.exceptions import RayActorError, RayTaskError
except ImportError:
    raise MissingExtra("--engine ray", "ray", "ray") from None


class RayEngine(Engine[Any]):
    """Ray actors, which Ray restarts when they die, on a running or a temporary cluster."""

    attempts = 1  # Ray itself submits a part again, see max_task_retries

    def __init__(self, config: WorkerConfig, workers: int, address: str | None) -> None:
        self._config, self._workers, self._address = config, workers, address
        self.capacity = workers * QUEUED_PER_WORKER
        self._started = False
        self._actors: list[Any] = []
        self._actor_of: dict[Any, Any] = {}
        self._tasks_of: Counter[Any] = Counter()

    def __enter__(self) -> Self:
        """Join or start the cluster, and start the actors."""
        self._started = not ray.is_initialized()
        if self._started:
            _connect(self._address, self._workers)
        cuda = self._config.runtime.device.startswith("cuda")
        try:
            _check_resources(self._workers, ["CPU", "GPU"] if cuda else ["CPU"])
        except UsageError:
            self.__exit__(None, None, None)
            raise
        actor: Any = ray.remote(
            num_cpus=1,
            num_gpus=int(cuda),
            scheduling_strategy="SPREAD",
            max_restarts=-1,  # a long run survives the loss of many machines
            max_task_retries=ATTEMPTS - 1,
        )(WorkerActor)
        folder = str(Path.cwd())
        self._actors = [actor.remote(self._config, folder) for _ in range(self._workers)]
        return self

    def share_tables(self, tables: Sequence[Tables]) -> None:
        """Put the tables into Ray's object store, from which every actor reads them once."""
        self._load_tables = partial(ray.get, ray.put(tables))

    def _submit(self, work: Work, task: Any) -> Any:
        actor = min(self._actors, key=self._tasks_of.__getitem__)
        submitted = actor.run.remote(work, task, self._load_tables)
        self._actor_of[submitted] = actor
        self._tasks_of[actor] += 1
        return submitted

    def _wait(self, tasks: Collection[Any]) -> Collection[Any]:
        listed = list(tasks)
        ray.wait(listed, num_returns=1)
        # All that are done, as every call takes time in proportion to the tasks in progress.
        done: Collection[Any] = ray.wait(listed, num_returns=len(listed), timeout=0)[0]
        return done

    def _result(self, task: Any) -> Any:
        self._tasks_of[self._actor_of.pop(task)] -= 1
        try:
            return ray.get(task)
        except RayActorError as error:
            if error.actor_init_failed:  # the last line is the reason, the rest a traceback
                reason = str(error).strip().rpartition("\n")[2]
                raise NlgaugeError(f"a worker cannot start: {reason}") from error
            raise WorkerLost from error
        except RayTaskError as error:  # raise the worker's own error
            cause = error.cause
            raise (cause if isinstance(cause, NlgaugeError | MemoryError) else error) from None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Stop the actors, and the cluster if it was started here."""
        for actor in self._actors:
            ray.kill(actor)
        if self._started:
            ray.shutdown()


class WorkerActor(Worker):
    """A worker that finds relative paths as the driver does."""

    def __init__(self, config: WorkerConfig, folder: str) -> None:
        with suppress(OSError):  # a machine without the folder still reads absolute paths
            os.chdir(folder)
        super().__init__(config)


def _connect(address: str | None, workers: int) -> None:
    """Join the cluster at an address, or start one on this machine."""
    options = {"num_cpus": workers, "include_dashboard": False} if address is None else {}
    start: Any = ray.init
    try:
        start(address or "local", log_to_driver=False, configure_logging=False, **options)
    except Exception as error:  # Ray raises just that when a busy machine starts it too slowly
        if address is not None:
            raise UsageError(f"no Ray cluster answers at {address!r}: {error}") from error
        raise NlgaugeError(
            f"Ray could not be started here: {error} Try again when the machine is less busy, "
            "or use --engine local"
        ) from error


def _check_resources(workers: int, kinds: Sequence[str]) -> None:
    """Raise if Ray would wait forever for resources that the cluster does not have."""
    resources: Any = ray.cluster_resources
    for kind in kinds:
        available = resources().get(kind, 0)
        if workers > available:
            raise UsageError(
                f"{workers} workers need {workers} {kind}s, but the Ray cluster has {available:g}; "
                "use fewer --workers, or add machines first"
            )
