"""METEOR against NLTK and by hand."""

from functools import partial

import numpy as np
import pytest

from conftest import golden
from metrics.conftest import score_with
from nlgauge import metric
from nlgauge.core.errors import FileError, OptionError
from nlgauge.metrics.meteor import NO_WORDNET_NOTE
from nlgauge.text.tokenize import words
from nlgauge.text.wordnet import find_wordnet

GOLDEN = golden("surface")
needs_wordnet = pytest.mark.skipif(
    find_wordnet() is None, reason="no WordNet installed (extra 'meteor')"
)


class _NoSynonyms:
    """Stands in for NLTK's WordNet reader."""

    def synsets(self, word):
        return []


_meteor = partial(score_with, "meteor", synonyms="none")


def _nltk(candidate, reference, **options):
    nltk = pytest.importorskip("nltk.translate.meteor_score")
    sides = words(reference, marks=True), words(candidate, marks=True)
    return nltk.single_meteor_score(*sides, wordnet=_NoSynonyms(), **options)


DISTINCT = [
    ("the cats were sitting on mats", "a cat sat on the mat"),
    ("he quickly walks home today", "today he walked home quickly"),
    ("nothing in common", "entirely different words here"),
    ("one", "one two three"),
    ("b a d c f e", "a b c d e f"),
    ("relations between nations", "national relation is between them"),
]


@pytest.mark.parametrize(("candidate", "reference"), DISTINCT)
@pytest.mark.parametrize("options", [{}, {"alpha": 0.5, "beta": 1.0, "gamma": 0.3}])
def test_equal_to_nltk_where_no_word_repeats(candidate, reference, options):
    ours = _meteor([candidate], [reference], **options).value
    assert ours == pytest.approx(_nltk(candidate, reference, **options), abs=1e-12)


def test_never_more_chunks_than_nltk():
    pairs = [pair for name, pair in GOLDEN["pairs"].items() if all(pair) and name != "identical"]
    for candidate, reference in pairs:
        ours = _meteor([candidate], [reference]).value
        assert ours >= _nltk(candidate, reference) - 1e-12
    text = "the cat the dog", "the cat or the dog"
    assert _meteor(*([t] for t in text)).value >= _nltk(*text)


def test_fewer_chunks_than_nltk_where_a_word_repeats():
    candidate, reference = "the man saw a dog", "the man saw the old man with a dog"
    assert _meteor([candidate], [reference]).value > _nltk(candidate, reference)


def test_by_hand():
    scores = _meteor(["a b c x"], ["a b y c d"])
    precision, recall, chunks = 3 / 4, 3 / 5, 2
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    expected = mean * (1 - 0.5 * (chunks / 3) ** 3)
    assert scores.components == pytest.approx(
        {"score": expected, "precision": precision, "recall": recall}
    )


def test_a_complete_match_in_one_chunk_is_best():
    assert _meteor(["one", "two words"], ["one", "two words"]).segments.tolist() == [1, 1]
    assert _meteor(["words two"], ["two words"]).value == pytest.approx(0.5)


def test_compat_nltk_aligns_from_the_end():
    # each "the" takes the last free one of the reference: 6 chunks instead of 3
    pair = ["on the mat sat the cat"], ["the cat sat on the mat"]
    assert _meteor(*pair).value == pytest.approx(1 - 0.5 * (3 / 6) ** 3)
    assert _meteor(*pair, compat="nltk").value == pytest.approx(0.5)
    same = _meteor(["a b c d"], ["a b c d"], compat="nltk")  # penalised like other texts
    assert same.value == pytest.approx(1 - 0.5 / 4**3)


def test_compat_nltk_splits_at_spaces_and_takes_the_best_reference():
    tokens = "do n't stop ."
    assert _meteor([tokens], ["do n't"], compat="nltk").components["precision"] == 2 / 4
    several = _meteor(["a b"], [["x", "a b", "a"]], compat="nltk")
    assert several.value == pytest.approx(1 - 0.5 / 2**3)
    with pytest.raises(OptionError, match="nltk counts marks"):
        metric("meteor:compat=nltk,punctuation=no")


