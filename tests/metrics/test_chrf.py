"""chrF against stored numbers and sacrebleu."""

import itertools
from functools import partial

import numpy as np
import pytest
from sacrebleu.metrics import CHRF

from conftest import golden
from metrics.conftest import score_with
from nlgauge import metric
from nlgauge.core.errors import OptionError

GOLDEN = golden("surface")
CANDIDATES, REFERENCES = (list(side) for side in zip(*GOLDEN["pairs"].values(), strict=True))
FULL = [i for i, pair in enumerate(GOLDEN["pairs"].values()) if all(pair)]


_chrf = partial(score_with, "chrf")


@pytest.mark.parametrize(("name", "order"), [("chrf", 0), ("chrf++", 2)])
def test_golden_segments_and_corpus(name, order):
    segments = _chrf(CANDIDATES, REFERENCES, word_order=order).segments
    np.testing.assert_allclose(segments, list(GOLDEN["sentence"][name].values()), atol=1e-6)
    kept = [CANDIDATES[i] for i in FULL], [REFERENCES[i] for i in FULL]
    value = _chrf(*kept, word_order=order).value
    assert value == pytest.approx(GOLDEN["corpus"][name], abs=1e-6)


@pytest.mark.parametrize("order", [0, 2])
@pytest.mark.parametrize("beta", [2, 3])
def test_details_are_the_precision_and_recall_whose_f_score_is_the_value(order, beta):
    expected = CHRF(word_order=order, beta=beta).corpus_score(CANDIDATES, [REFERENCES]).score
    precision, recall = _chrf(CANDIDATES, REFERENCES, word_order=order, beta=beta).details.values()
    assert precision != pytest.approx(recall, abs=0.1)
    f = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
    assert f == pytest.approx(expected, abs=1e-9)


def test_details_by_hand():
    found = _chrf(["ab"], ["abab"], char_order=2).details
    assert found == {"precision": 100, "recall": pytest.approx(100 * (2 / 4 + 1 / 3) / 2)}
    assert _chrf(["a"], [""]).details == {"precision": 0, "recall": 0}


@pytest.mark.parametrize(
    ("chars", "order", "lowercase", "whitespace", "eps"),
    list(itertools.product([6, 3], [0, 2], *[[False, True]] * 3)),
)
def test_value_and_signature_are_sacrebleus(chars, order, lowercase, whitespace, eps):
    options = {
        "char_order": chars,
        "word_order": order,
        "lowercase": lowercase,
        "whitespace": whitespace,
        "eps_smoothing": eps,
    }
    tool = CHRF(**options)
    expected = tool.corpus_score(CANDIDATES, [REFERENCES])
    ours = _chrf(CANDIDATES, REFERENCES, **options)
    assert ours.value == pytest.approx(expected.score, abs=1e-9)
    assert str(ours.signature) == f"chrf|{tool.get_signature().format()}"
    assert metric(str(ours.signature)) == ours.metric


def test_beta_counts_and_is_rebuilt():
    candidates, references = ["a short text"], ["a rather longer text than that"]
    ours = _chrf(candidates, references, beta=3.0)
    assert ours.value == pytest.approx(CHRF(beta=3).corpus_score(candidates, [references]).score)
    assert ours.value < _chrf(candidates, references).value
    assert metric(str(ours.signature)) == ours.metric


def test_ragged_references_take_the_best():
    candidates = ["the cat sat", "a dog"]
    both = _chrf(candidates, [["a hat", "the cat sits"], ["the dog"]])
    assert both.segments[0] == pytest.approx(_chrf(candidates[:1], ["the cat sits"]).segments[0])
    assert "nrefs:var" in str(both.signature)


def test_bad_options():
    with pytest.raises(OptionError, match="word_order=0: raise one of them"):
        metric("chrf", char_order=0)
    with pytest.raises(OptionError, match="within"):
        metric("chrf", beta=-1.0)


def test_scripts_and_sizes():
    texts = ["x y " * 5000, "👍👎 ok", "مرحبا بالعالم", "ภาษาไทย", "你", "नमस्ते"]
    assert _chrf(texts, texts).segments == pytest.approx([100] * 6)
    empty = _chrf(["", "a", ""], ["a", "", ""])
    assert empty.segments.tolist() == [0, 0, 0]
    assert sum(empty.notes.values()) == 3
