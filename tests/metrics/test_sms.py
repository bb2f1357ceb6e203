"""SMS: sentences are found in every script; sentences, words or both are moved."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import linprog

from conftest import needs_embedded
from nlgauge import align, score
from nlgauge.encode import open_encoder
from nlgauge.metrics.sms import sentence_numbers


@pytest.fixture
def model(write_vectors: Callable[[str], str]) -> str:
    return write_vectors("x 2 0 0\ny 0 1 0\nz 0 0 1\n. 1 0 0\n。 0 1 0\n木 0 0 3\n")


def _sms(candidate: str, reference: str, options: str) -> float:
    return score([candidate], [reference], metrics=f"sms:{options}")[f"sms:{options}"].value


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ("one sentence only", "000"),
        ("it is . so it is .", "0001111"),
        ("Really ? ! Yes !", "00011"),
        ('" Go . " he said', "000011"),
        ("... well then", "000"),
        ("wait ... what", "001"),
        ("pi is 3 . 14 or so . Yes", "000000001"),
        ("in 1990 . Then", "0001"),
        ("版 本 。 好 ！", "00011"),
        ("यह है । वह", "0001"),
        ("مرحبا ؟ نعم", "001"),
        ("▁Hi ▁. ▁Bo", "001"),
        ("ĠHi Ġ. ĠBo .</w>", "0011"),
        ("no end ,", "000"),
        ("! ?", "00"),
    ],
)
def test_sentences_start_with_the_first_word_after_an_end(tokens: str, expected: str) -> None:
    assert "".join(map(str, sentence_numbers(tokens.split()))) == expected


def test_by_hand_sentences_are_weighted_by_their_words(model: str) -> None:
    # (x . | y z z .) against z: means (1.5, 0, 0) and (1, 1, 2) / 4, masses 1/3 and 2/3
    expected = math.sqrt(2) / 3 + 2 / 3 * math.sqrt(2 - 2 * 2 / math.sqrt(6))
    assert _sms("x . y z z .", "z", f"model={model}") == pytest.approx(expected)
    (scores,) = score(["x . y z z ."], ["z"], metrics=f"sms:model={model}").values()
    assert scores.components["similarity"] == pytest.approx(math.exp(-expected))


def test_the_order_of_sentences_does_not_matter_but_their_borders_do(model: str) -> None:
    options = f"model={model}"
    assert _sms("x y. z z.", "z z. x y.", options) == pytest.approx(0, abs=1e-9)
    assert _sms("x y. z z.", "x z. y z.", options) > 0.1
    assert _sms("x y. z z.", "x z. y z.", f"{options},nodes=words") == pytest.approx(0, abs=1e-9)


def test_cjk_and_single_words(model: str) -> None:
    assert _sms("木。", "木", f"model={model}") == pytest.approx(math.sqrt(2 - 6 / math.sqrt(10)))
    assert _sms("木", "z", f"model={model}") == pytest.approx(0, abs=1e-9)
    assert _sms("木", "x", f"model={model}") == pytest.approx(math.sqrt(2))


def test_void_texts_get_the_largest_distance(model: str) -> None:
    (scores,) = score(["", "unheard", "x"], ["x", "x", ""], metrics=f"sms:model={model}").values()
    np.testing.assert_array_equal(scores.segments, [2, 2, 2])
    np.testing.assert_allclose(scores.segment_components["similarity"], math.exp(-2))


def test_idf_weighs_words_within_their_sentences(model: str) -> None:
    spec = f"sms:model={model},weights=idf"
    references = ["x y. x z.", "x. x.", "x."]  # x and the full stop weigh nothing
    (scores,) = score(["y. z.", "x. y.", "x."], references, metrics=spec).values()
    assert scores.segments[0] == pytest.approx(0, abs=1e-9)
    np.testing.assert_array_equal(scores.segments[1:], [2, 2])
    plan = align("x. x y. z.", references, metric=f"sms:model={model}")
    assert plan.candidate_tokens == ("x .", "x y .", "z .")


def test_both_equals_linear_programming_over_words_and_sentences() -> None:
    texts = ["the cat sat . a dog ran off .", "dogs run . the cat sat down . it slept"]
    nodes = []
    for cloud in open_encoder("hashing").encode(texts, (1,)):
        words = cloud.points[0, 1:-1].astype(float)
        numbers = np.array(sentence_numbers(cloud.tokens.strings[1:-1]))
        groups = [words[numbers == number] for number in range(numbers.max() + 1)]
        vectors = np.stack([*words, *(group.mean(axis=0) for group in groups)])
        masses = np.array([1.0] * len(words) + [len(group) for group in groups])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        nodes.append((vectors / lengths, masses / masses.sum()))
    (left, a), (right, b) = nodes
    assert (len(left), len(right)) == (9 + 2, 10 + 3)
    cost = np.linalg.norm(left[:, None] - right, axis=2)
    rows, columns = (
        np.kron(np.eye(len(a)), np.ones(len(b))),
        np.kron(np.ones(len(a)), np.eye(len(b))),
    )
    found = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([a, b]))
    assert _sms(*texts, "model=hashing,layer=1,nodes=both") == pytest.approx(found.fun, abs=1e-6)


def test_words_alone_are_the_word_movers_distance(model: str) -> None:
    texts = ["x y. z"], ["z x. 木 y y"]
    (words,) = score(*texts, metrics=f"sms:model={model},nodes=words").values()
    (wmd,) = score(*texts, metrics=f"wmd:model={model}").values()
    assert words.value == pytest.approx(wmd.value, abs=1e-12)
    assert words.value > 0


@needs_embedded
def test_the_alignment_moves_sentences() -> None:
    candidate = "It rained all day. The match was cancelled."
    reference = "They called off the game. There was rain from morning to night."
    plan = align(candidate, reference, metric="sms")
    assert plan.candidate_tokens == ("it rained all day .", "the match was cancelled .")
    assert plan.reference_tokens is not None
    assert plan.reference_tokens[1] == "there was rain from morning to night ."
    np.testing.assert_array_equal(plan.coupling.argmax(axis=1), [1, 0])
