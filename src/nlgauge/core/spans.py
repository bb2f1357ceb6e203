"""Spans: errors marked in a text."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """An error in a text: characters from start to end, as in a slice."""

    start: int
    end: int
    severity: str = "major"
    category: str = ""
