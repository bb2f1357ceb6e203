"""Jobs: tasks that are posted once and polled until they are done."""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any

from nlgauge.service.errors import ServiceError
from nlgauge.service.scheduler import Scheduler
from nlgauge.service.settings import Settings
from nlgauge.service.task import Task


@dataclass(frozen=True, eq=False)
class Job:
    """A task that can be looked up by its id."""

    id: str
    kind: str
    task: Task

    @property
    def result(self) -> bytes | None:
        """The response as JSON, if the job is done."""
        future = self.task.future
        return future.result() if future.done() and future.exception() is None else None

    def to_dict(self, ahead: int) -> dict[str, Any]:
        """The job without its result."""
        task, future, error = self.task, self.task.future, None
        seconds = task.seconds
        state = "running" if future.running() else "queued"
        if future.done():
            error = future.exception()
            state = "done" if error is None else "failed"
        return {
            "id": self.id,
            "kind": self.kind,
            "state": state,
            "rows_done": task.rows_done,
            "rows_total": task.rows_total,
            "pairs_per_second": round(task.rows_done / seconds, 1) if task.rows_done else None,
            "seconds": round(seconds, 3),
            "ahead": ahead,
            "error": error.to_dict() if isinstance(error, ServiceError) else None,
        }


class Jobs:
    """The jobs that wait or run, and the results that are kept."""

    def __init__(self, scheduler: Scheduler, settings: Settings) -> None:
        self._scheduler = scheduler
        self._settings = settings
        self._lock = Lock()
        self._jobs: dict[str, Job] = {}

    def __len__(self) -> int:
        """The number of jobs that wait or run."""
        return sum(not job.task.future.done() for job in self._jobs.copy().values())

    def put(self, kind: str, run: Callable[[Task], bytes]) -> bytes:
        """Queue a job and return its first status."""
        job = Job(secrets.token_urlsafe(16), kind, Task("job", run))
        with self._lock:
            self._expire()
            self._scheduler.submit(job.task)
            self._jobs[job.id] = job
        return self._answer(job)

    def get(self, id: str) -> bytes:
        """The progress of a job, and its result once it is done."""
        with self._lock:
            return self._answer(self._find(id))

    def cancel(self, id: str) -> bytes:
        """Cancel a job if it is not done, and delete it."""
        with self._lock:
            job = self._find(id)
            del self._jobs[id]
            content = job.to_dict(0) | {"state": "cancelled", "error": None, "result": None}
            self._scheduler.cancel(job.task)
        return json.dumps(content).encode()

    def _find(self, id: str) -> Job:
        self._expire()
        if id not in self._jobs:
            message = "no such job: it was cancelled, its result expired, or the server restarted"
            raise ServiceError(404, "not_found", message)
        return self._jobs[id]

    def _answer(self, job: Job) -> bytes:
        content = job.to_dict(self._scheduler.position(job.task))
        result = job.result if content["state"] == "done" else None
        # The result is already JSON and may be large.
        return json.dumps(content)[:-1].encode() + b', "result": ' + (result or b"null") + b"}"

    def _expire(self) -> None:
        """Delete the oldest results if they are too old, too many or too large in total."""
        settings, held, number = self._settings, 0, 0
        for job in reversed(list(self._jobs.values())):
            if not job.task.future.done():
                continue
            number += 1
            held += len(job.result or b"")
            too_many = number > settings.kept_jobs or (number > 1 and held > settings.kept_bytes)
            if too_many or monotonic() - (job.task.finished or 0.0) > settings.kept_seconds:
                del self._jobs[job.id]
