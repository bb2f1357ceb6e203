"""Tidying: memory that was freed goes back to the system while the server works.

The C library keeps freed blocks below one that is still in use. Texts of ever other lengths leave
so many of them that after thousands of requests a third of a server's memory was empty.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from threading import Lock
from time import monotonic

_SECONDS = 2.0  # between two times; each takes some 15 ms


class Tidier:
    """Gives memory back, but not all the time; any thread may ask for it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._next = 0.0

    def tidy(self) -> None:
        """Give back what is free, unless that was done a moment ago."""
        with self._lock:
            if monotonic() < self._next:
                return
            self._next = monotonic() + _SECONDS
        _give_back()()


@cache
def _give_back() -> Callable[[], object]:
    """What glibc has for it; nothing elsewhere."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda: None
    return lambda: trim(0)
