"""Progress of a run: steps within a chunk of rows, and an estimate of the remaining time.

Work inside a chunk calls `step`; only the thread that started the run reports, because callbacks
may raise an exception to cancel it.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, get_ident
from typing import TypeVar

Item = TypeVar("Item")
Step = Callable[[float], None]

_LOG = logging.getLogger(__name__)
_STEP: ContextVar[Step | None] = ContextVar("progress_step", default=None)
_REPORT: ContextVar[Callable[[], None] | None] = ContextVar("progress_report", default=None)
_MEASURED_SECONDS = 3.0  # shorter times are dominated by the start of libraries and models
_LONG_SECONDS = 60.0


def current_step() -> Step:
    """Return a function that adds a share of the current portion; any thread may call it."""
    return _STEP.get() or (lambda _: None)


def counted(items: Sequence[Item]) -> Iterator[Item]:
    """Yield the items, and count each as an equal share of the current portion."""
    step = current_step()
    for item in items:
        yield item
        step(1 / len(items))


@contextmanager
def portion(share: float) -> Iterator[None]:
    """Count the steps in the block as ``share`` of the current portion."""
    outer = _STEP.get()
    token = _STEP.set(None if outer is None else lambda part: outer(part * share))
    try:
        yield
    finally:
        _STEP.reset(token)


def report_progress() -> bool:
    """Report the current state, and return whether progress is reported at all."""
    report = _REPORT.get()
    if report is not None:
        report()
    return report is not None


class RunProgress:
    """The finished rows of a run, including fractions, and the seconds of each label."""

    def __init__(
        self,
        report: Callable[[int, int], None] | None,
        total: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tell = report
        self._total = total
        self._clock = clock
        self._start = clock()
        self._lock = Lock()
        self._rows = 0.0
        self._thread = get_ident()
        self._seconds: dict[str, float] = defaultdict(float)
        self._logged: set[str] = set()  # kinds of estimates

    def report(self, done: int | None = None) -> None:
        """Call the callback with the number of finished rows; ``done`` sets that number."""
        if self._tell is not None and get_ident() == self._thread:
            reached = min(int(self._rows + 1e-6), self._total - 1) if done is None else done
            self._tell(max(reached, 0), self._total)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Report whenever the block waits for threads."""
        token = _REPORT.set(self.report if self._tell is not None else None)
        try:
            yield
        finally:
            _REPORT.reset(token)

    @contextmanager
    def phase(self, label: str, rows: float) -> Iterator[None]:
        """Count the steps in the block as the given number of rows, and its end as all of them."""
        remaining, began = rows, self._clock()

        def step(part: float) -> None:
            nonlocal remaining
            with self._lock:
                moved = min(part * rows, remaining)
                remaining -= moved
                self._rows += moved
                share, seconds = 1 - remaining / rows, self._clock() - began
                progress = f"{share:.1%} of a chunk of rows"
                self._log_once("chunk", share, seconds, f" for {label}", progress)
            self.report()

        token = _STEP.set(step)
        try:
            yield
        finally:
            _STEP.reset(token)
            with self._lock:
                self._rows += remaining
                self._seconds[label] += self._clock() - began

    def estimate(self, done: int, share: float) -> None:
        """Log once how long the rest will take, if that is more than a minute.

        ``done`` is the number of finished rows, ``share`` their share of all work.
        """
        slowest = max(self._seconds, key=self._seconds.__getitem__)
        purpose, progress = f", mostly for {slowest}", f"{done:,} of {self._total:,} rows"
        self._log_once("run", share, self._clock() - self._start, purpose, progress)

    def _log_once(
        self, kind: str, share: float, seconds: float, purpose: str, progress: str
    ) -> None:
        """Log how long a run or a chunk will take if ``share`` of it took ``seconds``.

        A pair of long documents is a separate chunk, so other chunks do not give an estimate.
        """
        if kind in self._logged or seconds < _MEASURED_SECONDS or not 0 < share < 1:
            return
        remaining = seconds * (1 - share) / share
        if remaining > _LONG_SECONDS:
            self._logged.add(kind)
            took = f"{progress} took {duration(seconds)}"
            _LOG.info("about %s left%s: %s", duration(remaining), purpose, took)


def duration(seconds: float) -> str:
    """Format seconds: 12 s, 7 min, 2.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
