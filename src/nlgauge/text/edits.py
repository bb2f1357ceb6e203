"""Longest common subsequences and edit distances of long sequences.

A row of the dynamic programme is one big integer, one bit per position, so that a text of 10,000
words takes 10,000 additions instead of 100 million comparisons.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import accumulate


def lcs_length(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """The length of the longest common subsequence."""
    full = (1 << len(left)) - 1
    row = full
    places = _places(left)
    for item in right:
        row = _lcs_row(row, places.get(item, 0), full)
    return len(left) - row.bit_count()


def lcs_positions(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[int]:
    """The positions in ``left`` of one longest common subsequence, ascending.

    Of several, the one found by walking back from both ends, taking a match where there is one
    and otherwise giving up the last of ``left`` before the last of ``right``; ROUGE-Lsum depends
    on this choice, which is that of rouge_score.
    """
    full = (1 << len(left)) - 1
    places = _places(left)
    rows = list(
        accumulate(right, lambda row, item: _lcs_row(row, places.get(item, 0), full), initial=full)
    )
    found = []
    i, j = len(left), len(right)
    while i and j:
        if left[i - 1] == right[j - 1]:
            found.append(i - 1)
            i, j = i - 1, j - 1
        elif rows[j] >> (i - 1) & 1:  # the last of left adds nothing to the prefix of length i
            i -= 1
        else:
            j -= 1
    return found[::-1]


def edit_distance(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """The least number of insertions, deletions and substitutions (Levenshtein).

    Bit-vector algorithm of Myers (1999) as simplified by Hyyrö (2003): ``up`` and ``down`` hold
    the places where a column of the programme rises or falls by one.
    """
    if not left:
        return len(right)
    full = (1 << len(left)) - 1
    last = 1 << (len(left) - 1)
    places = _places(left)
    up, down, distance = full, 0, len(left)
    for item in right:
        same = places.get(item, 0) | down
        flat = ((((same & up) + up) ^ up) | same) & full
        rises = down | (full & ~(flat | up))
        falls = up & flat
        distance += bool(rises & last) - bool(falls & last)
        rises = (rises << 1 | 1) & full
        falls = (falls << 1) & full
        up = falls | (full & ~(same | rises))
        down = rises & same
    return distance


def _places(items: Sequence[Hashable]) -> dict[Hashable, int]:
    """For every distinct item the bits of its positions."""
    positions: dict[Hashable, list[int]] = {}
    for i, item in enumerate(items):
        positions.setdefault(item, []).append(i)
    return {item: sum(1 << i for i in where) for item, where in positions.items()}


def _lcs_row(row: int, matches: int, full: int) -> int:
    """The next row of the LCS programme: bit i is 0 where the prefix of length i+1 gains one.

    Hyyrö (2004), Bit-parallel LCS-length computation revisited.
    """
    kept = row & matches
    return ((row + kept) | (row - kept)) & full
