"""ROUGE-WE: n-grams that match as far as their vectors do."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from nlgauge import align, metric, score
from nlgauge.core.errors import OptionError
from nlgauge.encode import open_encoder


@pytest.fixture
def model(write_vectors: Callable[[str], str]) -> str:
    return write_vectors("x 3 0\ny 0 1\nd 1 1\nk 4 3\nz -1 0\n木 0 2\n")


def _prf(candidate: str, reference: str, options: str) -> list[float]:
    (scores,) = score([candidate], [reference], metrics=f"rouge_we:{options}").values()
    return [scores.components[key] for key in ("precision", "recall", "f")]


def _f(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(
    ("candidate", "reference", "precision", "recall"),
    [
        ("x", "d", math.sqrt(0.5), math.sqrt(0.5)),
        ("x", "x y", 1, 1 / 2),
        ("x d", "x y", (1 + math.sqrt(0.5)) / 2, (1 + math.sqrt(0.5)) / 2),
        ("x k k", "x", (1 + 0.8 + 0.8) / 3, 1),
        ("x z", "x", 1 / 2, 1),  # the opposite of a word is no match, not a negative one
        ("木", "d", math.sqrt(0.5), math.sqrt(0.5)),
    ],
)
def test_words_by_hand(
    model: str, candidate: str, reference: str, precision: float, recall: float
) -> None:
    expected = [precision, recall, _f(precision, recall)]
    np.testing.assert_allclose(_prf(candidate, reference, f"model={model}"), expected, atol=1e-9)


def test_orthogonal_words_get_zero(model: str) -> None:
    np.testing.assert_array_equal(_prf("x", "y", f"model={model}"), [0, 0, 0])
    np.testing.assert_array_equal(_prf("x", "z", f"model={model}"), [0, 0, 0])


def test_pairs_by_hand(model: str) -> None:
    # d k = (.8, .6) / sqrt 2, k k = (.64, .36), d d = (.5, .5): unit length again, then cosines
    dk_kk = (0.8 * 0.64 + 0.6 * 0.36) / math.hypot(0.64, 0.36)
    dk_dd = 1.4 / math.sqrt(2)
    kk_dd = 1 / math.sqrt(2) / math.hypot(0.64, 0.36)
    spec = f"model={model},order=2"
    assert _prf("d k", "k k", spec)[2] == pytest.approx(dk_kk)
    assert _prf("d d", "k k", spec)[2] == pytest.approx(kk_dd)
    recall = (dk_dd + 1 + dk_kk) / 3  # of d d, d k and k k
    np.testing.assert_allclose(_prf("d k", "d d k k", spec), [1, recall, _f(1, recall)])


def test_the_order_of_words_within_a_pair_is_lost_in_a_product(model: str) -> None:
    assert _prf("d k", "k d", f"model={model},order=2")[2] == pytest.approx(1)


def test_pairs_that_share_no_coordinate_are_left_out(model: str) -> None:
    spec = f"model={model},order=2"
    assert _prf("x y", "x y", spec) == [0, 0, 0]  # its only pair has no direction: void
    np.testing.assert_allclose(_prf("x y d", "x y d", spec), [1, 1, 1])


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_identical_texts_get_one_and_too_short_ones_the_void_value(order: int) -> None:
    spec = f"rouge_we:model=hashing,order={order}"
    texts = ["the cat sat on the mat", "one two three four", " ".join("abcd"[: order - 1])]
    (scores,) = score(texts, texts, metrics=spec).values()
    np.testing.assert_allclose(scores.segments, [1, 1, 0], atol=1e-12)
    assert sum(scores.notes.values()) == 1


def test_equals_the_formula_for_three_words_in_context() -> None:
    texts = ["the cat sat on the mat", "a cat was on a mat"]
    grams = []
    for cloud in open_encoder("hashing").encode(texts, (3,)):
        words = cloud.points[0, 1:-1].astype(float)
        words /= np.linalg.norm(words, axis=1, keepdims=True)
        products = words[:-2] * words[1:-1] * words[2:]
        grams.append(products / np.linalg.norm(products, axis=1, keepdims=True))
    cosines = np.maximum(grams[0] @ grams[1].T, 0)
    precision, recall = cosines.max(axis=1).mean(), cosines.max(axis=0).mean()
    ours = _prf(*texts, "model=hashing,layer=3,order=3")
    np.testing.assert_allclose(ours, [precision, recall, _f(precision, recall)], atol=1e-6)


def test_options_and_their_limits(model: str) -> None:
    texts = "x k k", "x"
    precision, recall, _ = _prf(*texts, f"model={model}")
    assert _prf(*texts, f"model={model},alpha=1")[2] == pytest.approx(recall)
    assert _prf(*texts, f"model={model},alpha=0")[2] == pytest.approx(precision)
    assert metric("rouge_we").symmetric
    assert not metric("rouge_we:alpha=0.9").symmetric
    with pytest.raises(OptionError, match=r"order=5: must lie within \[1, 4\]"):
        metric("rouge_we:order=5")


def test_idf_gives_pairs_the_mass_of_their_words(model: str) -> None:
    # at unit length x k = (1, 0), k d = (.8, .6) and d y = (0, 1)
    cosines = np.array([1, 0.8, 0])
    plain, weighted = (
        f"rouge_we:model={model},order=2",
        f"rouge_we:model={model},order=2,weights=idf",
    )
    scores = score(["x k"] * 2, ["x k d y", "x"], metrics=[plain, weighted])
    recall = {spec: found.segment_components["recall"][0] for spec, found in scores.items()}
    assert recall[plain] == pytest.approx(cosines.mean())
    # x is in both references and weighs nothing, so the first pair has one share, the others two
    assert recall[weighted] == pytest.approx(cosines @ [1, 2, 2] / 5)


def test_the_alignment_shows_ngrams(model: str) -> None:
    plan = align("d k", "d d k k", metric=f"rouge_we:model={model},order=2")
    assert plan.candidate_tokens == ("d k",)
    assert plan.reference_tokens == ("d d", "d k", "k k")
    assert plan.coupling.argmax() == 1


def test_it_is_bertscore_for_single_words_of_positive_cosine_only(model: str) -> None:
    texts = ["x k d", "d d k y"], ["d k", "x k d"]
    same = [f"rouge_we:model={model}", f"bertscore:model={model}"]
    one, other = (each.segments for each in score(*texts, metrics=same).values())
    np.testing.assert_allclose(one, other, atol=1e-9)
    pairs = [f"rouge_we:model={model},order=2", f"bertscore:model={model}"]
    one, other = (each.segments for each in score(*texts, metrics=pairs).values())
    assert np.abs(one - other).min() > 0.01
    found = score(["x"], ["z"], metrics=same).values()
    assert [each.components["precision"] for each in found] == pytest.approx([0, -1])


@pytest.mark.parametrize("order", [1, 2])
def test_the_alignment_has_the_costs_of_the_score(order: int) -> None:
    """A negative cosine counts as 0, so no cost is above 1."""
    spec = f"rouge_we:model=hashing,order={order}"
    texts = ["a man is on a boat", "it"], ["a guy stands in a canoe", "no such thing"]
    (scores,) = score(*texts, metrics=spec).values()
    for segment in range(2 if order == 1 else 1):
        plan, parts = scores.plan(segment), scores.segment_components
        mean = (parts["precision"][segment] + parts["recall"][segment]) / 2
        assert plan.cost.max() <= 1
        assert 1 - plan.value == pytest.approx(mean, abs=1e-12)
