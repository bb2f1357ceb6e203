"""Return freed memory to the operating system during long runs.

The C library keeps freed blocks below one still in use: 20,000 pairs took a third more memory than
1,000. Returning them costs time, because most are needed again, so short runs do without.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from threading import Lock
from time import monotonic


class MemoryTrimmer:
    """Returns freed memory at most once per interval; safe to call from any thread."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = Lock()
        self._next = monotonic() + seconds

    def trim(self) -> None:
        """Return freed memory to the system unless that was done within the interval."""
        with self._lock:
            if monotonic() < self._next:
                return
            self._next = monotonic() + self._seconds
        _malloc_trim()()


@cache
def _malloc_trim() -> Callable[[], object]:
    """Return glibc's malloc_trim, which takes about 15 ms, or a function that does nothing."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda: None
    return lambda: trim(0)
