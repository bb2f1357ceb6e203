"""The measurements that GET /metrics exposes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Measurements:
    """Requests, durations, batches and pairs of one server since its start."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.pairs = Counter("nlgauge_pairs", "Pairs scored.", registry=self.registry)
        self._batches = Histogram(
            "nlgauge_batch_requests",
            "Requests scored in one batch.",
            buckets=_SIZES,
            registry=self.registry,
        )
        self._requests = Counter(
            "nlgauge_requests",
            "Responses by route and status.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "nlgauge_request_seconds",
            "Time from a request to the end of its response.",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        ProcessCollector(registry=self.registry)

    def add_gauges(self, gauges: Mapping[str, tuple[str, Callable[[], float]]]) -> None:
        """Expose values that are read at every scrape: name to help text and function."""
        for name, (help_text, read) in gauges.items():
            Gauge(name, help_text, registry=self.registry).set_function(read)

    def record_response(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a response."""
        known = method if method in _METHODS else "OTHER"  # clients must not add time series
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def record_batch(self, requests: int, pairs: int) -> None:
        """Count requests that were scored in one batch, and their pairs."""
        self._batches.observe(requests)
        self.pairs.inc(pairs)

    def exposition(self) -> bytes:
        """Everything in Prometheus's text format."""
        return generate_latest(self.registry)
