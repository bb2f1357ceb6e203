"""Alignments of two texts with the most matched words and, among those, the fewest chunks.

A chunk is a run of matches that are adjacent in both texts. Finding the fewest chunks is as hard as
minimum common string partition, so a beam search processes the candidate from left to right. It is
exact for sentences with a few repeated words, and nearly greedy for thousands of words.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from typing import NamedTuple

BEAM = 32  # beam width, smaller for texts of more than WORK / BEAM words
MIN_BEAM = 3
WORK = 8192
NEAREST = 6  # partners tried for a word: those nearest to the end of the last match


class _Partial(NamedTuple):
    """An alignment of the first words; smaller values are more promising."""

    lost: int  # matches that are no longer possible
    chunks: int
    used: int  # bits of the matched positions
    next: int  # position after the last match
    open: bool  # whether a match at ``next`` extends the chunk


def fewest_chunks(partners: Sequence[tuple[int, ...]]) -> tuple[int, int]:
    """Return the matched words and chunks of the best alignment; partners are ascending."""
    components = _components(partners)
    remaining = Counter(components)
    width = max(MIN_BEAM, min(BEAM, WORK // max(len(partners), 1)))
    beam = [_Partial(0, 0, 0, 0, False)]
    for options, mask in zip(partners, components, strict=True):
        following: dict[tuple[int, int, bool], _Partial] = {}
        for partial in beam:
            for new in _extend(partial, options, mask, remaining[mask]):
                key = new[2:]
                if key not in following or new < following[key]:
                    following[key] = new
        beam = nsmallest(width, following.values())
        remaining[mask] -= 1
    best = min(beam, key=lambda partial: (-partial.used.bit_count(), partial.chunks))
    return best.used.bit_count(), best.chunks


def _extend(
    partial: _Partial, options: tuple[int, ...], mask: int, remaining: int
) -> Iterator[_Partial]:
    """Yield the alignments that skip the next word or match it with one of its nearest partners."""
    missed, chunks, used, following, is_open = partial
    # Skipping a word loses a match if the remaining words cannot fill the free positions.
    free = (mask & ~used).bit_count()
    yield _Partial(missed + (0 < remaining <= free), chunks, used, following, False)
    for j in _find_nearest(options, used, following):
        yield _Partial(missed, chunks + (not is_open or j != following), used | 1 << j, j + 1, True)


def _find_nearest(options: tuple[int, ...], used: int, position: int) -> list[int]:
    """Return the unused options nearest to ``position``."""
    above = bisect_left(options, position)
    below = above - 1
    nearest: list[int] = []
    while len(nearest) < NEAREST and (below >= 0 or above < len(options)):
        upwards = below < 0 or (
            above < len(options) and options[above] - position <= position - options[below]
        )
        j = options[above if upwards else below]
        above, below = above + upwards, below - (not upwards)
        if not used >> j & 1:
            nearest.append(j)
    return nearest


def _components(partners: Sequence[tuple[int, ...]]) -> list[int]:
    """Return the bits of all positions in each word's connected component (union-find)."""
    parent: dict[int, int] = {}

    def root(j: int) -> int:
        while parent.setdefault(j, j) != j:
            parent[j] = j = parent[parent[j]]
        return j

    for options in set(partners):
        for j in options:
            parent[root(j)] = root(options[0])
    masks = Counter[int]()
    for j in list(parent):
        masks[root(j)] += 1 << j
    return [masks[root(options[0])] if options else 0 for options in partners]
