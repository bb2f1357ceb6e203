"""Tidying: memory that was freed goes back to the system where too much of it has piled up.

The C library keeps freed blocks below one that is still in use. Texts of ever other lengths leave
so many of them that 20,000 pairs took a third more memory than 1,000. Giving them back costs time,
because they are mostly wanted again, so it is done only when a process has grown noticeably.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock

_GROWN = 1.02  # times the level after the last time


class Tidier:
    """Gives memory back when there is more than the work takes; any thread may ask for it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._level = 0
        self._fresh = True  # nothing has piled up yet: what is held is what the work takes

    def tidy(self) -> None:
        """Look at the memory between two portions of work, and give back what is free."""
        held = resident_bytes()
        if held is None:
            return
        with self._lock:
            if self._fresh:
                self._level, self._fresh = held, False
            if held < _GROWN * self._level:
                return
            self._fresh = True
        _give_back()()


def resident_bytes() -> int | None:
    """The memory this process holds; None where the system does not tell (it does on Linux)."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


@cache
def _give_back() -> Callable[[], object]:
    """What glibc has for it; nothing elsewhere."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda: None
    return lambda: trim(0)


TIDIER = Tidier()  # one for the process, whose memory it is
