"""Interruption: a first signal asks a run to finish what is under way; a second one ends it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any, Self, TypeVar

from nlgauge.core.errors import NlgaugeError

Item = TypeVar("Item")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(NlgaugeError):
    """A run was asked to stop and did, between parts."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.exit_code = 128 + number


class Interruption:
    """Listens for SIGINT and SIGTERM while it is open; elsewhere than the main thread it cannot.

    ``heard`` is called at the first signal, in its handler, so it should do little.
    """

    def __init__(self, heard: Callable[[], None] | None = None) -> None:
        self.number: int | None = None
        self._heard = heard
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self.listen()
        return self

    def listen(self) -> None:
        """Take the signals, also from a library that has taken them meanwhile."""
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                self._before.setdefault(number, signal.signal(number, self._hear))

    def __exit__(self, *raised: Any) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.number is not None:
            raise KeyboardInterrupt
        self.number = number
        if self._heard is not None:
            self._heard()

    def until(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items until a signal comes."""
        for item in items:
            if self.number is not None:
                return
            yield item
