"""Soft greedy matching, n-grams and joined layers of the greedy metrics."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge import align, score
from nlgauge.core.errors import OptionError
from nlgauge.measure.precision_recall import best_partners, expected_similarities
from nlgauge.measure.problem import Problem
from nlgauge.measure.transport import match

TEXTS = ["a man is on a boat", "the cat saw the dog"], ["a guy stands in a canoe", "a cat sat"]


def components(spec: str) -> dict[str, np.ndarray]:
    (scores,) = score(*TEXTS, metrics=f"{spec},model=hashing").values()
    return scores.segment_components


def expected_partners(
    similarity: np.ndarray, a: np.ndarray, b: np.ndarray, temperature: float
) -> tuple[float, ...]:
    """Return precision and recall."""
    problem = Problem(similarity, a, b).without_zeros()
    return tuple(expected_similarities([problem, problem.transposed()], temperature))


def problem() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.uniform(-1, 1, (6, 4)), rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(4))


@pytest.mark.parametrize("temperature", [1e-12, 0.1, 2.0, 1e6])
def test_expected_similarities_are_those_of_the_two_plans(temperature: float) -> None:
    similarity, a, b = problem()
    precision, recall = expected_partners(similarity, a, b, temperature)
    options = {"epsilon": temperature}
    rows = match(1 - similarity, a, b, penalty_b=0, **options)
    columns = match(1 - similarity, a, b, penalty_a=0, **options)
    assert precision == pytest.approx(1 - rows.value, abs=1e-12)
    assert recall == pytest.approx(1 - columns.value, abs=1e-12)


def test_limits_are_the_best_and_the_mean_similarity() -> None:
    similarity, a, b = problem()
    assert expected_partners(similarity, a, b, 1e-9) == pytest.approx(
        best_partners(similarity, a, b), abs=1e-12
    )
    mean = a @ similarity @ b
    assert expected_partners(similarity, a, b, 1e6) == pytest.approx((mean, mean), abs=1e-5)


def test_tokens_without_weight_are_left_out() -> None:
    similarity, a, b = problem()
    a[2], b[1] = 0, 0
    kept = similarity[np.ix_(a > 0, b > 0)], a[a > 0], b[b > 0]
    assert expected_partners(similarity, a, b, 1e-12) == expected_partners(*kept, 1e-12)


@pytest.mark.parametrize("name", ["bertscore:ngram=1", "yisi:ngram=2", "rouge_we:order=1"])
def test_temperature_zero_is_the_limit(name: str) -> None:
    hard, nearly = components(name), components(f"{name},temperature=1e-9")
    for key, values in hard.items():
        np.testing.assert_allclose(nearly[key], values, atol=1e-9)
    soft = components(f"{name},temperature=0.3")
    assert not np.allclose(soft["f"], hard["f"], atol=1e-3)


def test_soft_scores_are_relative_to_each_text_with_itself() -> None:
    soft = components("bertscore:temperature=0.3,layer=3")
    plan = align(TEXTS[0][0], TEXTS[1][0], metric="bertscore:model=hashing,layer=3,temperature=0.3")
    own = [
        1 - align(text, text, metric="bertscore:model=hashing,layer=3,temperature=0.3").value
        for text in (TEXTS[0][0], TEXTS[1][0])
    ]
    mean = (soft["precision"][0] + soft["recall"][0]) / 2
    assert mean == pytest.approx((1 - plan.value) / np.sqrt(own[0] * own[1]), abs=1e-6)


def test_the_alignment_is_the_mean_of_both_plans() -> None:
    plan = align("a b c", "b c d e", metric="bertscore:model=hashing,temperature=0.2")
    assert plan.mass == pytest.approx(1)
    assert (plan.coupling > 0).all()
    assert plan.candidate_tokens == ("a", "b", "c")
    pairs = align("a b c", "b c d e", metric="bertscore:model=hashing,ngram=2,temperature=0.2")
    assert pairs.candidate_tokens == ("a b", "b c")


def test_joined_layers_average_their_cosines() -> None:
    options = "model=hashing,temperature=1e6"  # the mean of all cosines, before it is normalised
    plans = {
        layer: align("a b c", "b d", metric=f"bertscore:{options},layer={layer}").cost
        for layer in ("2", "4", "2+4")
    }
    np.testing.assert_allclose(plans["2+4"], (plans["2"] + plans["4"]) / 2, atol=1e-9)


def test_temperatures_that_overflow_are_refused() -> None:
    for temperature in ("1e-13", "-1", "inf", "2e6"):
        with pytest.raises(OptionError, match="temperature="):
            components(f"bertscore:temperature={temperature}")
