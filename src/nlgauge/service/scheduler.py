"""The workshop: where requests wait, are batched, done in threads, and delivered."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from starlette.requests import Request

from nlgauge.core.metric import Metric
from nlgauge.metrics import metric
from nlgauge.runtime.memory import MemoryTrimmer
from nlgauge.service.admission import Gate
from nlgauge.service.batching import Batcher, Outcome, Ticket
from nlgauge.service.errors import Fault, busy, fault_of
from nlgauge.service.handlers import corpus_of, perform, score_answer, written
from nlgauge.service.jobs import Jobs
from nlgauge.service.lock import Turns
from nlgauge.service.progress import Cancelled, Effort
from nlgauge.service.prometheus import Gauges
from nlgauge.service.schemas import ScorePairs, ScoreSystems, Work
from nlgauge.service.settings import Settings

_LONG_THREADS = 2
_TIDY_SECONDS = 2.0

# Threads of one computation that wait for each other spin for milliseconds unless told otherwise,
# and take the cores from those they wait for. It is read once, when a model is opened.
_WAIT_BRIEFLY = ("GOMP_SPINCOUNT", "1000")
_GONE = 499  # nobody reads this answer; the number is what other servers log for it


class Workshop:
    """All threads and queues of a server. Models are opened, once, when it is made."""

    def __init__(self, settings: Settings) -> None:
        os.environ.setdefault(*_WAIT_BRIEFLY)
        self.settings = settings
        self.gauges = Gauges()
        self.gate = Gate(settings)
        for name in settings.models:
            self.gate.scorer((_opener(name),))
        self._turns = Turns()
        self._tidier = MemoryTrimmer(_TIDY_SECONDS)
        self._batcher = Batcher(self._deliver, window=settings.window, rows=settings.batch_rows)
        self._long = ThreadPoolExecutor(_LONG_THREADS, thread_name_prefix="nlgauge-long")
        self._long_waiting = 0
        self.long_running = 0
        self._futures: dict[Ticket, tuple[asyncio.Future[bytes], ScorePairs | ScoreSystems]] = {}
        self.jobs = Jobs(
            lambda: Effort(self._turns),
            waiting=settings.jobs,
            kept=settings.kept_jobs,
            kept_bytes=settings.kept_bytes,
            kept_seconds=settings.kept_seconds,
        )

    @property
    def waiting(self) -> int:
        """How many requests wait for a thread."""
        return len(self._batcher) + self._long_waiting

    async def score(self, request: Request, body: ScorePairs | ScoreSystems) -> bytes:
        """The scores of a request, together with others where it is small."""
        corpus = corpus_of(body)
        if len(corpus) > self.settings.batch_rows:
            return await self.run(request, lambda effort: self.perform(body, effort))
        self._refuse_if_full()
        ready = self.gate.at_hand(body.metrics)
        if ready is None:
            ready = await asyncio.to_thread(self.gate.prepare, body.metrics)
        effort = Effort(self._turns, seconds=self.settings.limits.seconds)
        key = object() if ready.learns else (ready.specs, corpus.reference_count())
        ticket = Ticket(ready.scorer, corpus, key, effort)
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._futures[ticket] = future, body
        self._batcher.put(ticket)
        return await self._outcome(request, effort, future)

    async def run(self, request: Request, work: Callable[[Effort], bytes]) -> bytes:
        """The result of a longer piece of work in a thread of its own."""
        self._refuse_if_full()
        effort = Effort(self._turns, seconds=self.settings.limits.seconds)
        self._long_waiting += 1
        loop = asyncio.get_running_loop()

        def begun() -> bytes:
            loop.call_soon_threadsafe(self._count_long, -1, 1)
            try:
                if effort.unwanted:
                    raise Cancelled
                return work(effort)
            finally:
                loop.call_soon_threadsafe(self._count_long, 0, -1)

        future = loop.run_in_executor(self._long, begun)
        return await self._outcome(request, effort, future)

    def perform(self, body: Work, effort: Effort) -> bytes:
        """The answer to a request that may be long."""
        with effort.underway():
            answer = perform(body, self.gate, self.settings, effort)
            self.gauges.scored(effort.rows_done)
        return written(answer)

    def close(self) -> None:
        """End all threads."""
        self._batcher.close()
        self.jobs.close()
        self._long.shutdown(cancel_futures=True)

    def _count_long(self, waiting: int, running: int) -> None:
        self._long_waiting += waiting
        self.long_running += running

    def _refuse_if_full(self) -> None:
        if self.waiting >= self.settings.queue:
            raise busy(f"{self.waiting} requests are waiting already; try again soon", seconds=1)

    async def _outcome(
        self, request: Request, effort: Effort, future: asyncio.Future[bytes]
    ) -> bytes:
        """What the future brings, unless the client leaves or the time is up."""
        gone = asyncio.ensure_future(_departure(request))
        seconds = self.settings.limits.seconds
        try:
            awaited: set[asyncio.Future[Any]] = {future, gone}
            await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if future.done() and not isinstance(future.exception(), Cancelled):
                return future.result()
        finally:
            effort.cancel()
            gone_first = gone.done()
            gone.cancel()
            future.add_done_callback(_ignore)
        if gone_first:
            raise Fault(_GONE, "gone", "the client has left")
        if effort.started is None:
            raise busy(f"{seconds:g} seconds in the queue were not enough", seconds=5)
        raise Fault(
            *(413, "took_too_long"),
            f"this takes longer than {seconds:g} seconds; send less, or post it to /v1/jobs",
        )

    def _deliver(self, outcomes: Sequence[tuple[Ticket, Outcome]]) -> None:
        """Write the answers of a batch, and wake those who wait for them."""
        scored = [ticket for ticket, outcome in outcomes if not isinstance(outcome, Exception)]
        self.gauges.batched(len(scored), sum(len(ticket.corpus) for ticket in scored))
        ready: list[tuple[asyncio.Future[bytes], bytes | Exception]] = []
        for ticket, outcome in outcomes:
            future, body = self._futures.pop(ticket)
            ready.append((future, _answer(body, outcome)))
        if ready:
            with suppress(RuntimeError):  # the server has been shut down meanwhile
                ready[0][0].get_loop().call_soon_threadsafe(_wake, ready)
        self._tidier.trim()


def _opener(model: str) -> Metric:
    return metric("bertscore", model=model)


def _answer(body: ScorePairs | ScoreSystems, outcome: Outcome) -> bytes | Exception:
    if isinstance(outcome, Cancelled):
        return outcome
    try:
        if isinstance(outcome, Exception):
            raise outcome
        return written(score_answer(body, outcome))
    except Exception as error:  # handed on to whoever waits for it
        return fault_of(error)


def _wake(ready: Sequence[tuple[asyncio.Future[bytes], bytes | Exception]]) -> None:
    for future, answer in ready:
        if future.done():
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)


def _ignore(future: asyncio.Future[bytes]) -> None:
    """Look at what came too late, so that nobody warns that it was never looked at."""
    if not future.cancelled():
        future.exception()


async def _departure(request: Request) -> None:
    """Return when the client leaves."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
