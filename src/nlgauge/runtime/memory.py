"""Return freed memory to the operating system during long runs.

The C library keeps freed blocks that are below a block in use: 20,000 pairs took a third more
memory than 1,000. Returning them takes time, because most are needed again, so short runs do not.
"""

import ctypes
import gc
from collections.abc import Callable
from functools import cache
from threading import Lock
from time import monotonic

_M_ARENA_MAX = -8  # of glibc's malloc.h


def use_one_arena() -> None:
    """Make all threads that are started from now on share the main arena of glibc's malloc.

    glibc does not return the free end of any other arena until it exceeds a threshold, which
    grows to 64 MB for each arena; malloc_trim returns that of the main arena.
    """
    mallopt = getattr(_c_library(), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, 1)


def freeze_objects() -> None:
    """Exclude all existing objects from garbage collection.

    Python collects old cyclic garbage once it exceeds a quarter of the old objects. The modules
    and models of a server are over a million objects, so that the garbage of many large requests
    would have to accumulate first.
    """
    gc.collect()
    gc.freeze()


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
    trim = getattr(_c_library(), "malloc_trim", None)
    return (lambda: None) if trim is None else lambda: trim(0)


def _c_library() -> ctypes.CDLL | None:
    """Return the C library of this process, None if there is none."""
    try:
        return ctypes.CDLL(None)
    except (OSError, TypeError):
        return None
