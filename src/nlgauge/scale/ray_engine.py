"""The Ray engine: one actor per worker, on this machine or on a cluster."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, Self

from nlgauge.core.errors import MissingExtra, NlgaugeError, UsageError
from nlgauge.inputs import Tables
from nlgauge.scale.engine import ATTEMPTS, QUEUED_PER_WORKER, Engine, WorkerLost
from nlgauge.scale.parts import Part
from nlgauge.scale.worker import Method, Worker, WorkerConfig

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
        )(Worker)
        self._actors = [actor.remote(self._config) for _ in range(self._workers)]
        return self

    def share_tables(self, tables: Sequence[Tables]) -> None:
        """Put the tables into Ray's object store, from which every actor reads them once."""
        self._load_tables = partial(ray.get, ray.put(tables))

    def _submit(self, method: Method, part: Part) -> Any:
        busy = list(self._actor_of.values())
        actor = min(self._actors, key=busy.count)
        task = actor.run.remote(method, part, self._load_tables)
        self._actor_of[task] = actor
        return task

    def _wait(self, tasks: Collection[Any]) -> Collection[Any]:
        done: Collection[Any] = ray.wait(list(tasks), num_returns=1)[0]
        return done

    def _result(self, task: Any) -> Any:
        del self._actor_of[task]
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
