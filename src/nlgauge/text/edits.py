"""Longest common subsequences and edit distances of long sequences.

A row of the dynamic programme is one integer with a bit per position, so a text of 10,000 words
takes 10,000 additions instead of 100 million comparisons.
"""

from collections import Counter, deque
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple


def lcs_length(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence."""
    return len(left) - deque(_lcs_rows(left, right), maxlen=1).pop().bit_count()


def lcs_positions(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[int]:
    """Return the positions in ``left`` of the common subsequence that rouge_score finds."""
    # For ties, rouge_score uses a match if there is one, else drops the last item of left first.
    rows = list(_lcs_rows(left, right))
    positions = []
    i, j = len(left), len(right)
    while i and j:
        if left[i - 1] == right[j - 1]:
            positions.append(i - 1)
            i, j = i - 1, j - 1
        elif rows[j] >> (i - 1) & 1:  # the last of left adds nothing to the prefix of length i
            i -= 1
        else:
            j -= 1
    return positions[::-1]


class Edits(NamedTuple):
    """The words of two sequences that an alignment matches, replaces, deletes and inserts."""

    hits: int
    substitutions: int
    deletions: int
    insertions: int


def edit_distance(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Return the minimum number of insertions, deletions and substitutions (Levenshtein)."""
    up, down = deque(_edit_rows(left, right), maxlen=1).pop()
    return len(right) + up.bit_count() - down.bit_count()


def count_edits(left: Sequence[Hashable], right: Sequence[Hashable]) -> Edits:
    """Return the edits of the optimal alignment that rapidfuzz, and so jiwer, chooses.

    Between the common start and end, it reads both sequences from their ends, and deletes from
    ``left`` if this is an optimal edit, else matches or replaces, else inserts.
    """
    start = common_start(left, right)
    end = common_start(left[start:][::-1], right[start:][::-1])
    hits = start + end
    left, right = (side[start : len(side) - end] for side in (left, right))
    rows = list(_edit_rows(left, right))
    substitutions = deletions = insertions = 0
    i, j = len(left), len(right)
    while i and j:
        if rows[j][0] >> (i - 1) & 1:
            deletions, i = deletions + 1, i - 1
        elif rows[j - 1][1] >> (i - 1) & 1:
            insertions, j = insertions + 1, j - 1
        else:
            i, j = i - 1, j - 1
            hits += left[i] == right[j]
            substitutions += left[i] != right[j]
    return Edits(hits, substitutions, deletions + i, insertions + j)


def common_start(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Return the length of the common prefix."""
    pairs = zip(left, right, strict=False)
    return next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def _edit_rows(source: Sequence[Hashable], target: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield where each row of the programme rises and falls by one along ``source``, as bits."""
    full = (1 << len(source)) - 1
    bits = _position_bits(source)
    # Myers (1999), Hyyrö (2003)
    up, down = full, 0
    yield up, down
    for item in target:
        equal = bits.get(item, 0) | down
        flat = ((((equal & up) + up) ^ up) | equal) & full
        rises = down | (full & ~(flat | up))
        falls = up & flat
        rises = (rises << 1 | 1) & full
        falls = (falls << 1) & full
        up = falls | (full & ~(equal | rises))
        down = rises & equal
        yield up, down


def _position_bits(items: Sequence[Hashable]) -> dict[Hashable, int]:
    """Return the bits of the positions of every distinct item."""
    bits: Counter[Hashable] = Counter()
    for i, item in enumerate(items):
        bits[item] |= 1 << i
    return bits


def _lcs_rows(source: Sequence[Hashable], target: Sequence[Hashable]) -> Iterator[int]:
    """Yield rows of Hyyrö's (2004) LCS programme: bit i is 0 if the prefix of length i+1 gains."""
    bits = _position_bits(source)
    row = full = (1 << len(source)) - 1
    yield row
    for item in target:
        matches = row & bits.get(item, 0)
        row = ((row + matches) | (row - matches)) & full
        yield row
