"""Transport metrics: special cases, limits, options and alignments."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog

from conftest import example, needs_embedded
from nlgauge import Scorer, align, metric, score
from nlgauge.core.cloud import Tokens
from nlgauge.core.errors import (
    DataError,
    FileError,
    LongTextWarning,
    OptionError,
    UsageError,
)
from nlgauge.core.requirements import Weighting
from nlgauge.encode import open_encoder
from nlgauge.text.filters import masses

CANDIDATES, REFERENCES = example("literal")[:8], example("reference.a")[:8]
MODEL = "model=hashing"
FIGURE = (
    "A guy with a red jacket is standing on a boat",
    "A man wearing a lifevest is sitting in a canoe",
)


def _segments(spec: str, candidates=CANDIDATES, references=REFERENCES) -> np.ndarray:
    (scores,) = score(candidates, references, metrics=spec).values()
    return scores.segments


def _component(spec: str, name: str) -> np.ndarray:
    (scores,) = score(CANDIDATES, REFERENCES, metrics=spec).values()
    return scores.segment_components[name]


def test_precision_recall_and_emd_are_special_cases_of_lazy_emd() -> None:
    lazy = f"lazy_emd:{MODEL},layer=3,penalty_candidate={{}},penalty_reference={{}}"
    precision = _component(f"bertscore:{MODEL},layer=3", "precision")
    recall = _component(f"bertscore:{MODEL},layer=3", "recall")
    np.testing.assert_allclose(_segments(lazy.format("inf", 0)), 1 - precision, atol=1e-9)
    np.testing.assert_allclose(_segments(lazy.format(0, "inf")), 1 - recall, atol=1e-9)
    emd = _segments(f"mover:{MODEL},layers=3,cost=cosine,special=drop")
    np.testing.assert_allclose(_segments(lazy.format("inf", "inf")), emd, atol=1e-9)
    np.testing.assert_allclose(_segments(lazy.format(1e5, 1e5)), emd, atol=1e-4)
    assert (emd >= np.maximum(1 - precision, 1 - recall) - 1e-12).all()


def test_lazy_emd_of_two_words_is_the_closed_form_of_theorem_2() -> None:
    cost = 1 - _component_of_pair("bertscore", "cat", "dog")
    found = _segments(f"lazy_emd:{MODEL}", ["cat"], ["dog"])[0]
    assert found == pytest.approx(cost * np.exp(-cost / 0.54), abs=1e-9)
    whole = _segments(f"lazy_emd:{MODEL},headline=objective", ["cat"], ["dog"])[0]
    assert whole == pytest.approx(0.54 * (1 - np.exp(-cost / 0.54)), abs=1e-9)


def _component_of_pair(name: str, candidate: str, reference: str) -> float:
    spec = f"{name}:{MODEL},layer=3"
    return score([candidate], [reference], metrics=spec)[spec].components["precision"]


def test_lazy_emd_languages_and_penalties() -> None:
    assert not np.allclose(_segments(f"lazy_emd:{MODEL}"), _segments(f"lazy_emd:{MODEL},lang=zh"))
    given = f"lazy_emd:{MODEL},penalty_candidate=0.018,penalty_reference=0.97"
    np.testing.assert_array_equal(_segments(given), _segments(f"lazy_emd:{MODEL},lang=zh"))
    with pytest.raises(OptionError, match="both penalties 0 no mass is moved"):
        score(["a"], ["a"], metrics="lazy_emd:penalty_candidate=0,penalty_reference=0")


def test_mover_of_single_tokens_on_one_layer_is_wmd_and_equals_linear_programming() -> None:
    wmd = _segments(f"wmd:{MODEL},layer=3")
    np.testing.assert_allclose(_segments(f"mover:{MODEL},layers=3"), wmd, atol=1e-12)
    plan = align(CANDIDATES[0], REFERENCES[0], metric=f"wmd:{MODEL},layer=3")
    n, m = plan.cost.shape
    rows = [np.kron(np.eye(n)[i], np.ones(m)) for i in range(n)]
    columns = [np.kron(np.ones(n), np.eye(m)[j]) for j in range(m)]
    found = linprog(plan.cost.ravel(), A_eq=[*rows, *columns], b_eq=[*plan.a, *plan.b])
    assert found.fun == pytest.approx(wmd[0], abs=1e-9)


def test_mover_with_huge_n_grams_is_one_distance_of_means() -> None:
    plan = align("a b c", "b c d e", metric=f"mover:{MODEL},ngram=1000,special=drop")
    assert plan.coupling.shape == (1, 1)
    assert plan.candidate_tokens == ("a b c",)


@pytest.mark.parametrize(
    "option",
    [
        "ngram=2",
        "aggregate=pmeans",
        "aggregate=mean",
        "aggregate=routing",
        "cost=cosine",
        "word_order=0.2",
        "special=drop",
        "punctuation=drop",
        "weights=idf",
        "layers=1+4",
    ],
)
def test_every_option_of_mover_changes_scores(option: str) -> None:
    plain, changed = _segments(f"mover:{MODEL}"), _segments(f"mover:{MODEL},{option}")
    assert not np.allclose(plain, changed)


@pytest.mark.parametrize(
    "spec",
    [
        "mover:compat=mover-v1,cost=cosine",
        "mover:compat=mover-v1,aggregate=mean",
        "mover:compat=mover-v2,word_order=0.2",
        "mover:compat=mover-v1,special=drop",
        "mover:compat=mover-v2,punctuation=drop",
        "bary:compat=nlg_eval,special=drop",
        "lazy_emd:compat=lazy_emd,special=keep",
        "depth:compat=nlg_eval,directions=500",
        "depth:compat=nlg_eval,seed=1",
        "infolm:compat=torchmetrics,direction=cand-ref",
        "infolm:compat=nlg_eval,direction=cand-ref",
        "lazy_emd:compat=lazy_emd,epsilon=0.1",
    ],
)
def test_options_that_compat_sets_are_refused(spec: str) -> None:
    compat, option = spec.partition(":compat=")[2].split(",")
    with pytest.raises(OptionError, match=f"compat={compat} sets .* itself; leave out {option}"):
        metric(spec)


@pytest.mark.parametrize("epsilon", [0.01, 7, 1e6])
@pytest.mark.parametrize("headline", ["cost", "objective"])
def test_regularised_lazy_emd_is_at_most_its_void_value(epsilon: float, headline: str) -> None:
    spec = f"lazy_emd:{MODEL},layer=0,epsilon={epsilon},headline={headline}"
    (scores,) = score(["a b", ""], ["c d e", "x"], metrics=spec).values()
    assert scores.scale.high == pytest.approx(min(2, 0.54 + epsilon))
    assert 0 < scores.segments[0] < scores.segments[1] == scores.scale.high


def test_routing_of_layers_that_agree_slowly_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = f"mover:{MODEL},aggregate=routing,layers=all"
    texts = ["<s> [CLS] [UNK]"], ["a cat"]
    distance = _segments(spec, *texts)
    monkeypatch.setattr("nlgauge.measure.layers.ROUTING_STEPS", 8000)
    assert _segments(spec, *texts) == pytest.approx(distance, rel=1e-4)
    assert _segments(spec, *texts) != distance, "more steps change it a little"


def test_word_order_adds_a_cost_to_a_shuffled_text() -> None:
    shuffled = ["off ran dog the"], ["the dog ran off"]
    spec = f"mover:{MODEL},layers=0,special=drop"
    assert _segments(spec, *shuffled)[0] == pytest.approx(0, abs=1e-9)
    assert _segments(f"{spec},word_order=0.2", *shuffled)[0] > 0.05


def test_stopwords_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "stop.txt").write_text("The\nand\n")
    spec = f"mover:{MODEL},stopwords={tmp_path / 'stop.txt'},special=drop"
    plan = align("The cat and dog", "A cat", metric=spec)
    assert plan.candidate_tokens == ("cat", "dog")
    (tmp_path / "stop.txt").write_text("dog")
    os.utime(tmp_path / "stop.txt", (0, 0))
    plan = align("The cat and dog", "A cat", metric=spec)
    assert plan.candidate_tokens == ("the", "cat", "and"), "the file is read again"
    with pytest.raises(FileError, match=r"stop word file .* cannot be read"):
        score(["a"], ["a"], metrics=f"mover:{MODEL},stopwords={tmp_path / 'absent'}")


def test_stopwords_are_found_behind_the_marks_of_tokenizers() -> None:
    strings = ("<s>", "Ġthe", "Ġbrea", "the", "▁The", "the</w>", "##the")
    ids, words = np.arange(7), np.array([-1, 0, 1, 1, 2, 3, 4])
    tokens = Tokens(strings, ids, words < 0, words, np.zeros((7, 2), dtype=np.int64))
    weighting = Weighting(stopwords=frozenset(["the"]))
    assert masses(tokens, weighting, None).nonzero()[0].tolist() == [2, 3, 6]


@pytest.mark.parametrize("compat", ["mover-v1", "mover-v2"])
def test_the_alignment_of_published_code_has_its_cost(compat: str) -> None:
    spec = f"mover:{MODEL},compat={compat}"
    (scores,) = score(CANDIDATES, REFERENCES, metrics=spec).values()
    costs = [scores.plan(segment).value for segment in range(len(scores))]
    np.testing.assert_allclose(costs, scores.segment_components["distance"], atol=1e-12)


def test_bary_of_one_layer_is_w2_squared_of_that_layer() -> None:
    bary = _segments(f"bary:{MODEL},layers=3")
    squared = _segments(f"mover:{MODEL},layers=3,cost=squared_euclid")
    np.testing.assert_allclose(bary, squared, atol=1e-9)
    np.testing.assert_allclose(_component(f"bary:{MODEL},layers=3", "w2") ** 2, bary)


def test_long_texts_with_idf_weights_are_announced(monkeypatch) -> None:
    pair = ["one two three", "four"], ["two three four", "five"]
    monkeypatch.setattr("nlgauge.metrics.bary._LONG_SECONDS", 60.0)
    monkeypatch.setattr("nlgauge.metrics.bary._MEASURED_TOKENS", 0.5)
    with pytest.warns(LongTextWarning, match=r"3 tokens; .* takes about 4 min and 0.0 GB: score"):
        score(*pair, metrics="bary:model=hashing,weights=idf")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score(*pair, metrics="bary:model=hashing")


def test_idf_changes_bary() -> None:
    uniform, weighted = _segments(f"bary:{MODEL}"), _segments(f"bary:{MODEL},weights=idf")
    assert np.abs(uniform - weighted).max() > 1e-3


def test_bary_sinkhorn_divergence_tends_to_w2_squared() -> None:
    exact = _segments(f"bary:{MODEL}")
    blurred = [np.abs(_segments(f"bary:{MODEL},epsilon={e}") - exact).max() for e in (1, 0.01)]
    assert blurred[1] < 0.02 < blurred[0]


def test_depth_measures_differ_and_the_seed_matters_little() -> None:
    measures = ("irw", "ai_irw", "sliced", "wasserstein", "mmd")
    values = [_segments(f"depth:{MODEL},measure={name}") for name in measures]
    assert len({round(float(column[0]), 6) for column in values}) == len(measures)
    other = _segments(f"depth:{MODEL},seed=1")
    assert not np.array_equal(values[0], other)
    np.testing.assert_allclose(values[0], other, rtol=0.2)
    with pytest.raises(OptionError, match="leave out weights=idf"):
        score(["a"], ["a"], metrics=f"depth:{MODEL},weights=idf")
    with pytest.raises(OptionError, match="reproduces irw, not sliced"):
        score(["a"], ["a"], metrics=f"depth:{MODEL},measure=sliced,compat=nlg_eval")


def test_depth_wasserstein_is_the_root_of_the_cost_and_mmd_the_whole_square() -> None:
    texts = ["a cat sat on it", "the dog ran to her"]
    left, right = (
        cloud.layer / np.linalg.norm(cloud.layer, axis=1, keepdims=True)
        for cloud in open_encoder("hashing").encode(texts, (3,))
    )
    squared = ((left[:, None] - right) ** 2).sum(axis=2)
    rows, columns = linear_sum_assignment(squared)
    (found,) = _segments(f"depth:{MODEL},layer=3,measure=wasserstein", texts[:1], texts[1:])
    assert found**2 == pytest.approx(squared[rows, columns].mean(), abs=1e-6)

    def kernel(x: np.ndarray, y: np.ndarray) -> float:
        return float(np.exp(-((x[:, None] - y) ** 2).sum(axis=2) / (2 * 0.05**2)).mean())

    (found,) = _segments(f"depth:{MODEL},layer=3,measure=mmd", texts[:1], texts[1:])
    expected = kernel(left, left) - 2 * kernel(left, right) + kernel(right, right)
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "spec",
    [
        *("wmd", "mover", "mover:ngram=2", "mover:weights=idf", "smd", "sms", "wmdo"),
        *("lazy_emd", "lazy_emd:headline=objective", "lazy_emd:lang=zh"),
        *("bary", "bary:weights=idf", "depth", "depth:measure=sliced"),
    ],
)
def test_equal_texts_are_exactly_0_apart(spec: str) -> None:
    joint = "," if ":" in spec else ":"
    assert (_segments(f"{spec}{joint}{MODEL}", REFERENCES, REFERENCES) == 0).all()


@pytest.mark.parametrize("spec", ["mover:punctuation=drop", "wmd", "bary", "depth", "lazy_emd"])
def test_texts_without_words_get_the_worst_value(spec: str) -> None:
    joint = "," if ":" in spec else ":"
    texts = ["", "...", "a b"] if "punctuation" in spec else ["", " ", "a b"]
    (scores,) = score(texts, ["a b"] * 3, metrics=f"{spec}{joint}{MODEL}").values()
    np.testing.assert_array_equal(scores.segments[:2], scores.scale.void)
    assert scores.segments[2] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", ["bertscore", "yisi", "wmd", "mover", "lazy_emd", "bary"])
def test_every_matching_metric_shows_its_alignment(name: str) -> None:
    weights = ",weights=uniform" if name == "yisi" else ""
    spec = f"{name}:{MODEL}{weights}"
    scores = Scorer(spec).score(CANDIDATES[:2], [[REFERENCES[1], t] for t in REFERENCES[:2]])[spec]
    plan = scores.plan(0)
    assert plan.coupling.shape == (len(plan.candidate_tokens), len(plan.reference_tokens))
    assert "council" in plan.reference_tokens, "of two references the better one is shown"
    assert plan.coupling.sum() == pytest.approx(plan.mass)
    if name in {"wmd", "mover", "bary"}:
        assert plan.value == pytest.approx(scores.segments[0])


def test_alignment_of_nothing_or_by_a_metric_without_one() -> None:
    with pytest.raises(DataError, match="nothing to align"):
        align("", "a", metric=f"wmd:{MODEL}")
    with pytest.raises(UsageError, match="bleu does not match tokens"):
        align("a", "a", metric="bleu")
    with pytest.raises(UsageError, match="depth does not match tokens"):
        align("a", "a", metric=f"depth:{MODEL}")


@needs_embedded
def test_the_first_figure_of_moverscore() -> None:
    plan = align(*FIGURE, metric="wmd:special=drop")
    names = plan.candidate_tokens, plan.reference_tokens
    pairs = {(names[0][i], names[1][j]) for i, j, _ in plan.top(10)}
    assert {("guy", "man"), ("standing", "sitting"), ("boat", "canoe"), ("is", "is")} <= pairs


@needs_embedded
@pytest.mark.parametrize(
    ("spec", "least"), [("bary", 0.68), ("mover:aggregate=pmeans,layers=last5", 0.69)]
)
def test_agreement_with_people_on_wmt15(shared_data: Path, spec: str, least: float) -> None:
    lines = (shared_data / "wmt15_da" / "de-en.jsonl").read_text("utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    texts = [row["candidate"] for row in rows], [row["references"] for row in rows]
    (scores,) = score(*texts, metrics=spec).values()
    human = [row["human"]["da_z"] for row in rows]
    assert np.corrcoef(-scores.segments, human)[0, 1] >= least
