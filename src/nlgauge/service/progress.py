"""Effort: one piece of work as it goes on, how far it is, and whether it is still wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event
from time import monotonic

from nlgauge.service.lock import Turns


class Cancelled(Exception):
    """Nobody waits for this work any more."""


class Effort:
    """Rows done and how long it took; ``progress`` is what the library calls between portions."""

    def __init__(self, turns: Turns, *, seconds: float | None = None) -> None:
        self.turns = turns
        self._cancelled = Event()
        self._ends = None if seconds is None else monotonic() + seconds
        self._at_models = False
        self._finished: float | None = None
        self.started: float | None = None
        self.rows_done = 0
        self.rows_total: int | None = None

    @property
    def unwanted(self) -> bool:
        """Whether it was cancelled, or has taken all its time."""
        return self._cancelled.is_set() or (self._ends is not None and monotonic() > self._ends)

    @property
    def seconds(self) -> float:
        """How long it has been going on, or took."""
        if self.started is None:
            return 0.0
        return (self._finished or monotonic()) - self.started

    @property
    def pace(self) -> float | None:
        """Rows per second; None before the first are done."""
        return self.rows_done / self.seconds if self.rows_done and self.seconds else None

    def cancel(self) -> None:
        """Have it end at its next portion."""
        self._cancelled.set()

    @contextmanager
    def underway(self) -> Iterator[None]:
        """The work itself: from our turn at the models to the end, whatever the end is."""
        self.turns.take()
        self._at_models = True
        self.started = monotonic()
        try:
            if self.unwanted:
                raise Cancelled
            yield
        finally:
            self._finished = monotonic()
            self._leave()

    def note(self, done: int, total: int) -> None:
        """Take note, and end if nobody waits."""
        self.rows_done, self.rows_total = done, total
        if self.unwanted:
            raise Cancelled

    def progress(self, done: int, total: int) -> None:
        """Take note, end if nobody waits, and let others go first."""
        self.note(done, total)
        if done >= total:  # what follows is statistics, for which no model is needed
            self._leave()
        else:
            self.turns.offer()

    def _leave(self) -> None:
        if self._at_models:
            self._at_models = False
            self.turns.leave()


class JointEffort(Effort):
    """The work for several efforts at once, wanted as long as one of them is."""

    def __init__(self, members: Sequence[Effort]) -> None:
        super().__init__(members[0].turns)
        self._members = members

    @property
    def unwanted(self) -> bool:
        """Whether nobody waits for any of it."""
        return all(member.unwanted for member in self._members)

    @contextmanager
    def underway(self) -> Iterator[None]:
        """The work itself, begun for all members."""
        with super().underway():
            for member in self._members:
                member.started = self.started
            yield
