"""Options are chosen on one part of the judgements and tested on the other."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from conftest import example
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError
from nlgauge.data import JudgedCorpus
from nlgauge.scoring import score
from nlgauge.stats import pearson, split
from nlgauge.study import sweep

SYSTEMS = ("fluent", "literal", "hasty")


@pytest.fixture(scope="module")
def judged() -> JudgedCorpus:
    """People who judge as chrf with 3-grams does, with some noise."""
    references = example("reference.a")
    corpus = Corpus.join(
        [Corpus.of(example(name), references, systems=[name] * 36) for name in SYSTEMS]
    )
    made = score(corpus.candidates, corpus.references, metrics="chrf:char_order=3")
    scores = made["chrf:char_order=3"].segments
    human = scores + np.random.default_rng(0).normal(0, 3, len(scores))
    return JudgedCorpus(corpus, {"quality": human, "reverse": -human}, ("made up.",))


def test_the_value_people_had_in_mind_is_found(judged: JudgedCorpus) -> None:
    found = sweep(judged, "chrf", {"char_order": "1..6"}, human="quality", seed=4)
    (entry,) = found.entries
    assert entry.chosen == {"char_order": 3}
    assert [row["char_order"] for row in entry.tried()] == [1, 2, 3, 4, 5, 6]
    assert [row["test"] is not None for row in entry.tried()].index(True) == 2
    assert entry.found.tuned_on == "18 inputs (tune)"
    assert entry.found.tested_on == "18 inputs (test)"
    assert list(found.signatures) == ["chrf:char_order=3"]
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_both_numbers_are_those_of_their_part(judged: JudgedCorpus) -> None:
    (entry,) = sweep(judged, "chrf", {"char_order": (3, 6)}, human="quality").entries
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
    found = sweep(judged, "chrf", {"char_order": "2,3", "beta": ".5,1,2"}, level="system")
    assert [entry.criterion for entry in found.entries] == ["quality", "reverse"]
    first = found.entries[0]
    assert [each.value for each in first.found.tried] == [
        (order, beta) for order in (2, 3) for beta in (0.5, 1, 2)
    ]
    assert first.found.tested.level == "system"


def test_systems_may_be_split_and_inputs_of_one_source_stay_together(judged: JudgedCorpus) -> None:
    (entry,) = sweep(judged, "chrf", {"beta": "1,2"}, human="quality", axis="systems").entries
    assert entry.found.tested_on == "1 systems (test)"
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
    (entry,) = sweep(kept, "chrf", {"beta": "1,2"}).entries
    sizes = {int(text.split()[0]) for text in (entry.found.tuned_on, entry.found.tested_on)}
    assert sizes == {12, 24}
    unknown = replace(grouped, sources=("",) * len(grouped))
    (entry,) = sweep(replace(kept, corpus=unknown), "chrf", {"beta": "1,2"}).entries
    assert entry.found.tuned_on == "18 inputs (tune)"  # an empty source is no common source


def test_an_infinite_price_is_a_word_in_json(judged: JudgedCorpus) -> None:
    few = judged.take(range(8), "few.")
    options = {"penalty_candidate": "1,inf"}
    found = sweep(few, "lazy_emd:model=hashing", options, human="quality")
    values = [row["penalty_candidate"] for row in found.to_dict()["sweeps"][0]["tried"]]
    assert values == [1, "inf"]
    (negated,) = [line for line in found.notes if line.startswith("negated")]
    assert negated.count("lazy_emd") == 1


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("chrf", {}, "0 options are to be tried"),
        ("chrf", {"beta": "1,2", "char_order": "1,2", "word_order": "0,1"}, "3 options"),
        ("chrf", {"beta": "2"}, "tried in 1 value"),
        ("chrf", {"gamma": "1,2"}, "no option 'gamma'"),
        ("chrf:beta=3", {"beta": "1,2"}, "beta=3 is set in the metric and swept as well"),
        ("chrf", {"beta": "low,high"}, "option beta='low'"),
        ("chrf", {"beta": "0..99", "char_order": "1..20"}, "2,000 combinations are too many"),
    ],
)
def test_what_cannot_be_tried_is_refused(judged: JudgedCorpus, metric, options, message) -> None:
    with pytest.raises(OptionError, match=message):
        sweep(judged, metric, options)


def test_one_system_cannot_be_split(judged: JudgedCorpus) -> None:
    alone = judged.without("literal", "hasty")
    with pytest.raises(DataError, match=r"1 judged systems .* split inputs instead"):
        sweep(alone, "chrf", {"beta": "1,2"}, axis="systems")
