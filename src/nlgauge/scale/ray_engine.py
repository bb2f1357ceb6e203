"""The work done by Ray actors, on this machine or on a cluster.

Each actor holds one scorer. Ray restarts an actor that dies and redoes its part; what was learnt
in the first pass is put into Ray's store once and read by every actor from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from nlgauge.core.errors import DataError, MissingExtra, NlgaugeError, UsageError
from nlgauge.scale.engine import AHEAD, TRIES, Method, lost_too_often
from nlgauge.scale.parts import Part
from nlgauge.scale.worker import Duty, Worker

try:
    import ray
    from ray.exceptions import RayActorError, RayTaskError
except ImportError:
    raise MissingExtra("--engine ray", "ray", "ray") from None


class RayEngine:
    """Actors that take parts; a cluster that was not there before is ended with the engine."""

    def __init__(self, duty: Duty, workers: int, address: str | None) -> None:
        self._duty, self._workers, self._address = duty, workers, address
        self._started = False
        self._actors: list[Any] = []

    def __enter__(self) -> Self:
        """Join or start the cluster, and start the actors."""
        self._started = not ray.is_initialized()
        if self._started:
            _connect(self._address, self._workers)
        try:
            self._start_actors()
        except UsageError:
            self.__exit__()
            raise
        return self

    def _start_actors(self) -> None:
        needs = {"CPU": 1, "GPU": 1} if self._duty.runtime.device.startswith("cuda") else {"CPU": 1}
        _refuse_too_many(self._workers, needs)
        actor: Any = ray.remote(
            num_cpus=needs["CPU"],
            num_gpus=needs.get("GPU", 0),
            scheduling_strategy="SPREAD",
            max_restarts=-1,  # a long run outlives many machines; a part counts its own tries
            max_task_retries=TRIES - 1,
        )(_Actor)
        self._stored = [ray.put(self._duty)]  # held, as an actor asks again when it is restarted
        self._actors = [actor.remote(self._stored) for _ in range(self._workers)]

    def run(self, method: Method, parts: Iterable[Part]) -> Iterator[Any]:
        """What the actors' method makes of each part, in the order of completion."""
        queue = iter(parts)
        under_way: dict[Any, tuple[Part, Any]] = {}
        free = [actor for actor in self._actors for _ in range(AHEAD)]
        while True:
            while free and (part := next(queue, None)):
                actor = free.pop(0)
                under_way[getattr(actor, method).remote(part)] = part, actor
            if not under_way:
                return
            (done, *_), _ = ray.wait(list(under_way), num_returns=1)
            part, actor = under_way.pop(done)
            free.append(actor)
            yield _result(done, part)

    def __exit__(self, *raised: Any) -> None:
        """Let the actors go, and the cluster if it was started here."""
        for actor in self._actors:
            ray.kill(actor)
        if self._started:
            ray.shutdown()


class _Actor(Worker):
    """A worker that fetches its duty from Ray's store."""

    def __init__(self, stored: Sequence[Any]) -> None:
        super().__init__(ray.get(stored[0]))


def _connect(address: str | None, workers: int) -> None:
    """Join the cluster at an address, or start one on this machine."""
    begin: Any = ray.init
    quiet = {"log_to_driver": False, "configure_logging": False}
    if address is None:
        try:
            begin("local", num_cpus=workers, include_dashboard=False, **quiet)
        except Exception as error:  # Ray raises just that when a busy machine is slow to start it
            raise NlgaugeError(
                f"Ray could not be started here: {error} Try again when the machine is less busy, "
                "or use --engine local"
            ) from error
        return
    try:
        begin(address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UsageError(f"no Ray cluster answers at {address!r}: {error}") from error


def _refuse_too_many(workers: int, needs: Mapping[str, int]) -> None:
    """Refuse workers that Ray would have wait for ever, without a word."""
    resources: Any = ray.cluster_resources
    there = resources()
    for kind, each in needs.items():
        if workers * each > there.get(kind, 0):
            raise UsageError(
                f"{workers} workers need {workers * each} {kind}s, but the Ray cluster has "
                f"{there.get(kind, 0):g}; name fewer with --workers, or add machines first"
            )


def _result(done: Any, part: Part) -> Any:
    try:
        return ray.get(done)
    except RayActorError as error:
        if error.actor_init_failed:  # say what its last line says; the rest is a traceback
            reason = str(error).strip().rpartition("\n")[2]
            raise NlgaugeError(f"a worker cannot start: {reason}") from error
        raise DataError(lost_too_often(part, TRIES)) from error
    except RayTaskError as error:  # what a worker refuses is refused here likewise
        cause = error.cause
        raise (cause if isinstance(cause, NlgaugeError | MemoryError) else error) from None
