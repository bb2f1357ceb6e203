"""NIST against NLTK, mteval and by hand."""

import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from conftest import golden
from metrics.conftest import score_with
from nlgauge import Scorer, metric
from nlgauge.core.errors import OptionError, UsageError
from nlgauge.text.tokenize import words

GOLDEN = golden("surface")
MTEVAL = golden("nist")
EXAMPLES = Path(__file__).parents[2] / "examples"
PAIRS = [pair for pair in GOLDEN["pairs"].values() if all(pair)]
CANDIDATES, REFERENCES = (list(side) for side in zip(*PAIRS, strict=True))


_nist = partial(score_with, "nist")


@pytest.mark.parametrize("order", [1, 3, 5])
def test_equal_to_nltk_for_one_reference(order):
    nltk = pytest.importorskip("nltk.translate.nist_score")
    expected = nltk.corpus_nist(
        [[words(text, marks=True)] for text in REFERENCES],
        [words(text, marks=True) for text in CANDIDATES],
        n=order,
    )
    assert expected > 1
    assert _nist(CANDIDATES, REFERENCES, order=order).value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("system", MTEVAL["examples"])
def test_13a_equals_mteval_on_the_examples(system):
    names = system, "reference.a", "reference.b"
    texts = [(EXAMPLES / f"{name}.txt").read_text("utf-8").splitlines() for name in names]
    candidates, one = texts[:2]
    two = list(zip(*texts[1:], strict=True))
    ours = {
        "one": _nist(candidates, one, tokenize="13a").value,
        "two": _nist(candidates, two, tokenize="13a").value,
        "cased": _nist(candidates, one, tokenize="13a", lowercase=False).value,
    }
    assert ours == pytest.approx(MTEVAL["examples"][system], abs=1e-9)


def test_13a_equals_mteval_on_marks_umlauts_and_the_word_0():
    candidates, references = (list(side) for side in zip(*MTEVAL["pairs"], strict=True))
    ours = _nist(candidates, references, tokenize="13a")
    assert ours.value == pytest.approx(MTEVAL["value"], abs=1e-9)
    np.testing.assert_allclose(ours.segments, MTEVAL["segments"], atol=1e-9)
    assert abs(_nist(candidates, references).value - ours.value) > 0.01


def test_by_hand():
    # a b: unigrams log2(8/4) + log2(8/2), bigram log2(4/2), out of 2 and 1; no brevity penalty
    references = ["a b a c", "a b a d"]
    ours = _nist(["a b"], [references], order=2)
    penalty = math.exp(math.log(0.5) / math.log(1.5) ** 2 * math.log(2 / 4) ** 2)
    assert ours.value == pytest.approx(((1 + 2) / 2 + 1 / 1) * penalty)


def test_two_thirds_of_the_length_cost_a_half():
    whole = _nist(["a b c d e f"], ["a b c d e f"], order=1).value
    assert whole == pytest.approx(math.log2(6))
    assert _nist(["a b c d"], ["a b c d e f"], order=1).value == pytest.approx(whole / 2)


def test_matches_are_clipped_by_the_largest_count_of_any_reference():
    ours = metric("nist:order=1").fit([["a x", "a a", "y z"]])
    row = ours.rows(["a a a"], [["a x", "a a", "y z"]]).statistics[0]
    assert row.tolist() == [2.0, 3, 3, 2]  # 2 matches of log2(6/3) bits; 3 words; 2 on average


def test_a_row_scores_the_same_in_any_corpus_with_a_fixed_table():
    scorer = Scorer("nist").fitted(REFERENCES)
    together = scorer.score(CANDIDATES, REFERENCES)["nist"]
    alone = scorer.score(CANDIDATES[3:4], REFERENCES[3:4])["nist"]
    assert alone.segments[0] == together.segments[3]
    assert alone.signature["table_sha"] == together.signature["table_sha"]
    other = Scorer("nist").fitted(REFERENCES[:5]).score(CANDIDATES[3:4], REFERENCES[3:4])["nist"]
    assert other.segments[0] != alone.segments[0]
    assert other.signature["table_sha"] != alone.signature["table_sha"]


def test_unfitted_is_refused():
    with pytest.raises(UsageError, match="nist weights n-grams"):
        metric("nist").rows(["a"], [["a"]])


def test_case_ragged_empty_round_trip_and_bad_options():
    pair = ["The Cat"], ["the cat"]
    assert _nist(*pair).value > _nist(*pair, lowercase=False).value == 0
    ragged = _nist(["a b", "x"], [["a b", "c"], "x"])
    assert "nrefs:var" in str(ragged.signature)
    void = _nist(["", "a", ""], ["a", "", ""])
    assert void.segments.tolist() == [0, 0, 0]
    assert void.value == 0
    assert sum(void.notes.values()) == 3
    built = metric("nist:order=3,lowercase=no,tokenize=13a")
    assert type(built).rebuild(built.describe()) == built
    with pytest.raises(OptionError, match="within"):
        metric("nist", order=0)


def test_scripts_and_sizes():
    long = " ".join(f"w{i * i % 977}" for i in range(10_000))
    texts = [long, "👍 👎 🇩🇪", "שלום עולם", "今天天气很好", "สวัสดี", "a"]
    own = _nist(texts, texts).segments
    other = _nist(texts[1:] + texts[:1], texts).segments
    assert np.isfinite(own).all()
    assert (own > other).all()
