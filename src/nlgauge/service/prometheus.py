"""Gauges: what the server counts, in the text format that Prometheus reads."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Histogram:
    """Counts of values at most as large as each bound, their sum and their number."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * len(bounds)
        self._sum = 0.0
        self._number = 0

    def add(self, value: float) -> None:
        """Count a value."""
        self._sum += value
        self._number += 1
        for place, bound in enumerate(self._bounds):
            if value <= bound:
                self._counts[place] += 1

    def lines(self, name: str, labels: str = "") -> Iterator[str]:
        """The lines of the exposition."""
        comma = "," if labels else ""
        for bound, count in zip(self._bounds, self._counts, strict=True):
            yield f'{name}_bucket{{{labels}{comma}le="{bound:g}"}} {count}'
        yield f'{name}_bucket{{{labels}{comma}le="+Inf"}} {self._number}'
        braces = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{braces} {self._sum:.6f}"
        yield f"{name}_count{braces} {self._number}"


class Gauges:
    """Requests, seconds, batches and pairs since the start; any thread may count."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: dict[str, Histogram] = {}
        self._batches = Histogram(_SIZES)
        self._pairs = 0

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        known = method if method in _METHODS else "OTHER"  # clients must not make tables grow
        with self._lock:
            self._requests[known, route, status] += 1
            self._seconds.setdefault(route, Histogram(_SECONDS)).add(seconds)

    def batched(self, requests: int, pairs: int) -> None:
        """Count requests that were scored in one call, and their pairs."""
        with self._lock:
            self._batches.add(requests)
            self._pairs += pairs

    def scored(self, pairs: int) -> None:
        """Count pairs that were scored apart from batches."""
        with self._lock:
            self._pairs += pairs

    def exposition(self, now: Mapping[str, tuple[str, float]]) -> str:
        """Everything counted, and the ``now`` state as name to help and value."""
        with self._lock:
            return "\n".join([*self._lines(), *_state(now)]) + "\n"

    def _lines(self) -> Iterator[str]:
        yield from _head("nlgauge_requests_total", "counter", "Answers by route and status.")
        for (method, route, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"nlgauge_requests_total{{{labels}}} {count}"
        yield from _head("nlgauge_request_seconds", "histogram", "Time to the end of an answer.")
        for route, seconds in sorted(self._seconds.items()):
            yield from seconds.lines("nlgauge_request_seconds", f'route="{route}"')
        yield from _head("nlgauge_batch_requests", "histogram", "Requests scored in one call.")
        yield from self._batches.lines("nlgauge_batch_requests")
        yield from _head("nlgauge_pairs_total", "counter", "Pairs scored.")
        yield f"nlgauge_pairs_total {self._pairs}"


def resident_bytes() -> int | None:
    """The memory this process holds; None where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _state(now: Mapping[str, tuple[str, float]]) -> Iterator[str]:
    for name, (help_text, value) in now.items():
        yield from _head(name, "gauge", help_text)
        yield f"{name} {value:g}"


def _head(name: str, kind: str, help_text: str) -> Iterator[str]:
    yield f"# HELP {name} {help_text}"
    yield f"# TYPE {name} {kind}"
