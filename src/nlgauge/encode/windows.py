"""Overlapping windows over a text that is longer than the model allows."""

from itertools import pairwise
from typing import NamedTuple


class Window(NamedTuple):
    """Tokens ``start:stop`` are encoded; the states of ``keep_start:keep_stop`` are kept."""

    start: int
    stop: int
    keep_start: int
    keep_stop: int


def windows(length: int, limit: int) -> list[Window]:
    """Return windows of ``limit`` tokens that overlap by half and keep every token exactly once.

    Two windows are joined in the middle of their overlap, so that each token is kept from the
    window in which it has more context.
    """
    if length <= limit:
        return [Window(0, length, 0, length)]
    step = max(1, limit // 2)
    starts = [*range(0, length - limit, step), length - limit]
    middles = [(before + limit + after) // 2 for before, after in pairwise(starts)]
    keeps = pairwise([0, *middles, length])
    return [Window(start, start + limit, *keep) for start, keep in zip(starts, keeps, strict=True)]
