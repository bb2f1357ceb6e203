"""TER against stored numbers and sacrebleu."""

import itertools
import warnings
from functools import partial

import numpy as np
import pytest
from sacrebleu.metrics import TER

from conftest import golden
from metrics.conftest import score_with
from nlgauge import metric
from nlgauge.core.errors import LongTextWarning, OptionError

GOLDEN = golden("surface")
CANDIDATES, REFERENCES = (list(side) for side in zip(*GOLDEN["pairs"].values(), strict=True))
FULL = [i for i, pair in enumerate(GOLDEN["pairs"].values()) if all(pair)]


_ter = partial(score_with, "ter")


def test_golden_segments_and_corpus():
    segments = _ter(CANDIDATES, REFERENCES).segments
    np.testing.assert_allclose(segments, list(GOLDEN["sentence"]["ter"].values()), atol=1e-6)
    whole = _ter([CANDIDATES[i] for i in FULL], [REFERENCES[i] for i in FULL])
    assert whole.value == pytest.approx(GOLDEN["corpus"]["ter"], abs=1e-6)


@pytest.mark.parametrize("flags", list(itertools.product([False, True], repeat=4)))
def test_value_and_signature_are_sacrebleus(flags):
    names = ("normalized", "no_punct", "asian_support", "case_sensitive")
    options = dict(zip(names, flags, strict=True))
    candidates, references = ["The Cat sat , 今天 on."], ["the cat, sat on 明天."]
    tool = TER(**options)
    expected = tool.corpus_score(candidates, [references])
    ours = _ter(candidates, references, **options)
    assert ours.value == pytest.approx(expected.score)
    edits = {"edits": expected.num_edits, "reference_length": expected.ref_length}
    assert ours.details == edits
    assert str(ours.signature) == f"ter|{tool.get_signature().format()}"
    assert metric(str(ours.signature)) == ours.metric


def test_details_of_several_references_are_the_fewest_edits_and_the_mean_length():
    candidates, references = ["a b c", "x"], [["a b c d", "a b e f g"], ["x", "y"]]
    expected = TER().corpus_score(candidates, [["a b c d", "x"], ["a b e f g", "y"]])
    ours = _ter(candidates, references)
    assert ours.details == {"edits": 1, "reference_length": 5.5}
    assert (expected.num_edits, expected.ref_length) == (1, 5.5)


def test_options_change_results():
    pair = ["The cat sat."], ["the cat sat ."]
    values = {
        _ter(*pair, **options).value
        for options in ({}, {"normalized": True}, {"case_sensitive": True})
    }
    assert len(values) == 3


def test_a_moved_phrase_is_one_edit():
    assert _ter(["d e a b c"], ["a b c d e"]).value == pytest.approx(20)


def test_ragged_references_use_the_average_length():
    ours = _ter(["a b c", "x"], [["a b c d", "a b"], ["x"]])
    assert ours.segments == pytest.approx([100 * 1 / 3, 0])
    assert "nrefs:var" in str(ours.signature)


def test_empty_texts_keep_sacrebleus_numbers_and_are_noted():
    scores = _ter(["", "a b", ""], ["a b", "", ""])
    assert scores.segments.tolist() == [100, 100, 0]
    assert sum(scores.notes.values()) == 3
    assert "TER is 100" in scores.warnings[0]


def test_bad_options():
    with pytest.raises(OptionError, match="expected yes or no"):
        metric("ter", normalized="perhaps")


def test_scripts_and_sizes():
    # sacrebleu needs 25 s for 10,000 words, so this one is shorter.
    texts = [" ".join(f"w{i % 90}" for i in range(600)), "👍 👎", "שלום עולם", "สวัสดี", "one"]
    assert _ter(texts, texts).segments.tolist() == [0] * 5


def test_long_segments_are_warned_of_before_sacrebleu_starts(monkeypatch):
    monkeypatch.setattr("sacrebleu.metrics.ter.TER._compute_segment_statistics", lambda *_: [0, 1])
    long, short = " ".join("abcde" * 40), "a b c"
    with pytest.warns(LongTextWarning, match="more than 150 words.*use chrf"):
        metric("ter").rows([short, long], [[short], [short, long]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metric("ter").rows([short, long, short], [[short], [short], [long]])
