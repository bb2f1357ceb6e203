"""Gauge: the mean cosine of optimally matched n-grams, with presets of the model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from conftest import needs_embedded
from nlgauge import align, metric, score
from nlgauge.core.requirements import ModelCard
from nlgauge.inputs import ModelInputs, bind_metric

CANDIDATE, REFERENCE = "a man is on a boat today", "a guy stands in a canoe ,"


def value(spec: str, candidate: str = CANDIDATE, reference: str = REFERENCE) -> float:
    (scores,) = score([candidate], [reference], metrics=spec).values()
    return float(scores.segments[0])


def test_by_hand_with_an_assignment_of_trigrams() -> None:
    spec = "gauge:model=hashing,special=drop"  # seven words each: transport is an assignment
    bound = bind_metric(spec)
    inputs = ModelInputs([bound], [CANDIDATE], [REFERENCE])
    get = inputs.for_metric(bound)
    clouds = get(CANDIDATE, "candidate"), get(REFERENCE, "reference")
    grams = []
    for cloud in clouds:
        layers = cloud.points / np.linalg.norm(cloud.points, axis=2, keepdims=True)
        tokens = np.concatenate(list(layers), axis=1)
        means = np.stack([tokens[i : i + 3].mean(axis=0) for i in range(len(tokens) - 2)])
        grams.append(means / np.linalg.norm(means, axis=1, keepdims=True))
    cosines = grams[0] @ grams[1].T
    matched = cosines[linear_sum_assignment(-cosines)]
    assert value(spec) == pytest.approx(matched.mean(), abs=1e-6)


def test_is_one_minus_half_of_movers_squared_distance() -> None:
    options = "model=hashing,layers=2+3+4,ngram=3"
    squared = value(f"mover:{options},cost=squared_euclid")
    assert value("gauge:model=hashing") == pytest.approx(1 - squared / 2, abs=1e-9)


def test_identical_texts_get_exactly_one() -> None:
    assert value("gauge:model=hashing", CANDIDATE, CANDIDATE) == 1.0


def test_precision_and_recall_match_one_text_only() -> None:
    options = "model=hashing,layers=2+3+4,ngram=3,special=drop"
    greedy = score([CANDIDATE], [REFERENCE], metrics="bertscore:model=hashing,layer=2+3+4,ngram=3")[
        "bertscore:model=hashing,layer=2+3+4,ngram=3"
    ]
    _, precision, recall = greedy.statistics[0]
    assert value(f"gauge:{options},headline=precision") == pytest.approx(precision, abs=1e-6)
    assert value(f"gauge:{options},headline=recall") == pytest.approx(recall, abs=1e-6)
    assert value(f"gauge:{options}") < min(precision, recall), "both marginals cost more than one"


def test_additions_do_not_lower_recall_and_omissions_do_not_lower_precision() -> None:
    longer = f"{CANDIDATE} and then home"
    options = "gauge:model=hashing,layers=0,ngram=1,special=drop"
    assert value(f"{options},headline=recall", longer, CANDIDATE) == 1.0
    assert value(f"{options},headline=precision", CANDIDATE, longer) == 1.0
    assert value(f"{options},headline=recall", CANDIDATE, longer) < 1
    recall = metric("gauge:headline=recall")
    assert recall.components == ("recall", "distance")
    assert (metric("gauge").symmetric, recall.symmetric) == (True, False)


def test_negative_similarities_count_as_no_match() -> None:
    built = metric("gauge")
    assert built.row_of_cost(1.25) == (0.0, 1.25)
    assert built.void_row == (0.0, 1.0)


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


def test_the_alignment_shows_ngrams_and_the_score() -> None:
    plan = align(CANDIDATE, REFERENCE, metric="gauge:model=hashing,special=drop")
    assert plan.candidate_tokens[0] == "a man is"
    assert 1 - plan.value == pytest.approx(value("gauge:model=hashing,special=drop"))
