"""Processes for long requests: unlike threads, they can be killed at any time."""

import os
import warnings
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import LifoQueue
from typing import Any

from nlgauge.core.errors import UnknownTokensWarning
from nlgauge.runtime.processes import follow_parent
from nlgauge.service.admission import Admission
from nlgauge.service.errors import ServiceError, service_error
from nlgauge.service.handlers import encode_json, handle
from nlgauge.service.schemas import Body
from nlgauge.service.settings import Settings
from nlgauge.service.task import Cancelled, Task

_POLL_SECONDS = 0.1  # between checks whether a task is cancelled
_IDLE_SECONDS = 600.0
_NICENESS = 5  # short requests have priority


class WorkerProcesses:
    """A fixed number of processes, started on demand."""

    def __init__(self, settings: Settings, count: int) -> None:
        self._workers = [_Worker(settings) for _ in range(count)]
        self._idle: LifoQueue[_Worker] = LifoQueue()  # reuses the last one, so that few are started
        for worker in self._workers:
            self._idle.put(worker)

    def run(self, body: Body, task: Task) -> bytes:
        """Return the response; a process that is still busy when the task ends is killed."""
        worker = self._idle.get()
        try:
            return worker.run(body, task)
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """Kill all processes; the threads that wait for them then raise errors."""
        for process in [worker.process for worker in self._workers]:
            if process is not None:
                process.kill()


class _Worker:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.process: BaseProcess | None = None
        self._pipe: Connection[Any, Any] | None = None

    def run(self, body: Body, task: Task) -> bytes:
        try:
            answer = self._ask(body, task)
            if answer is None:  # use a new process
                self._end()
                answer = self._ask(body, task)
            if answer is None:
                raise EOFError
        except Cancelled:
            self._end()
            raise
        except (OSError, EOFError):
            self._end()
            if task.cancelled:
                raise Cancelled from None
            message = "the process that computed this request has died, perhaps without memory"
            raise ServiceError(500, "worker_died", message) from None
        if isinstance(answer, bytes):
            return answer
        raise ServiceError(**answer)

    def _ask(self, body: Body, task: Task) -> Any:
        """Return the response, or None if the process has just ended because it was idle."""
        pipe = self._open()
        try:
            pipe.send(body)
        except BrokenPipeError:
            return None
        while isinstance(answer := _receive(pipe, task), tuple):
            task.rows_done, task.rows_total = answer
        return answer

    def _end(self) -> None:
        if self.process is not None and self._pipe is not None:
            self.process.kill()
            self.process.join()
            self._pipe.close()
        self.process = self._pipe = None

    def _open(self) -> "Connection[Any, Any]":
        if self.process is not None and not self.process.is_alive():
            self._end()
        if self._pipe is None:
            context = get_context("spawn")  # forked processes would inherit locks of torch
            pipe, child_pipe = context.Pipe()
            with child_pipe:  # closed in this process, so that the pipe ends with the other process
                process = context.Process(
                    target=_answer_requests, args=(child_pipe, self._settings), daemon=True
                )
                process.start()
            self.process, self._pipe = process, pipe
        return self._pipe


def _receive(pipe: "Connection[Any, Any]", task: Task) -> Any:
    while not task.cancelled:
        if pipe.poll(_POLL_SECONDS):
            return pipe.recv()
    raise Cancelled


def _answer_requests(pipe: "Connection[Any, Any]", settings: Settings) -> None:
    """Send the response or the fields of an error for each body, after messages about progress.

    An idle process ends after some time and releases its models.
    """
    follow_parent()
    warnings.simplefilter("ignore", UnknownTokensWarning)  # answers count them
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    admission = Admission(settings)
    while pipe.poll(_IDLE_SECONDS):
        body = pipe.recv()
        task = Task("long", lambda _: b"")
        task.report = lambda done, total: pipe.send((done, total))
        try:
            pipe.send(encode_json(handle(body, admission, settings, task)))
        except Exception as error:
            pipe.send(service_error(error).fields())
    pipe.send(None)
