"""Options are chosen on one part of the judgements and tested beside the defaults on the other."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError
from nlgauge.data import JudgedCorpus
from nlgauge.scoring import score
from nlgauge.stats import bootstrap_difference, pearson, split
from nlgauge.study import tune
from study.conftest import example_corpus


@pytest.fixture(scope="module")
def judged() -> JudgedCorpus:
    """Human scores equal to chrf with 3-grams plus noise."""
    corpus = example_corpus()
    made = score(corpus.candidates, corpus.references, metrics="chrf:char_order=3")
    scores = made["chrf:char_order=3"].segments
    human = scores + np.random.default_rng(0).normal(0, 3, len(scores))
    return JudgedCorpus(corpus, {"quality": human, "reverse": -human}, ("made up.",))


def test_the_value_that_generated_the_human_scores_is_found(judged: JudgedCorpus) -> None:
    found = tune(judged, "chrf", {"char_order": "1..6"}, human="quality", seed=4)
    (entry,) = found.entries
    assert entry.chosen == {"char_order": 3}
    assert [row["char_order"] for row in entry.swept.tried()] == [1, 2, 3, 4, 5, 6]
    assert [row["test"] is not None for row in entry.swept.tried()].index(True) == 2
    assert entry.swept.found.tuned_on == "18 inputs (tune)"
    assert entry.swept.found.tested_on == "18 inputs (test)"
    assert set(found.signatures) == {"chrf", "chrf:char_order=3"}
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_both_numbers_are_those_of_their_part(judged: JudgedCorpus) -> None:
    (entry,) = tune(judged, "chrf", {"char_order": (3, 6)}, human="quality").entries
    content = entry.to_dict()
    parts = split(36, 0.5, 0)
    made = score(judged.corpus.candidates, judged.corpus.references, metrics="chrf:char_order=3")
    scores = made["chrf:char_order=3"].segments.reshape(3, 36)
    human = judged.human["quality"].reshape(3, 36)
    for name, index in (("tune", parts.tune), ("test", parts.test)):
        expected = pearson(scores[:, index].ravel(), human[:, index].ravel())
        assert content[name] == pytest.approx(expected)


def test_two_options_make_a_surface_and_every_criterion_chooses_for_itself(
    judged: JudgedCorpus,
) -> None:
    found = tune(judged, "chrf", {"char_order": "2,3", "beta": ".5,1,2"}, level="system")
    assert [entry.swept.criterion for entry in found.entries] == ["quality", "reverse"]
    first = found.entries[0]
    assert [each.value for each in first.swept.found.tried] == [
        (order, beta) for order in (2, 3) for beta in (0.5, 1, 2)
    ]
    assert first.swept.found.tested.level == "system"


def test_systems_may_be_split_and_inputs_of_one_source_stay_together(judged: JudgedCorpus) -> None:
    (entry,) = tune(judged, "chrf", {"beta": "1,2"}, human="quality", axis="systems").entries
    assert entry.swept.found.tested_on == "1 systems (test)"
    corpus = judged.corpus
    sources = [f"source {int(name) // 12}" for name in corpus.ids]
    grouped = Corpus.of(
        corpus.candidates,
        corpus.references,
        systems=corpus.systems,
        ids=corpus.ids,
        sources=sources,
    )
    kept = JudgedCorpus(grouped, {"quality": judged.human["quality"]}, ())
    (entry,) = tune(kept, "chrf", {"beta": "1,2"}).entries
    sizes = {
        int(text.split()[0]) for text in (entry.swept.found.tuned_on, entry.swept.found.tested_on)
    }
    assert sizes == {12, 24}
    unknown = replace(grouped, sources=("",) * len(grouped))
    (entry,) = tune(replace(kept, corpus=unknown), "chrf", {"beta": "1,2"}).entries
    assert entry.swept.found.tuned_on == "18 inputs (tune)"  # an empty source is no common source


def test_an_infinite_penalty_is_a_string_in_json(judged: JudgedCorpus) -> None:
    few = judged.take(range(8), "few.")
    options = {"penalty_candidate": "1,inf"}
    found = tune(few, "lazy_emd:model=hashing", options, human="quality")
    values = [row["penalty_candidate"] for row in found.to_dict()["tuned"][0]["tried"]]
    assert values == [1, "inf"]
    (negated,) = [line for line in found.notes if line.startswith("negated")]
    assert negated.count("lazy_emd") == 2  # the default and the chosen


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("chrf", {}, "no options are to be tried"),
        ("chrf", {"beta": "2"}, "tried in 1 value"),
        ("chrf", {"gamma": "1,2"}, "no option 'gamma'"),
        ("chrf:beta=3", {"beta": "1,2"}, "beta=3 is set in the metric and tuned as well"),
        ("chrf", {"beta": "low,high"}, "option beta='low'"),
        ("chrf", {"beta": "0..99", "char_order": "1..20"}, "2,000 combinations are too many"),
    ],
)
def test_invalid_options_are_refused(judged: JudgedCorpus, metric, options, message) -> None:
    with pytest.raises(OptionError, match=message):
        tune(judged, metric, options)


def test_one_tested_input_has_no_interval(judged: JudgedCorpus) -> None:
    two = judged.take([i for i, name in enumerate(judged.corpus.ids) if name in ("0", "1")], "two.")
    with pytest.raises(DataError, match=r"the test part has 1 input, .* a smaller fraction"):
        tune(two, "chrf", {"beta": "1,2"}, human="quality")


def test_one_system_cannot_be_split(judged: JudgedCorpus) -> None:
    alone = judged.without("literal", "hasty")
    with pytest.raises(DataError, match=r"1 judged systems .* split inputs instead"):
        tune(alone, "chrf", {"beta": "1,2"}, axis="systems")


BERT, MOVER = "bertscore:model=hashing", "mover:model=hashing"


def _judged(spec: str, noise: float) -> JudgedCorpus:
    """Return human scores equal to those of a metric plus noise."""
    corpus = example_corpus()
    (scores,) = score(corpus.candidates, corpus.references, metrics=spec).values()
    seen = scores.scale.sign * scores.segments
    human = seen + np.random.default_rng(0).normal(0, noise * seen.std(), len(seen))
    return JudgedCorpus(corpus, {"quality": human}, ("made up.",))


@pytest.fixture(scope="module")
def by_first_layer() -> JudgedCorpus:
    return _judged(f"{BERT},layer=1", 0.05)


def test_the_layer_that_generated_the_human_scores_is_found_and_beats_the_default(
    by_first_layer,
) -> None:
    found = tune(by_first_layer, BERT)
    (entry,) = found.entries
    assert entry.swept.options == {"layer": (0, 1, 2, 3, 4)}
    assert (entry.default, entry.chosen) == ({"layer": "3"}, {"layer": 1})
    assert entry.gain.low > 0
    assert set(found.signatures) == {BERT, f"{BERT},layer=1"}
    assert "|layer:1|" in found.signatures[f"{BERT},layer=1"]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["notes"] == ["made up."]


def test_both_tests_are_of_the_part_that_did_not_choose(by_first_layer) -> None:
    (entry,) = tune(by_first_layer, BERT, seed=5).entries
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
    (entry,) = tune(judged, MOVER).entries
    assert entry.swept.options["layers"] == (1, "1-2", "1-3", "1-4", 2, "2-3", "2-4", 3, "3-4", 4)
    assert (entry.default, entry.chosen) == ({"layers": "2+3+4"}, {"layers": "1-2"})
    assert entry.to_dict()["tried"][1]["test"] == entry.to_dict()["test"]
    (short,) = tune(judged, MOVER, {"layers": "runs:2"}).entries
    assert short.swept.options["layers"] == (1, "1-2", 2, "2-3", 3, "3-4", 4)


def test_a_default_that_is_chosen_gains_nothing() -> None:
    judged = _judged(f"{BERT},layer=3", 0.01)
    (entry,) = tune(judged, BERT).entries
    assert (entry.default, entry.chosen) == ({"layer": "3"}, {"layer": 3})
    assert (entry.gain.value, entry.gain.low, entry.gain.high) == (0, 0, 0)


def test_layers_and_other_options_are_tuned_together_at_any_level(by_first_layer) -> None:
    options = {"layer": "all", "weights": "uniform,idf"}
    (entry,) = tune(by_first_layer, BERT, options, coefficient="kendall").entries
    assert len(entry.swept.tried()) == 10
    assert entry.chosen["layer"] == 1
    assert entry.to_dict()["coefficient"] == "kendall_b"
    assert entry.gain.low <= entry.gain.value <= entry.gain.high


@pytest.mark.parametrize(
    ("spec", "options", "message"),
    [
        ("chrf", {}, "no options are to be tried"),
        (f"{BERT},layer=2", {}, "layer=2 is set in the metric and tuned as well"),
        (MOVER, {"layers": "runs:0"}, "runs:0: write the most layers of a run"),
        (BERT, {"layer": "runs"}, "bertscore uses one layer"),
    ],
)
def test_invalid_layers_are_refused(by_first_layer, spec: str, options: dict, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        tune(by_first_layer, spec, options)


def test_word_vectors_have_one_layer(by_first_layer, tmp_path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 0\na 0 1\n", "utf-8")
    with pytest.raises(OptionError, match="its model has one"):
        tune(by_first_layer, f"wmd:model={path}")
