"""Longest common subsequences and edit distances of long sequences.

A row of the dynamic programme is one integer with a bit per position, so a text of 10,000 words
takes 10,000 additions instead of 100 million comparisons.
"""

from collections import Counter, deque
from collections.abc import Hashable, Iterator, Sequence


def lcs_length(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence."""
    return len(left) - deque(_lcs_rows(left, right), maxlen=1).pop().bit_count()


def lcs_positions(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[int]:
    """Return the positions in ``left`` of the common subsequence that rouge_score finds."""
    # Of equally long ones it takes a match where there is one, else drops the last of left first.
    rows = list(_lcs_rows(left, right))
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
    """Return the least number of insertions, deletions and substitutions (Levenshtein)."""
    if not left:
        return len(right)
    full = (1 << len(left)) - 1
    last = 1 << (len(left) - 1)
    bits = _position_bits(left)
    # Myers (1999), Hyyrö (2003): where a column of the programme rises or falls by one.
    up, down, distance = full, 0, len(left)
    for item in right:
        same = bits.get(item, 0) | down
        flat = ((((same & up) + up) ^ up) | same) & full
        rises = down | (full & ~(flat | up))
        falls = up & flat
        distance += bool(rises & last) - bool(falls & last)
        rises = (rises << 1 | 1) & full
        falls = (falls << 1) & full
        up = falls | (full & ~(same | rises))
        down = rises & same
    return distance


def _position_bits(items: Sequence[Hashable]) -> dict[Hashable, int]:
    """Return the bits of the positions of every distinct item."""
    bits: Counter[Hashable] = Counter()
    for i, item in enumerate(items):
        bits[item] |= 1 << i
    return bits


def _lcs_rows(left: Sequence[Hashable], right: Sequence[Hashable]) -> Iterator[int]:
    """Yield rows of Hyyrö's (2004) LCS programme: bit i is 0 if the prefix of length i+1 gains."""
    bits = _position_bits(left)
    row = full = (1 << len(left)) - 1
    yield row
    for item in right:
        matches = row & bits.get(item, 0)
        row = ((row + matches) | (row - matches)) & full
        yield row
