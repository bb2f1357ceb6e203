"""The best of several runs, because other work on the machine only ever slows a run down."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """How long a piece of work took at best, and for how many pairs."""

    name: str
    seconds: float
    pairs: int

    @property
    def pace(self) -> float:
        """Pairs per second."""
        return self.pairs / self.seconds


def best_of(name: str, work: Callable[[], object], *, pairs: int, repeats: int = 3) -> Timing:
    """The fastest of ``repeats`` runs, after one that is not counted."""
    work()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return Timing(name, min(seconds), pairs)
