"""BERTScore and YiSi-1 against the public implementation, by hand, and on human judgements."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from conftest import PROJECT, needs_embedded
from nlgauge import score
from nlgauge.core.errors import FileError, OptionError
from nlgauge.encode import open_encoder
from tolerances import COSINE

GOLDEN = json.loads((PROJECT / "tests/golden/bert_score.json").read_text("utf-8"))
PAIRS = GOLDEN["pairs"]
COMPAT = "bertscore:compat=bert_score,layer=5"


def _table(scores) -> np.ndarray:
    named = scores.segment_components
    return np.stack([named["precision"], named["recall"], named["f"]], axis=1)


@needs_embedded
@pytest.mark.parametrize(("key", "options"), [("layer_5", ""), ("layer_5_idf", ",weights=idf")])
def test_compat_equals_the_public_implementation(key: str, options: str) -> None:
    candidates = [pair["candidate"] for pair in PAIRS]
    references = [pair["reference"] for pair in PAIRS]
    (scores,) = score(candidates, references, metrics=COMPAT + options).values()
    expected = np.array([GOLDEN[key][pair["id"]] for pair in PAIRS])
    np.testing.assert_allclose(_table(scores), expected, atol=COSINE)


@needs_embedded
@pytest.mark.parametrize("layer", range(7))
def test_compat_equals_it_in_every_layer(layer: int) -> None:
    pairs = [pair for pair in PAIRS if pair["id"] in GOLDEN["all_layers"]]
    (scores,) = score(
        [pair["candidate"] for pair in pairs],
        [pair["reference"] for pair in pairs],
        metrics=f"bertscore:compat=bert_score,layer={layer}",
    ).values()
    expected = [[row[layer] for row in GOLDEN["all_layers"][pair["id"]]] for pair in pairs]
    np.testing.assert_allclose(_table(scores), expected, atol=COSINE)


@needs_embedded
def test_compat_takes_each_components_own_best_reference() -> None:
    case = GOLDEN["several_references"]
    (scores,) = score([case["cand"]], [case["refs"]], metrics=COMPAT).values()
    np.testing.assert_allclose(_table(scores)[0], case["PRF"], atol=COSINE)


def test_of_several_references_the_best_f_comes_with_its_own_p_and_r() -> None:
    candidate, references = "a b c", ["a b c d e f", "a x"]
    spec = "bertscore:model=hashing,layer=0"
    (joint,) = score([candidate], [references], metrics=spec).values()
    (apart,) = score([candidate] * 2, references, metrics=spec).values()
    table = _table(apart)
    np.testing.assert_array_equal(_table(joint)[0], table[table[:, 2].argmax()])
    precision, recall, f = _table(joint)[0]
    assert f == pytest.approx(2 * precision * recall / (precision + recall))
    (mean,) = score([candidate], [references], metrics=f"{spec},over_references=mean").values()
    np.testing.assert_allclose(_table(mean)[0], table.mean(axis=0))


def test_by_hand_special_tokens_take_no_part() -> None:
    texts = ["the cat sat", "a cat ran off"]
    (cloud, other) = open_encoder("hashing").encode(texts, (3,))
    left, right = (c.points[0, 1:-1] for c in (cloud, other))
    left, right = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (left, right))
    cosines = left @ right.T
    precision, recall = cosines.max(axis=1).mean(), cosines.max(axis=0).mean()
    (scores,) = score(texts[:1], texts[1:], metrics="bertscore:model=hashing,layer=3").values()
    expected = [precision, recall, 2 * precision * recall / (precision + recall)]
    np.testing.assert_allclose(_table(scores)[0], expected, atol=1e-6)


def test_alpha_goes_from_precision_to_recall() -> None:
    pair = (["a b c"], ["a b c d e"])
    spec = "bertscore:model=hashing,alpha="
    low, middle, high = (score(*pair, metrics=spec + a)[spec + a] for a in ("0", "0.5", "1"))
    assert low.value == pytest.approx(low.components["precision"])
    assert high.value == pytest.approx(high.components["recall"])
    assert high.value < middle.value < low.value


def test_a_token_with_negative_cosines_only_keeps_the_largest() -> None:
    from nlgauge.measure.precision_recall import best_partners, f_measure

    similarity = np.array([[-0.5, -0.2], [0.9, 0.1]])
    half = np.array([0.5, 0.5])
    precision, recall = best_partners(similarity, half, half)
    assert precision == pytest.approx((-0.2 + 0.9) / 2)
    assert recall == pytest.approx((0.9 + 0.1) / 2)
    assert f_measure(-0.1, 0.5, 0.5) == 0.0


def test_rescaling_by_a_baseline_file(tmp_path: Path) -> None:
    path = tmp_path / "base.tsv"
    path.write_text("LAYER,P,R,F\n2,0.1,0.2,0.3\n3,0.4,0.5,0.6\n")
    spec = "bertscore:model=hashing,layer=3"
    (plain,) = score(["a b"], ["a c"], metrics=spec).values()
    (scaled,) = score(["a b"], ["a c"], metrics=f"{spec},baseline={path}").values()
    base = np.array([0.4, 0.5, 0.6])
    np.testing.assert_allclose(_table(scaled)[0], (_table(plain)[0] - base) / (1 - base))
    with pytest.raises(OptionError, match="has no row for layer 1"):
        score(["a"], ["a"], metrics=f"bertscore:model=hashing,layer=1,baseline={path}")
    with pytest.raises(FileError, match="cannot be read"):
        score(["a"], ["a"], metrics=f"{spec},baseline={tmp_path / 'absent.tsv'}")
    path.write_text("LAYER,P\n3,x\n")
    with pytest.raises(FileError, match="must have the columns LAYER,P,R,F"):
        score(["a"], ["a"], metrics=f"{spec},baseline={tmp_path}/../{tmp_path.name}/base.tsv")


def test_compat_compares_single_tokens_of_one_layer_with_the_most_similar() -> None:
    spec = "bertscore:model=hashing,compat=bert_score"
    for options, message in {
        "layer=2-3": "compares one layer, but layer=2-3 selects 2",
        "ngram=2": "bert_score ignores n-grams; leave out ngram=2",
        "temperature=0.1": "leave out temperature=0.1",
    }.items():
        with pytest.raises(OptionError, match=message):
            score(["a"], ["a"], metrics=f"{spec},{options}")


def test_yisi_favours_recall_and_weighs_by_its_own_idf() -> None:
    references = ["the cat sat", "the dog ran", "the bird flew", "the fish swam"] * 3
    candidates = ["the cat", "the dog ran far", "a bird", "fish"] * 3
    spec, uniform = "yisi:model=hashing", "yisi:model=hashing,weights=uniform"
    scores = score(candidates, references, metrics=[spec, uniform])
    named = scores[spec].components
    assert list(named) == ["f", "precision", "recall"]
    assert scores[spec].segments[0] != scores[uniform].segments[0]
    precision, recall = (scores[spec].segment_components[k][0] for k in ("precision", "recall"))
    expected = precision * recall / (0.7 * precision + 0.3 * recall)
    assert scores[spec].segments[0] == pytest.approx(expected)


@needs_embedded
@pytest.mark.parametrize(("pair", "least"), [("de-en", 0.675), ("cs-en", 0.670)])
def test_agreement_with_people_on_wmt15(shared_data: Path, pair: str, least: float) -> None:
    lines = (shared_data / "wmt15_da" / f"{pair}.jsonl").read_text("utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    (scores,) = score(
        [row["candidate"] for row in rows],
        [row["references"] for row in rows],
        metrics="bertscore:layer=4",
    ).values()
    human = [row["human"]["da_z"] for row in rows]
    assert np.corrcoef(scores.segments, human)[0, 1] >= least


@pytest.mark.parametrize("options", ["", ",weights=idf", ",compat=bert_score"])
def test_the_alignment_has_precision_and_recall_as_its_value(options: str) -> None:
    """Tokens without mass, such as special ones or those with an idf of 0, can be the nearest."""
    candidates, references = ["the cat is the cat", "the dog"], ["the a the cat", "a the hat"]
    spec = f"bertscore:model=hashing,layer=2{options}"
    (scores,) = score(candidates, references, metrics=spec).values()
    for segment in range(2):
        plan, parts = scores.plan(segment), scores.segment_components
        mean = (parts["precision"][segment] + parts["recall"][segment]) / 2
        assert 1 - plan.value == pytest.approx(mean, abs=1e-6)
        assert plan.mass == pytest.approx(1)
        assert (plan.a.sum(), plan.b.sum()) == pytest.approx((1, 1))
