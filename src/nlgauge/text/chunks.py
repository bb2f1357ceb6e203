"""Alignments of two texts with as many matched words as possible in as few chunks as possible.

A chunk is a run of matches that are neighbours on both sides. Finding the fewest is as hard as
minimum common string partition, so the search goes over the candidate from left to right and
keeps the most promising partial alignments: it is exact for sentences in which a handful of words
repeat, and narrows to a greedy one for texts of thousands of words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from typing import NamedTuple

BEAM = 32  # partial alignments kept, fewer for texts of more than WORK / BEAM words
NARROWEST = 3
WORK = 8192
NEAREST = 6  # partners tried for a word: those nearest to where the last match ended


class _Partial(NamedTuple):
    """An alignment of the first words; of two, the lesser is the more promising."""

    lost: int  # matches that can no longer be made
    chunks: int
    used: int  # bits of the matched places
    place: int  # the place after the last match
    open: bool  # whether a match at ``place`` would prolong its chunk


def fewest_chunks(partners: Sequence[tuple[int, ...]]) -> tuple[int, int]:
    """Matched words and chunks of the best alignment found.

    ``partners[i]`` are the places, ascending, that word i may be matched with.
    """
    rivals = _rivals(partners)
    left = Counter(rivals)
    width = max(NARROWEST, min(BEAM, WORK // max(len(partners), 1)))
    beam = [_Partial(0, 0, 0, 0, False)]
    for options, mask in zip(partners, rivals, strict=True):
        following: dict[tuple[int, int, bool], _Partial] = {}
        for partial in beam:
            for new in _extend(partial, options, mask, left[mask]):
                key = new[2:]
                if key not in following or new < following[key]:
                    following[key] = new
        beam = nsmallest(width, following.values())
        left[mask] -= 1
    best = min(beam, key=lambda partial: (-partial.used.bit_count(), partial.chunks))
    return best.used.bit_count(), best.chunks


def _extend(
    partial: _Partial, options: tuple[int, ...], mask: int, left: int
) -> Iterator[_Partial]:
    """The alignment with the next word left out, or matched with one of its nearest partners.

    Leaving it out loses a match if the words that are left cannot fill the free places.
    """
    lost, chunks, used, place, is_open = partial
    free = (mask & ~used).bit_count()
    yield _Partial(lost + (0 < left <= free), chunks, used, place, False)
    for j in _nearest(options, used, place):
        yield _Partial(lost, chunks + (not is_open or j != place), used | 1 << j, j + 1, True)


def _nearest(options: tuple[int, ...], used: int, place: int) -> list[int]:
    """The unused options nearest to ``place``."""
    above = bisect_left(options, place)
    below = above - 1
    found: list[int] = []
    while len(found) < NEAREST and (below >= 0 or above < len(options)):
        upwards = below < 0 or (
            above < len(options) and options[above] - place <= place - options[below]
        )
        j = options[above if upwards else below]
        above, below = above + upwards, below - (not upwards)
        if not used >> j & 1:
            found.append(j)
    return found


def _rivals(partners: Sequence[tuple[int, ...]]) -> list[int]:
    """For every word the bits of the places that it and its rivals, and theirs, compete for."""
    leader: dict[int, int] = {}

    def lead(j: int) -> int:
        while leader.setdefault(j, j) != j:
            leader[j] = j = leader[leader[j]]
        return j

    for options in set(partners):
        for j in options:
            leader[lead(j)] = lead(options[0])
    masks = Counter[int]()
    for j in list(leader):
        masks[lead(j)] += 1 << j
    return [masks[lead(options[0])] if options else 0 for options in partners]
