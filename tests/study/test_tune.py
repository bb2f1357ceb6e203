"""Layers are chosen on one part of the judgements and held against the default on the other."""

from __future__ import annotations

import json

import numpy as np
import pytest

from conftest import example
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import OptionError
from nlgauge.data import JudgedCorpus
from nlgauge.scoring import score
from nlgauge.stats import bootstrap_difference, pearson, split
from nlgauge.study import tune_layers

SYSTEMS = ("fluent", "literal", "hasty")
BERT, MOVER = "bertscore:model=hashing", "mover:model=hashing"


def _judged(spec: str, noise: float) -> JudgedCorpus:
    """People who judge as a metric does, with some noise."""
    references = example("reference.a")
    corpus = Corpus.join(
        [Corpus.of(example(name), references, systems=[name] * 36) for name in SYSTEMS]
    )
    (scores,) = score(corpus.candidates, corpus.references, metrics=spec).values()
    seen = scores.scale.sign * scores.segments
    human = seen + np.random.default_rng(0).normal(0, noise * seen.std(), len(seen))
    return JudgedCorpus(corpus, {"quality": human}, ("made up.",))


@pytest.fixture(scope="module")
def by_first_layer() -> JudgedCorpus:
    return _judged(f"{BERT},layer=1", 0.05)


def test_the_layer_people_had_in_mind_is_found_and_beats_the_default(by_first_layer) -> None:
    found = tune_layers(by_first_layer, BERT)
    (entry,) = found.entries
    assert entry.layered.values == (0, 1, 2, 3, 4)
    assert (entry.layered.default, entry.chosen) == ("3", 1)
    assert entry.gain.low > 0
    assert set(found.signatures) == {BERT, f"{BERT},layer=1"}
    assert "|layer:1|" in found.signatures[f"{BERT},layer=1"]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["notes"] == ["made up."]


def test_both_tests_are_of_the_part_that_did_not_choose(by_first_layer) -> None:
    (entry,) = tune_layers(by_first_layer, BERT, seed=5).entries
    content = entry.to_dict()
    corpus, test = by_first_layer.corpus, split(36, 0.5, 5).test
    human = by_first_layer.human["quality"].reshape(3, 36)[:, test]
    parts = []
    for key, layer in (("test", 1), ("default_test", 3)):
        spec = f"{BERT},layer={layer}"
        scores = score(corpus.candidates, corpus.references, metrics=spec)[spec].segments
        parts.append(scores.reshape(3, 36)[:, test])
        assert content[key] == pytest.approx(pearson(parts[-1].ravel(), human.ravel()))
    expected = bootstrap_difference(*parts, human, seed=5)
    assert content["gain"] == pytest.approx(content["test"] - content["default_test"])
    assert (content["low"], content["high"]) == pytest.approx((expected.low, expected.high))
    assert content["tested_on"] == "18 inputs (test)"


def test_metrics_that_join_layers_try_every_run_of_neighbours() -> None:
    judged = _judged(f"{MOVER},layers=1-2", 0.02)
    (entry,) = tune_layers(judged, MOVER).entries
    assert entry.layered.values == (1, "1-2", "1-3", "1-4", 2, "2-3", "2-4", 3, "3-4", 4)
    assert (entry.layered.default, entry.chosen) == ("2+3+4", "1-2")
    assert entry.to_dict()["tried"][1]["test"] == entry.to_dict()["test"]
    (short,) = tune_layers(judged, MOVER, longest=2).entries
    assert short.layered.values == (1, "1-2", 2, "2-3", 3, "3-4", 4)


def test_a_default_that_is_chosen_gains_nothing() -> None:
    judged = _judged(f"{BERT},layer=3", 0.01)
    (entry,) = tune_layers(judged, BERT).entries
    assert (entry.layered.default, str(entry.chosen)) == ("3", "3")
    assert (entry.gain.value, entry.gain.low, entry.gain.high) == (0, 0, 0)


def test_several_metrics_are_tuned_in_one_pass_at_any_level(by_first_layer) -> None:
    found = tune_layers(
        by_first_layer, [BERT, "wmd:model=hashing"], level="text", coefficient="kendall"
    )
    assert [entry.swept.metric for entry in found.entries] == [BERT, "wmd:model=hashing"]
    for entry in found.entries:
        assert entry.to_dict()["coefficient"] == "kendall_b"
        assert entry.gain.low <= entry.gain.value <= entry.gain.high


@pytest.mark.parametrize(
    ("spec", "options", "message"),
    [
        ("chrf", {}, "chrf has no layers to tune"),
        (f"{BERT},layer=2", {}, "layer=2 is set in the metric and swept as well"),
        (MOVER, {"longest": 0}, "longest=0: a run of layers holds at least 1"),
        (BERT, {"level": "word"}, "there is no level 'word'"),
    ],
)
def test_mistakes_are_refused(by_first_layer, spec: str, options: dict, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        tune_layers(by_first_layer, spec, **options)


def test_word_vectors_have_one_layer(by_first_layer, tmp_path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 0\na 0 1\n", "utf-8")
    with pytest.raises(OptionError, match="has only one"):
        tune_layers(by_first_layer, f"wmd:model={path}")
