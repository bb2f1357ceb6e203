"""Edit distances and common subsequences against textbook tables."""

import random

from nlgauge.text.edits import edit_distance, lcs_length, lcs_positions


def _tables(left, right):
    """Textbook dynamic programmes of the common subsequence and of the edit distance."""
    common = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    edits = [[i + j for j in range(len(right) + 1)] for i in range(len(left) + 1)]
    for i, a in enumerate(left, 1):
        for j, b in enumerate(right, 1):
            common[i][j] = (
                common[i - 1][j - 1] + 1 if a == b else max(common[i - 1][j], common[i][j - 1])
            )
            edits[i][j] = min(
                edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (a != b)
            )
    return common, edits


def _walk_back(left, right, common):
    """The subsequence that rouge_score finds, from its description."""
    i, j, found = len(left), len(right), []
    while i and j:
        if left[i - 1] == right[j - 1]:
            i, j = i - 1, j - 1
            found.append(i)
        elif common[i][j - 1] > common[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return found[::-1]


def test_bit_rows_agree_with_the_textbook_tables():
    rng = random.Random(1)
    for _ in range(800):
        left, right = ("".join(rng.choices("abc", k=rng.randint(0, 12))) for _ in range(2))
        common, edits = _tables(left, right)
        assert lcs_length(left, right) == common[-1][-1]
        assert edit_distance(left, right) == edits[-1][-1]
        assert lcs_positions(left, right) == _walk_back(left, right, common)


def test_sequences_of_ten_thousand_items():
    rng = random.Random(2)
    left, right = ([rng.randrange(500) for _ in range(10_000)] for _ in range(2))
    assert lcs_length(left, right) == len(lcs_positions(left, right)) > 500
    assert 0 < edit_distance(left, right) < 10_000
