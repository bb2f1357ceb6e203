"""Dispatch: runs requests as tasks of the scheduler and awaits their results."""

import asyncio
import os
from asyncio import CancelledError
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from starlette.requests import Request

from nlgauge.runtime.memory import MemoryTrimmer
from nlgauge.service.admission import Admission
from nlgauge.service.errors import ServiceError, busy, client_gone
from nlgauge.service.handlers import corpus_of, encode_json, handle, score_answer
from nlgauge.service.jobs import Jobs
from nlgauge.service.limits import Size, check_request
from nlgauge.service.prometheus import Measurements
from nlgauge.service.scheduler import PROCESSES, Scheduler
from nlgauge.service.schemas import Body, CardRequest, JudgeRequest, ScoreBody, Spec
from nlgauge.service.settings import Settings
from nlgauge.service.task import Cancelled, ShortTask, Task
from nlgauge.service.worker_process import WorkerProcesses

_TRIM_SECONDS = 2.0

# By default, OpenMP threads that wait for each other spin for milliseconds and occupy the cores
# that the other threads need. The variable is read once, when a model is opened.
_SPIN_VARIABLE = ("GOMP_SPINCOUNT", "1000")
# For texts up to this length, metrics that are not isolated need less than a second per pair.
_MAX_SMALL_TEXT = 1_000
_MAX_SMALL_CHARACTERS = 60_000


class Dispatcher:
    """The scheduler, models and measurements of a server; the constructor opens the models."""

    def __init__(self, settings: Settings) -> None:
        os.environ.setdefault(*_SPIN_VARIABLE)
        self.settings = settings
        self._seconds = settings.limits.seconds
        self.admission = Admission(settings)
        self.admission.open_models()
        self.measurements = Measurements()
        self._trimmer = MemoryTrimmer(_TRIM_SECONDS)
        self.scheduler = Scheduler(settings, self._on_batch)
        self._processes = WorkerProcesses(settings, PROCESSES)
        self.jobs = Jobs(self.scheduler, settings)
        waiting, running = "Requests that wait for a thread.", "Requests that run without batching."
        gauge = self.measurements.add_gauge
        gauge("nlgauge_waiting_requests", waiting, lambda: self.scheduler.waiting_requests)
        gauge("nlgauge_long_running", running, lambda: self.scheduler.long_running)
        gauge("nlgauge_jobs", "Jobs that wait or run.", lambda: len(self.jobs))

    async def answer(self, request: Request, body: Body) -> bytes:
        """Return the response to a request, from a separate process unless it is small."""
        size = check_request(body, self.settings.limits)
        metrics: Sequence[Spec] = () if isinstance(body, JudgeRequest) else body.metrics
        small = self._is_small(metrics, size)
        if small and isinstance(body, ScoreBody):
            task: Task = await self._short_task(body)
        # A card scores corrupted texts last, when the task has already released the models.
        elif small and not isinstance(body, CardRequest):
            task = Task("single", partial(self._handle, body), seconds=self._seconds)
        else:
            task = Task("long", partial(self.run_in_process, body), seconds=self._seconds)
        return await self._result(request, task)

    async def _short_task(self, body: ScoreBody) -> ShortTask:
        """Return a task that is batched with others."""
        corpus = corpus_of(body)
        self.scheduler.check_capacity("short")
        prepared = self.admission.cached(body.metrics)
        if prepared is None:
            prepared = await asyncio.to_thread(self.admission.prepare, body.metrics)
        specs, scorer = prepared
        # Scores that depend on the references of the whole corpus cannot be batched.
        texts = corpus.reference_count(), corpus.sources is not None
        key = object() if scorer.needs_tables else (specs, *texts)
        write, seconds = lambda scores: encode_json(score_answer(body, scores)), self._seconds
        return ShortTask(scorer, corpus, key, write, seconds=seconds)

    def run_in_process(self, body: Body, task: Task) -> bytes:
        """Return the response to a request, from a process that is killed when the task ends."""
        answer = self._processes.run(body, task)
        self.measurements.pairs.inc(task.rows_done)
        return answer

    def close(self) -> None:
        """End all work."""
        self.scheduler.close()
        self._processes.close()

    def _is_small(self, metrics: Sequence[Spec], size: Size) -> bool:
        """Return whether the request takes a few seconds at most and need not be interruptible."""
        return (
            size.rows <= self.settings.batch_rows
            and size.longest <= _MAX_SMALL_TEXT
            and size.characters <= _MAX_SMALL_CHARACTERS
            and not any(self.admission.admit(spec).metric.isolated for spec in metrics)
        )

    def _handle(self, body: Body, task: Task) -> bytes:
        answer = handle(body, self.admission, self.settings, task)
        self.measurements.pairs.inc(task.rows_done)
        return encode_json(answer)

    async def _result(self, request: Request, task: Task) -> bytes:
        """Return the result of a task, unless the client disconnects or the time limit passes."""
        self.scheduler.submit(task)
        future = asyncio.wrap_future(task.future)
        disconnect = asyncio.ensure_future(_disconnected(request))
        seconds = self._seconds
        try:
            awaited: set[asyncio.Future[Any]] = {future, disconnect}
            await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if future.done():
                with suppress(Cancelled, CancelledError):
                    return future.result()
            disconnected = disconnect.done()
        finally:
            self.scheduler.cancel(task)
            future.cancel()
            disconnect.cancel()
        if disconnected:
            raise client_gone()
        if not self.scheduler.open:
            raise ServiceError(503, "shutting_down", "the server is shutting down")
        if task.started is None:
            raise busy(f"no thread was free within {seconds:g} seconds", seconds=5)
        message = f"this takes longer than {seconds:g} seconds; send less, or post it to /v1/jobs"
        raise ServiceError(413, "took_too_long", message)

    def _on_batch(self, requests: int, rows: int) -> None:
        self.measurements.record_batch(requests, rows)
        self._trimmer.trim()


async def _disconnected(request: Request) -> None:
    """Return when the client disconnects."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
