"""Gauge: optimally matched n-grams and the recall of tokens, with presets of the model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from conftest import needs_embedded
from nlgauge import align, metric, score
from nlgauge.core.cloud import Cloud, Tokens
from nlgauge.core.errors import OptionError
from nlgauge.core.requirements import ModelCard
from nlgauge.inputs import ModelInputs, bind_metric

CANDIDATE, REFERENCE = "a man is on a boat today", "a guy stands in a canoe ,"


OPTIONS = "model=hashing,layers=2+3+4,ngram=3,special=drop"


def value(spec: str, candidate: str = CANDIDATE, reference: str = REFERENCE) -> float:
    (scores,) = score([candidate], [reference], metrics=spec).values()
    return float(scores.segments[0])


def test_by_hand_with_an_assignment_of_trigrams() -> None:
    spec = "gauge:model=hashing,special=drop"  # seven words each: transport is an assignment
    bound = bind_metric(spec)
    inputs = ModelInputs([bound], [CANDIDATE], [REFERENCE])
    get = inputs.for_metric(bound)
    clouds = get(CANDIDATE, "candidate"), get(REFERENCE, "reference")
    words, grams = [], []
    for cloud in clouds:
        layers = cloud.points / np.linalg.norm(cloud.points, axis=2, keepdims=True)
        tokens = np.concatenate(list(layers), axis=1)
        means = np.stack([tokens[i : i + 3].mean(axis=0) for i in range(len(tokens) - 2)])
        words.append(tokens / np.linalg.norm(tokens, axis=1, keepdims=True))
        grams.append(means / np.linalg.norm(means, axis=1, keepdims=True))
    cosines = grams[0] @ grams[1].T
    matched = cosines[linear_sum_assignment(-cosines)].mean()
    recall = (words[0] @ words[1].T).max(axis=0).mean()
    (scores,) = score([CANDIDATE], [REFERENCE], metrics=spec).values()
    expected = 0.75 * matched + 0.25 * recall, matched, recall
    assert scores.statistics[0] == pytest.approx(expected, abs=1e-6)
    assert list(scores.segment_components) == ["score", "similarity", "recall"]


def test_matching_is_one_minus_half_of_movers_squared_distance() -> None:
    options = "model=hashing,layers=2+3+4,ngram=3"
    squared = value(f"mover:{options},cost=squared_euclid")
    matched = value("gauge:model=hashing,recall_weight=0")
    assert matched == pytest.approx(1 - squared / 2, abs=1e-9)


@pytest.mark.parametrize("weight", [0, 0.1, 0.25, 0.7, 1])
def test_identical_texts_get_exactly_one(weight: float) -> None:
    assert value(f"gauge:model=hashing,recall_weight={weight}", CANDIDATE, CANDIDATE) == 1.0


@pytest.mark.parametrize("times", [1, 30])  # the longer texts take several blocks of n-grams
def test_recall_is_that_of_bertscore(times: int) -> None:
    texts = " and ".join([CANDIDATE] * times), " or ".join([REFERENCE] * times)
    spec = "bertscore:model=hashing,layer=2+3+4,alpha=1"
    (recall,) = score([texts[0]], [texts[1]], metrics=spec).values()
    found = value(f"gauge:{OPTIONS},recall_weight=1", *texts)
    assert found == pytest.approx(recall.segments[0], abs=1e-6)
    assert value(f"gauge:{OPTIONS},recall_weight=0", *texts) < value(f"gauge:{OPTIONS}", *texts)
    assert value(f"gauge:{OPTIONS}", *texts) < found


def test_additions_lower_matching_but_not_recall() -> None:
    longer = f"{CANDIDATE} and then home"
    options = "gauge:model=hashing,layers=0,ngram=1,special=drop"
    assert value(f"{options},recall_weight=1", longer, CANDIDATE) == 1.0
    assert value(f"{options},recall_weight=1", CANDIDATE, longer) < 1
    for weight in (0, 0.25):
        assert value(f"{options},recall_weight={weight}", longer, CANDIDATE) < 1
    assert value(options, longer, CANDIDATE) > value(options, CANDIDATE, longer)


def test_is_symmetric_without_recall() -> None:
    assert (metric("gauge").symmetric, metric("gauge:recall_weight=0").symmetric) == (False, True)


@pytest.mark.parametrize("weight", ["-0.1", "1.1", "nan"])
def test_the_weight_of_recall_is_a_share(weight: str) -> None:
    with pytest.raises(OptionError, match="recall_weight"):
        metric(f"gauge:recall_weight={weight}")


def test_negative_similarities_count_as_no_match() -> None:
    built = metric("gauge")
    one, nothing = np.ones(1), np.zeros(0, dtype=np.int64)
    tokens = Tokens(("a",), nothing, nothing > 0, nothing, nothing)
    clouds = [Cloud(np.array([[[x]]]), one, tokens) for x in (1.0, -1.0)]
    left, right = map(built.points, clouds)
    assert built.compare([left], [right]).tolist() == [[0.0, 0.0, 0.0]]
    assert built.void_row == (0.0, 0.0, 0.0)


def test_presets_of_the_model_fill_options_that_are_not_set() -> None:
    presets = {"layers": "1+3", "ngram": 2, "alpha": 7}  # alpha is no option of gauge
    card = ModelCard("m", "0", 4, 8, layers={"transport": (4,)}, presets=presets)
    bound = metric("gauge").bind(card)
    assert (bound.layers, bound.ngram) == ("1+3", 2)
    chosen = metric("gauge:layers=2,ngram=5").bind(card)
    assert (chosen.layers, chosen.ngram) == (2, 5)
    assert metric("mover").bind(card).layers == 4, "other metrics keep their own layers"


@needs_embedded
def test_the_embedded_model_has_measured_presets() -> None:
    keys = dict(score(["a"], ["b"], metrics="gauge")["gauge"].signature.keys)
    assert (keys["layers"], keys["ngram"], keys["special"]) == ("3+4+6", "3", "keep")


def test_the_alignment_shows_ngrams_and_their_similarity() -> None:
    plan = align(CANDIDATE, REFERENCE, metric="gauge:model=hashing,special=drop")
    assert plan.candidate_tokens[0] == "a man is"
    matched = value("gauge:model=hashing,special=drop,recall_weight=0")
    assert 1 - plan.value == pytest.approx(matched)
