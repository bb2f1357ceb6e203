"""Overlapping windows over a text longer than its model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Window:
    """Tokens ``start:stop`` go through the model; those at ``keep_start:keep_stop`` are kept."""

    start: int
    stop: int
    keep_start: int
    keep_stop: int


def windows(length: int, limit: int) -> list[Window]:
    """Windows of ``limit`` tokens that overlap by half and together keep every token once.

    A token is kept from the window in which it has most context, that is where it lies farthest
    from the nearer edge: the seam between two windows is the middle of their overlap.
    """
    if length <= limit:
        return [Window(0, length, 0, length)]
    step = max(1, limit // 2)
    starts = [*range(0, length - limit, step), length - limit]
    seams = [(left + limit + right) // 2 for left, right in pairwise(starts)]
    edges = [0, *seams, length]
    return [Window(start, start + limit, edges[i], edges[i + 1]) for i, start in enumerate(starts)]
