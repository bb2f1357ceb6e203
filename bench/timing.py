"""The fastest of several runs, since other work on the machine only slows runs down."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """The shortest time of some work, and its number of pairs.

    ``cpu`` are seconds of all cores together, which other work on the machine disturbs least;
    None where they were not counted, as for work in another process. ``peak`` is the largest memory
    of such a process in MB.
    """

    name: str
    seconds: float
    pairs: int
    cpu: float | None = None
    peak: float | None = None

    @property
    def pace(self) -> float:
        """Pairs per second."""
        return self.pairs / self.seconds


def race(
    works: Mapping[str, Callable[[], object]], *, pairs: int, repeats: int = 3
) -> list[Timing]:
    """Return the fastest run of each after a warm-up; they take turns, so load affects all."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    cpu: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeats + 1):
        for name, work in works.items():
            start, busy = time.perf_counter(), time.process_time()
            work()
            if turn:  # the first run warms up
                seconds[name].append(time.perf_counter() - start)
                cpu[name].append(time.process_time() - busy)
    return [Timing(name, min(seconds[name]), pairs, min(cpu[name])) for name in works]
