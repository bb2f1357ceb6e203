"""Turns: one piece of work at the models at a time, first come, first served.

Encoders are not made for several threads at once. A long piece of work offers its turn between
portions, so that short ones never wait for all of it.
"""

from __future__ import annotations

from collections import deque
from threading import Event, Lock


class Turns:
    """A lock that is handed on in the order in which it was asked for."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: deque[Event] = deque()
        self._taken = False

    def take(self) -> None:
        """Wait until it is our turn."""
        with self._lock:
            if not self._taken:
                self._taken = True
                return
            called = Event()
            self._waiting.append(called)
        called.wait()

    def leave(self) -> None:
        """Call the next in line."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False

    def offer(self) -> None:
        """Let everybody go first who waits already."""
        with self._lock:
            wanted = bool(self._waiting)
        if wanted:
            self.leave()
            self.take()
