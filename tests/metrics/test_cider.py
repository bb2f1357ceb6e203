"""CIDEr and CIDEr-D against the equations of the paper."""

import math
import random
from collections import Counter
from functools import partial

import numpy as np
import pytest

from metrics.conftest import score_with
from nlgauge import Scorer, metric
from nlgauge.core.errors import OptionError, UsageError
from nlgauge.metrics.cider import ONE_SEGMENT_NOTE

REFERENCES = [
    ["a man rides a brown horse", "a person is riding a horse on the beach"],
    ["two dogs play in the park", "dogs are playing with a ball in the park", "two happy dogs"],
    ["a plate of food on a table"],
    ["the plate of food is on the table with a fork and a knife", "food"],
]
CANDIDATES = ["a man riding a horse", "two dogs in a park park", "a plate of food", "the table"]


_cider = partial(score_with, "cider")


def _grams(text, n):
    found = text.split()
    return Counter(tuple(found[i : i + n]) for i in range(len(found) - n + 1))


def _brute_force(candidate, group, corpus, *, clipped):
    """Equations 1 to 4 of the paper, one n-gram and one reference at a time."""
    total = 0.0
    for n in range(1, 5):
        for reference in group:
            both = sorted(set(_grams(candidate, n)) | set(_grams(reference, n)))
            idf = [
                math.log(len(corpus) / max(1, sum(any(_grams(t, n)[w] for t in g) for g in corpus)))
                for w in both
            ]
            x, y = (
                np.array([_grams(text, n)[w] for w in both]) * idf
                for text in (candidate, reference)
            )
            norm = np.linalg.norm(x) * np.linalg.norm(y)
            if norm == 0:
                continue
            if clipped:
                gap = len(candidate.split()) - len(reference.split())
                total += np.minimum(x, y) @ y / norm * math.exp(-(gap**2) / 72) / len(group)
            else:
                total += x @ y / norm / len(group)
    return 10 * total / 4


@pytest.mark.parametrize("variant", ["d", "plain"])
def test_equal_to_the_definition(variant):
    ours = _cider(CANDIDATES, REFERENCES, variant=variant).segments
    expected = [
        _brute_force(text, group, REFERENCES, clipped=variant == "d")
        for text, group in zip(CANDIDATES, REFERENCES, strict=True)
    ]
    assert min(expected) > 0
    np.testing.assert_allclose(ours, expected, atol=1e-9)


def test_identical_texts_get_ten_and_repeated_words_get_less():
    texts = [group[0] for group in REFERENCES]
    assert _cider(texts, texts).segments == pytest.approx([10] * 4)
    repeated = [f"{text} horse horse horse" for text in texts]
    references = [[text] for text in texts]
    clipped, plain = (
        _cider(repeated, references, variant=variant).segments for variant in ("d", "plain")
    )
    assert (clipped < plain).all()


def test_a_row_scores_the_same_in_any_corpus_with_a_fixed_table():
    scorer = Scorer("cider").fitted(REFERENCES)
    together = scorer.score(CANDIDATES, REFERENCES)["cider"]
    alone = scorer.score(CANDIDATES[1:2], REFERENCES[1:2])["cider"]
    assert alone.segments[0] == together.segments[1] > 0
    other = Scorer("cider").fitted(REFERENCES[:3]).score(CANDIDATES[1:2], REFERENCES[1:2])["cider"]
    assert other.segments[0] != alone.segments[0]
    assert other.signature["table_sha"] != alone.signature["table_sha"]


def test_one_segment_has_no_weights_and_a_note():
    scores = _cider(["a b c d"], ["a b c d"])
    assert scores.value == 0
    assert scores.notes[ONE_SEGMENT_NOTE] == 1


def test_unfitted_is_refused():
    with pytest.raises(UsageError, match="cider weights n-grams"):
        metric("cider").rows(["a"], [["a"]])


@pytest.mark.parametrize(
    "options", [{"stem": True}, {"sigma": 2.0}, {"order": 2}, {"over_references": "best"}]
)
def test_options_change_results_and_survive_the_signature(options):
    changed = _cider(CANDIDATES, REFERENCES, **options)
    assert changed.value != _cider(CANDIDATES, REFERENCES).value
    assert metric(str(changed.signature)) == changed.metric


def test_bad_options():
    with pytest.raises(OptionError, match="within"):
        metric("cider", sigma=0.0)
    with pytest.raises(OptionError, match=r"d \| plain"):
        metric("cider:variant=e")


def test_scripts_and_sizes():
    rng = random.Random(1)
    long = " ".join(f"w{rng.randrange(977)}" for _ in range(10_000))
    texts = [long, "👍 👎 🇩🇪 🇫🇷", "שלום עולם טוב מאוד", "今天天气很好", "สวัสดีครับ"]
    assert _cider(texts, texts).segments == pytest.approx([10] * 5)
    short = _cider(["one", "", "b"], ["one", "a", ""])
    assert short.segments == pytest.approx([2.5, 0, 0])
    assert sum(short.notes.values()) == 2
