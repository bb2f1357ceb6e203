"""Signals: after the first one, a run finishes its parts in progress; a second one ends it."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from types import FrameType
from typing import Any, Self, TypeVar

from nlgauge.core.errors import NlgaugeError

Item = TypeVar("Item")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(NlgaugeError):
    """A run was stopped by a signal, between parts."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.exit_code = 128 + number


class SignalHandler:
    """A context manager that handles SIGINT and SIGTERM, in the main thread only.

    `on_signal` is called with whether a signal has arrived before. It may end the process;
    otherwise a repeated signal raises KeyboardInterrupt wherever the program happens to be.
    """

    def __init__(self, on_signal: Callable[[bool], None] | None = None) -> None:
        self.number: int | None = None
        self._on_signal = on_signal
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self.install()
        return self

    def install(self) -> None:
        """Handle the signals, also after a library has replaced the handlers."""
        if _in_main_thread():
            for number in _SIGNALS:
                self._previous.setdefault(number, signal.signal(number, self._handle))

    def __exit__(self, *raised: Any) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        repeated = self.number is not None
        if not repeated:
            self.number = number
        if self._on_signal is not None:
            self._on_signal(repeated)
        if repeated:
            raise KeyboardInterrupt

    def until_signal(self, items: Iterable[Item]) -> Iterator[Item]:
        """Return the items until a signal arrives."""
        return takewhile(lambda _: self.number is None, items)

    def raise_if_interrupted(self, message: str) -> None:
        """Raise Interrupted with the message if a signal has arrived."""
        if self.number is not None:
            message = f"interrupted; {message}run the same command again to resume"
            raise Interrupted(message, self.number)


@contextmanager
def delay_signals() -> Iterator[None]:
    """Handle signals that arrive in the block after it, so that none interrupts the block."""
    if not _in_main_thread():  # others are never interrupted
        yield
        return
    arrived: list[int] = []
    previous = [
        (number, signal.signal(number, lambda n, _: arrived.append(n))) for number in _SIGNALS
    ]
    try:
        yield
    finally:
        for number, handler in previous:
            signal.signal(number, handler)
    for each in arrived:
        signal.raise_signal(each)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
