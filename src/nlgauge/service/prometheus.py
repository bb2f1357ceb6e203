"""The measurements that GET /metrics exposes."""

from collections.abc import Callable
from functools import partial

import prometheus_client as client

_TIME_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_SIZE_BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_LABELS = ("method", "route", "status")


class Measurements:
    """Requests, durations, batches and pairs of one server since its start."""

    def __init__(self) -> None:
        self._registry = registry = client.CollectorRegistry()
        requests, batches = "Responses by route and status.", "Requests scored in one batch."
        seconds = "Time from a request to the end of its response."
        histogram = partial(client.Histogram, registry=registry)
        self._requests = client.Counter("nlgauge_requests", requests, _LABELS, registry=registry)
        self._seconds = histogram(
            "nlgauge_request_seconds", seconds, ("route",), buckets=_TIME_BUCKETS
        )
        self._batches = histogram("nlgauge_batch_requests", batches, buckets=_SIZE_BUCKETS)
        self.pairs = client.Counter("nlgauge_pairs", "Pairs scored.", registry=registry)
        client.ProcessCollector(registry=registry)

    def add_gauge(self, name: str, help_text: str, read: Callable[[], float]) -> None:
        """Add a gauge whose value is read at every scrape."""
        client.Gauge(name, help_text, registry=self._registry).set_function(read)

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
        """Return all measurements in Prometheus's text format."""
        return client.generate_latest(self._registry)
