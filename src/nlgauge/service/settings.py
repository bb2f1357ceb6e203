"""Settings of a server, and the limits of its requests."""

import os
from dataclasses import dataclass, field

from nlgauge.core.errors import UsageError
from nlgauge.runtime import DEFAULT, Runtime

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MODEL_VARIABLE = "NLGAUGE_MODEL"
_MAX_MODELS = 4  # the size of the encoder cache, so that models stay loaded


def library_model() -> str:
    """Return the library's default model."""
    return os.environ.get(MODEL_VARIABLE) or "embedded"


@dataclass(frozen=True)
class Limits:
    """Limits of one request; those that begin with ``job_`` apply to jobs."""

    bytes: int = 32 * 1024 * 1024
    rows: int = 2_000
    job_rows: int = 100_000
    characters: int = 2_000_000
    job_characters: int = 50_000_000
    text_characters: int = 10_000
    references: int = 64
    metrics: int = 16
    systems: int = 32
    resamples: int = 200_000
    job_resamples: int = 5_000_000
    seconds: float = 60.0
    body_seconds: float = 20.0
    header_seconds: float = 10.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value <= 0:
                raise UsageError(f"the limit {name} is {value}; it must be above 0")


@dataclass(frozen=True)
class Settings:
    """Settings of a server; ``models`` are the only models that requests may name."""

    models: tuple[str, ...] = field(default_factory=lambda: (library_model(),))
    token: str | None = field(default=None, repr=False)
    hosts: frozenset[str] = LOOPBACK  # accepted host names; empty accepts any
    limits: Limits = field(default_factory=Limits)
    queue: int = 256  # requests that may wait
    window: float = 0.004  # seconds in which requests are batched; 0 disables batching
    batch_rows: int = 128
    jobs: int = 16
    kept_jobs: int = 32
    kept_bytes: int = 256 * 1024 * 1024
    kept_seconds: float = 3600.0
    runtime: Runtime = DEFAULT

    def __post_init__(self) -> None:
        if not 1 <= len(set(self.models)) <= _MAX_MODELS:
            count = len(set(self.models))
            raise UsageError(f"{count} models are named; a server opens 1 to {_MAX_MODELS}")
        for name in ("queue", "batch_rows", "jobs", "kept_jobs", "kept_bytes", "kept_seconds"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be above 0")
        if self.window < 0:
            raise UsageError(f"window is {self.window} seconds; it must be 0 or more")
        if self.token is not None and not self.token:
            raise UsageError("the token is empty; leave it out, or set a longer one")
        token = self.token or ""
        if not (token.isascii() and token.isprintable() and token == token.strip()):
            raise UsageError(
                "a token consists of printable ASCII characters, without spaces at its ends"
            )
