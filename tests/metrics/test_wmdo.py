"""WMDo: the transport by linear programming, the disorder by counting chunks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import linprog

from conftest import needs_embedded
from nlgauge import align, score
from nlgauge.encode import open_encoder


@pytest.fixture
def model(write_vectors: Callable[[str], str]) -> str:
    """Five orthogonal words, and one between the first two."""
    lines = [
        f"{word} {' '.join(map(str, row))}" for word, row in zip("abcde", np.eye(5), strict=True)
    ]
    return write_vectors("\n".join([*lines, "ab 1 1 0 0 0", "木 0 0 3 0 0"]))


def _parts(candidate: str, reference: str, options: str) -> tuple[float, float, float]:
    (scores,) = score([candidate], [reference], metrics=f"wmdo:{options}").values()
    distance, wmd, disorder, similarity = scores.components.values()
    assert list(scores.components) == ["distance", "wmd", "disorder", "similarity"]
    assert similarity == pytest.approx(1 / (1 + distance))
    return distance, wmd, disorder


@pytest.mark.parametrize(
    ("candidate", "reference", "wmd", "disorder"),
    [
        ("a b c d e", "a b c d e", 0, 0),
        ("e d c b a", "a b c d e", 0, 1),
        ("d e a b c", "a b c d e", 0, 1 / 4),  # two chunks
        ("b a c d e", "a b c d e", 0, 2 / 4),  # b | a | c d e
        ("a b a c", "a b a c", 0, 0),  # a repeated word is taken where the reading goes on
        ("a a a", "a a a", 0, 0),
        ("a b a b", "b a b a", 0, 1 / 3),
        ("a", "a", 0, 0),
        ("a", "b", 1, 0),  # a lone word is always in order
        ("a c", "a d", 1 / 2, 0),
        ("c a", "a d", 1 / 2, 1),
        ("ab", "a b", 1 - np.sqrt(0.5), 1),  # both take the same word: it is no neighbour of itself
        ("a 木", "a c", 0, 0),
    ],
)
def test_by_hand(model: str, candidate: str, reference: str, wmd: float, disorder: float) -> None:
    parts = _parts(candidate, reference, f"model={model}")
    np.testing.assert_allclose(parts, [wmd + 0.18 * disorder, wmd, disorder], atol=1e-9)


def test_delta_is_the_cost_of_the_worst_order(model: str) -> None:
    texts = "c b a", "a b c"
    assert _parts(*texts, f"model={model},delta=0")[0] == 0
    assert _parts(*texts, f"model={model},delta=0.5")[0] == pytest.approx(0.5)
    (scores,) = score(["", "a"], ["a", "unheard"], metrics=f"wmdo:model={model},delta=0.5").values()
    assert (scores.scale.low, scores.scale.high, scores.scale.void) == (0, 2.5, 2.5)
    np.testing.assert_array_equal(scores.segments, [2.5, 2.5])
    np.testing.assert_array_equal(scores.segment_components["wmd"], [2, 2])


def test_words_without_weight_do_not_count_in_the_order(model: str) -> None:
    # a is in every reference, so it is neither matched nor a gap between others
    references = ["a b a c", "a d a e", "b d a"]
    candidates = ["a b a c", "e a d", "b a d a"]
    (scores,) = score(candidates, references, metrics=f"wmdo:model={model},weights=idf").values()
    np.testing.assert_allclose(scores.segments, [0, 0.18, 0], atol=1e-12)


def test_transport_equals_linear_programming() -> None:
    texts = ["the cat sat on the mat", "a mat and the cat on it"]
    left, right = (
        cloud.points[0, 1:-1].astype(float) for cloud in open_encoder("hashing").encode(texts, (2,))
    )
    left, right = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (left, right))
    n, m = len(left), len(right)
    rows, columns = np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))
    masses = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    cost = 1 - left @ right.T
    found = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=masses)
    _, wmd, disorder = _parts(*texts, "model=hashing,layer=2")
    assert wmd == pytest.approx(found.fun, abs=1e-6)
    assert 0 < disorder < 1
    plan = align(*texts, metric="wmdo:model=hashing,layer=2")
    assert plan.value == pytest.approx(wmd)
    assert plan.candidate_tokens == tuple(texts[0].split())


def test_special_tokens_are_words_only_if_asked() -> None:
    texts = "one two three", "three one two"
    dropped = _parts(*texts, "model=hashing,layer=0")
    kept = _parts(*texts, "model=hashing,layer=0,special=keep")
    assert dropped[2] == pytest.approx(1 / 2)  # three | one two
    assert kept[2] == pytest.approx(3 / 4)  # <s> | three | one two | </s>


@needs_embedded
def test_order_counts_in_addition_to_contextual_vectors() -> None:
    reference = "The old man gave the young dog a bone yesterday."
    good, bad = (
        "Yesterday the old man gave the young dog a bone.",
        "Bone dog the gave old a man young.",
    )
    (scores,) = score([good, bad], [reference] * 2, metrics="wmdo").values()
    disorder = scores.segment_components["disorder"]
    assert disorder[0] < disorder[1]
    assert scores.segments[0] < scores.segments[1]
