"""Tidying: memory that was freed goes back to the system while long work goes on.

The C library keeps freed blocks below one that is still in use. Texts of ever other lengths leave
so many of them that 20,000 pairs took a third more memory than 1,000. Giving them back costs some
time, because they are mostly wanted again, so short work goes without.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from threading import Lock
from time import monotonic


class Tidier:
    """Gives memory back at most every so many seconds; any thread may ask for it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = Lock()
        self._next = monotonic() + seconds

    def tidy(self) -> None:
        """Give back what is free, unless that was done a moment ago."""
        with self._lock:
            if monotonic() < self._next:
                return
            self._next = monotonic() + self._seconds
        _give_back()()


@cache
def _give_back() -> Callable[[], object]:
    """What glibc has for it, which takes some 15 ms; nothing elsewhere."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda: None
    return lambda: trim(0)
