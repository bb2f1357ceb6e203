"""WER, MER, WIL and CER against a textbook alignment, by hand, and in their limits."""

from __future__ import annotations

import random

import numpy as np
import pytest

from nlgauge import metric, score
from nlgauge.core.metric import VOID_NOTE
from nlgauge.text.edits import count_edits


def _value(spec: str, candidate: str, references: str | list[str]) -> float:
    (scores,) = score([candidate], [references], metrics=spec).values()
    return scores.value


def _alignments(left: str, right: str) -> dict[int, set[tuple[int, int, int, int]]]:
    """The counts of all alignments, by their number of errors."""
    if not left or not right:
        return {len(left) + len(right): {(0, 0, len(left), len(right))}}
    found: dict[int, set[tuple[int, int, int, int]]] = {}
    same = left[-1] == right[-1]
    steps = [
        (left[:-1], right[:-1], (1, 0, 0, 0) if same else (0, 1, 0, 0)),
        (left[:-1], right, (0, 0, 1, 0)),
        (left, right[:-1], (0, 0, 0, 1)),
    ]
    for a, b, step in steps:
        for errors, counts in _alignments(a, b).items():
            more = found.setdefault(errors + sum(step[1:]), set())
            more |= {tuple(map(sum, zip(each, step, strict=True))) for each in counts}
    return found


def test_the_counts_are_those_of_an_alignment_with_the_fewest_errors() -> None:
    rng = random.Random(4)
    ambiguous = 0
    for _ in range(100):
        left, right = ("".join(rng.choices("abc", k=rng.randint(0, 5))) for _ in range(2))
        found = _alignments(left, right)
        assert tuple(count_edits(left, right)) in found[min(found)]
        ambiguous += len(found[min(found)]) > 1
    assert ambiguous > 5


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [  # jiwer 4.0.0, process_words: hits, substitutions, deletions, insertions
        ("a b", "b c", (0, 2, 0, 0)),
        ("b c", "a b", (1, 0, 1, 1)),
        ("a b c d", "d a b", (2, 0, 2, 1)),
        ("a b a b c", "b a c c a", (3, 1, 1, 1)),
    ],
)
def test_of_several_alignments_it_is_the_one_of_jiwer(
    left: str, right: str, expected: tuple[int, ...]
) -> None:
    assert tuple(count_edits(left.split(), right.split())) == expected


def test_by_hand() -> None:
    reference, candidate = "the cat sat on the mat", "a the dog sat on mat"
    # "a" is inserted, "cat" replaced, the second "the" deleted
    details = score([candidate], [reference], metrics="wer")["wer"].details
    assert details == {"hits": 4, "substitutions": 1, "deletions": 1, "insertions": 1}
    assert _value("wer", candidate, reference) == pytest.approx(3 / 6)
    assert _value("mer", candidate, reference) == pytest.approx(3 / 7)
    assert _value("wil", candidate, reference) == pytest.approx(1 - 16 / 36)
    assert _value("cer", "abd", "abc") == pytest.approx(1 / 3)
    assert _value("wer", "b b b b", "a") == 4
    assert _value("mer", "b b b b", "a") == 1


def test_counts_are_summed_over_the_corpus() -> None:
    (scores,) = score(["a b", "a"], ["a b c d e f", "x"], metrics="wer").values()
    assert scores.value == pytest.approx((4 + 1) / (6 + 1))
    np.testing.assert_allclose(scores.segments, [4 / 6, 1])


def test_the_best_reference_counts() -> None:
    # one error in two words, or two errors in six
    (scores,) = score(["a b c d"], [["a x", "a b c d e f"]], metrics="wer").values()
    assert scores.value == pytest.approx(2 / 6)
    assert scores.details["deletions"] == 2


@pytest.mark.parametrize("spec", ["wer", "mer", "wil", "cer"])
def test_empty_texts_get_one_and_their_words_count_in_the_corpus(spec: str) -> None:
    (scores,) = score(["", "a", "", "b"], ["a a", " ", "", "b"], metrics=spec).values()
    np.testing.assert_allclose(scores.segments, [1, 1, 1, 0])
    assert scores.notes[VOID_NOTE] == 3
    if spec == "wer":
        assert scores.value == pytest.approx(3 / 3)  # two deletions, one insertion, three words
    assert _value(spec, "", "") == 1


def test_normalisation() -> None:
    assert _value("wer", "Hello, World!", "hello world") == 1
    assert _value("wer:lowercase=yes", "Hello World", "hello world") == 0
    assert _value("wer:lowercase=yes,punctuation=no", "Hello, «World»!", "hello world") == 0
    assert _value("wer", "a \t b\n", "a b") == 0
    assert _value("cer", " a  b ", "a b") == pytest.approx(1 / 3)


def test_names() -> None:
    names = {"WER": "WER", "cer": "CER", "MatchErrorRate": "MER", "wil": "WIL"}
    assert {name: metric(name).title for name in names} == names
    assert metric("wer:lang=ja").unit == "characters"
    assert (metric("wer").scale.digits, metric("ter").scale.digits) == (4, 2)
