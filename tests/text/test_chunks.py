"""Alignments with most matches and fewest chunks, against all alignments."""

import random

from nlgauge.text.chunks import fewest_chunks


def _all_alignments(partners, i=0, used=frozenset(), last=None):
    """(-matches, chunks) of every alignment."""
    if i == len(partners):
        yield 0, 0
        return
    for matches, chunks in _all_alignments(partners, i + 1, used):
        yield matches, chunks
    for j in partners[i]:
        if j not in used:
            new = last is None or j != last + 1
            for matches, chunks in _all_alignments(partners, i + 1, used | {j}, j):
                yield matches - 1, chunks + new


def test_most_matches_then_fewest_chunks_among_all_alignments():
    rng = random.Random(3)
    seen = set()
    for _ in range(300):
        left, right = (rng.choices("abcd", k=rng.randint(1, 6)) for _ in range(2))
        partners = [
            tuple(j for j, b in enumerate(right) if a == b or {a, b} == {"a", "d"}) for a in left
        ]
        matches, chunks = min(_all_alignments(partners))
        assert fewest_chunks(partners) == (-matches, chunks), (left, right)
        seen.add((matches, chunks))
    assert len(seen) > 8


def test_nothing_to_match():
    assert fewest_chunks([]) == (0, 0)
    assert fewest_chunks([(), ()]) == (0, 0)


def test_ten_thousand_repeated_words():
    places = tuple(range(0, 10_000, 10))
    partners = [places if i % 10 == 0 else (i,) for i in range(10_000)]
    assert fewest_chunks(partners) == (10_000, 1)
