"""Soft greedy matching, n-grams and joined layers of the greedy metrics."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge import align, score
from nlgauge.core.errors import OptionError

TEXTS = ["a man is on a boat", "the cat saw the dog"], ["a guy stands in a canoe", "a cat sat"]


def components(spec: str) -> dict[str, np.ndarray]:
    (scores,) = score(*TEXTS, metrics=f"{spec},model=hashing").values()
    return scores.segment_components


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