@needs_wordnet
def test_compat_nltk_looks_up_stems():
    def precision(*pair, **options):
        found = _meteor(*([text] for text in pair), synonyms="auto", **options)
        return found.components["precision"]

    assert precision("shut it", "close it", compat="nltk") == 1
    assert precision("happy dog", "glad dog") == 1
    assert precision("happy dog", "glad dog", compat="nltk") == 0.5  # WordNet has no "happi"


def test_compat_nltk_gives_the_value_in_its_documentation():
    candidate = "It is a guide to action which ensures that the military always obeys the commands"
    reference = "It is a guide to action that ensures that the military will forever heed"
    sides = [f"{candidate} of the party"], [f"{reference} Party commands"]
    assert _meteor(*sides, compat="nltk").value == pytest.approx(0.6944, abs=5e-5)


@needs_wordnet
def test_synonyms_are_looked_up_by_the_word_not_its_stem():
    pair = ["the happy man bought automobiles"], ["the glad man purchased cars"]
    ours = _meteor(*pair, synonyms="auto")
    assert ours.segment_components["precision"][0] == pytest.approx(1)
    assert _meteor(*pair).segment_components["precision"][0] == pytest.approx(2 / 5)
    assert ours.signature["wordnet"] == "3.0"
    assert not ours.notes.get(NO_WORDNET_NOTE)


def test_without_wordnet_a_note_is_given_once(monkeypatch):
    monkeypatch.setattr("nlgauge.metrics.meteor.find_wordnet", lambda choice="auto": None)  # noqa: ARG005
    scores = _meteor(["a cat", "a dog"], ["a cat", "dogs"], synonyms="auto")
    assert scores.notes[NO_WORDNET_NOTE] == 2
    assert scores.signature["wordnet"] == "none"
    assert scores.segments[0] == 1
    asked = _meteor(["a cat"], ["a cat"])
    assert not asked.notes.get(NO_WORDNET_NOTE)


def test_stem_and_punctuation_are_options():
    pair = ["cats sat!"], ["cat sat."]
    values = [
        _meteor(*pair, **options).segment_components["precision"][0]
        for options in ({}, {"stem": False}, {"punctuation": False})
    ]
    assert values == pytest.approx([2 / 3, 1 / 3, 1])


def test_ragged_references_empty_texts_and_round_trip():
    ragged = _meteor(["a b", "x"], [["zzz", "a b"], "x"])
    assert ragged.segments.tolist() == [1, 1]
    assert "nrefs:var" in str(ragged.signature)
    void = _meteor(["", "a", " "], ["a", "", " "])
    assert void.segments.tolist() == [0, 0, 0]
    assert sum(void.notes.values()) == 3
    built = metric("meteor:alpha=0.8,stem=no,synonyms=none,punctuation=no")
    assert type(built).rebuild(built.describe()) == built
    built = metric("meteor:synonyms=none,compat=nltk")
    assert type(built).rebuild(built.describe()) == built


def test_bad_options(tmp_path):
    with pytest.raises(OptionError, match="within"):
        metric("meteor", alpha=1.5)
    with pytest.raises(FileError, match="not a WordNet folder"):
        _meteor(["a"], ["a"], synonyms=str(tmp_path))


def test_scripts_and_sizes():
    texts = ["👍 👎 🇩🇪", "שלום עולם", "今天天气很好", "สวัสดี", "a", "!!!"]
    assert _meteor(texts, texts).segments.tolist() == [1] * 6
    assert 0 < _meteor(["今天天气很好"], ["今天天气不好"]).value < 1
    long = " ".join(f"w{i * i % 977}" for i in range(10_000))
    assert _meteor([long], [long]).value == 1
    assert np.isfinite(_meteor([long], ["w1 w4 w9"]).value)
