"""Jobs: long work that is asked for once and looked at until it is done."""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition, Thread
from time import monotonic
from typing import Any

from nlgauge.service.errors import Fault, busy, fault_of
from nlgauge.service.progress import Cancelled, Effort


@dataclass(eq=False)
class Job:
    """One piece of long work and what has become of it."""

    id: str
    kind: str
    effort: Effort
    work: Callable[[Effort], bytes] | None  # let go of once it is done, with all its texts
    state: str = "queued"
    result: bytes | None = field(default=None, repr=False)
    fault: Fault | None = None
    finished: float | None = None

    def answer(self, ahead: int) -> dict[str, Any]:
        """The job without its result."""
        pace = self.effort.pace
        return {
            "id": self.id,
            "kind": self.kind,
            "state": self.state,
            "rows_done": self.effort.rows_done,
            "rows_total": self.effort.rows_total,
            "pairs_per_second": None if pace is None else round(pace, 1),
            "seconds": round(self.effort.seconds, 3),
            "ahead": ahead,
            "error": None if self.fault is None else self.fault.content(),
        }


class Jobs:
    """A thread that does one job after the other, and the table of those it knows."""

    def __init__(
        self,
        start: Callable[[], Effort],
        *,
        waiting: int,
        kept: int,
        kept_bytes: int,
        kept_seconds: float,
    ) -> None:
        self._start = start
        self._most_waiting = waiting
        self._kept = kept
        self._kept_bytes = kept_bytes
        self._kept_seconds = kept_seconds
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._queue: deque[Job] = deque()
        self._changed = Condition()
        self._open = True
        self._thread = Thread(target=self._work, name="nlgauge-jobs", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        """How many jobs wait or run."""
        with self._changed:
            return sum(job.finished is None for job in self._jobs.values())

    def put(self, kind: str, work: Callable[[Effort], bytes]) -> bytes:
        """Queue a job; its first answer."""
        with self._changed:
            if len(self._queue) >= self._most_waiting:
                raise busy(f"{len(self._queue)} jobs are waiting already", seconds=30)
            job = Job(secrets.token_urlsafe(16), kind, self._start(), work)
            self._forget_old()
            self._jobs[job.id] = job
            self._queue.append(job)
            self._changed.notify()
            return self._written(job)

    def get(self, id: str) -> bytes:
        """How far a job is, and its result once it is done."""
        with self._changed:
            return self._written(self._find(id))

    def cancel(self, id: str) -> bytes:
        """Have a job end and forget it, whatever its state is."""
        with self._changed:
            job = self._find(id)
            del self._jobs[id]
            if job in self._queue:
                self._queue.remove(job)
            job.effort.cancel()
            job.state, job.result, job.fault = "cancelled", None, None
            return self._written(job)

    def close(self) -> None:
        """Cancel everything and end the thread."""
        with self._changed:
            self._open = False
            for job in self._jobs.values():
                job.effort.cancel()
            self._changed.notify()
        self._thread.join()

    def _find(self, id: str) -> Job:
        self._forget_old()
        if id not in self._jobs:
            raise Fault(
                404, "not_found", "there is no such job; it was cancelled, or done long ago"
            )
        return self._jobs[id]

    def _written(self, job: Job) -> bytes:
        ahead = self._queue.index(job) + 1 if job in self._queue else 0
        text = json.dumps(job.answer(ahead), ensure_ascii=False)
        # The result is JSON already, and may be large.
        return text[:-1].encode() + b', "result": ' + (job.result or b"null") + b"}"

    def _forget_old(self) -> None:
        """Forget results that are too old, too many or together too large, the oldest first."""
        done = [job for job in self._jobs.values() if job.finished is not None]
        held = 0
        for number, job in enumerate(reversed(done), start=1):
            held += len(job.result or b"")
            age = monotonic() - (job.finished or 0.0)
            crowded = number > self._kept or (number > 1 and held > self._kept_bytes)
            if crowded or age > self._kept_seconds:
                del self._jobs[job.id]

    def _work(self) -> None:
        while (job := self._next()) is not None:
            result, fault = self._done(job)
            with self._changed:
                job.work, job.finished = None, monotonic()
                if job.state == "running":
                    job.state = "done" if fault is None else "failed"
                    job.result, job.fault = result, fault

    def _next(self) -> Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or not self._open)
            if not self._open:
                return None
            job = self._queue.popleft()
            job.state = "running"
            return job

    def _done(self, job: Job) -> tuple[bytes | None, Fault | None]:
        assert job.work is not None
        try:
            return job.work(job.effort), None
        except Cancelled:
            return None, None
        except Exception as error:  # told to whoever asks for the job
            return None, fault_of(error)
