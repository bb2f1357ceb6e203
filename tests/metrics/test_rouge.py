"""ROUGE against rouge_score and by hand."""

import random
from functools import partial

import numpy as np
import pytest

from conftest import golden
from metrics.conftest import score_with
from nlgauge import metric, score
from nlgauge.core.errors import ModelError, OptionError

GOLDEN = golden("rouge")
CANDIDATES, REFERENCES = (list(side) for side in zip(*GOLDEN["pairs"].values(), strict=True))


_rouge = partial(score_with, "rouge")


@pytest.mark.parametrize("stem", [False, True])
@pytest.mark.parametrize("variant", ["1", "2", "3", "L", "Lsum"])
def test_compat_equals_rouge_score(variant, stem):
    ours = _rouge(CANDIDATES, REFERENCES, variant=variant.lower(), stem=stem, compat="rouge_score")
    table = np.stack(list(ours.segment_components.values()), axis=1)
    expected = GOLDEN["stem" if stem else "plain"].values()
    np.testing.assert_allclose(table, [row[f"rouge{variant}"] for row in expected], atol=1e-12)


def test_by_hand():
    pair = ["police kill the gunman"], ["police killed the gunman"]
    ours = {v: _rouge(*pair, variant=v).value for v in ("1", "2", "l")}
    assert ours == pytest.approx({"1": 0.75, "2": 1 / 3, "l": 0.75})
    assert _rouge(*pair, variant="1", stem=True).value == pytest.approx(1)
    precision = _rouge(["the cat"], ["the cat sat down"]).components
    assert precision == pytest.approx({"f": 2 / 3, "precision": 1, "recall": 0.5})


@pytest.mark.parametrize("variant", ["1", "l", "lsum"])
@pytest.mark.parametrize(
    "text",
    [
        "ภาษาไทยสวย",
        "今天天气很好",
        "नमस्ते दुनिया",
        "مرحبا بالعالم",
        "東京タワー",
        "안녕 세계",
        "שלום",
        "👍👎",
    ],
)
def test_identical_text_of_any_script_is_best(text, variant):
    assert _rouge([text], [text], variant=variant).value == 1
    assert _rouge([text], ["something else"], variant=variant).value == 0


def test_scripts_without_spaces_overlap_in_part():
    assert 0 < _rouge(["今天天气很好"], ["今天天气不好"], variant="1").value < 1
    assert _rouge(["今天天气很好"], ["今天天气很好"], compat="rouge_score").value == 0


def test_case_is_an_option():
    assert _rouge(["The Cat"], ["the cat"]).value == 1
    assert _rouge(["The Cat"], ["the cat"], lowercase=False).value == 0


def test_sentences_of_lsum_are_lines_in_any_order():
    candidate, reference = "a b c\nd e f", "d e f\na b c"
    assert _rouge([candidate], [reference], variant="lsum").value == 1
    assert _rouge([candidate], [reference], variant="l").value == pytest.approx(0.5)
    in_one_line = [candidate.replace("\n", " ")], [reference.replace("\n", " ")]
    assert _rouge(*in_one_line, variant="lsum").value == pytest.approx(0.5)


def test_references_best_with_its_components_or_mean():
    candidates, references = ["a b"], [["a b c d", "a b"]]
    assert _rouge(candidates, references).value == 1
    mean = _rouge(candidates, references, over_references="mean").components
    assert mean == pytest.approx({"f": 5 / 6, "precision": 1, "recall": 0.75})
    ragged = _rouge(["a b", "x"], [["a", "a b"], "x"])
    assert ragged.segments.tolist() == [1, 1]
    assert "nrefs:var" in str(ragged.signature)


def test_nothing_to_compare_is_worst_and_noted():
    scores = _rouge(["", "!!!", "a", "a"], ["a", "!!!", "...", "a"])
    assert scores.segments.tolist() == [0, 0, 0, 1]
    assert sum(scores.notes.values()) == 3
    one_word = _rouge(["a"], ["a"], variant="2")
    assert (one_word.value, sum(one_word.notes.values())) == (0, 1)


def test_round_trip_and_bad_options():
    built = metric("rouge:variant=lsum,stem=yes,lowercase=no,over_references=mean")
    assert type(built).rebuild(built.describe()) == built
    with pytest.raises(OptionError, match=r"choose 1 \| 2"):
        metric("rouge:variant=12")
    with pytest.raises(OptionError, match="always lowercases"):
        metric("rouge:compat=rouge_score,lowercase=no")


@pytest.mark.parametrize("variant", ["2", "l", "lsum"])
def test_ten_thousand_words(variant):
    rng = random.Random(4)
    left, right = (" ".join(f"w{rng.randrange(900)}" for _ in range(10_000)) for _ in range(2))
    scores = _rouge([left, left], [left, right], variant=variant).segments
    assert scores[0] == 1
    assert 0 < scores[1] < 0.5


def test_summaries_are_split_into_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    nltk = pytest.importorskip("nltk", reason="nltk is not installed")
    # Punkt without the data of a language, which are downloaded
    monkeypatch.setattr(nltk, "sent_tokenize", nltk.tokenize.PunktSentenceTokenizer().tokenize)
    candidate, reference = "The cat sat. It rained.", "It rained all day. The cat sat down."
    lines = [text.replace(". ", ".\n") for text in (candidate, reference)]
    spec = "rouge:variant=lsum"
    (split,) = score([candidate], [reference], metrics=f"{spec},split_summaries=yes").values()
    (separate,) = score(lines[:1], lines[1:], metrics=spec).values()
    (whole,) = score([candidate], [reference], metrics=spec).values()
    assert split.value == separate.value != whole.value
    assert "nltk" in dict(split.signature.keys)
    with pytest.raises(OptionError, match="sentences matter for variant=lsum only"):
        score(["a"], ["a"], metrics="rouge:split_summaries=yes")


def test_missing_data_of_punkt_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    nltk = pytest.importorskip("nltk", reason="nltk is not installed")

    def fail(_: str) -> list[str]:
        raise LookupError

    monkeypatch.setattr(nltk, "sent_tokenize", fail)
    with pytest.raises(ModelError, match=r"python -m nltk\.downloader punkt_tab"):
        score(["a"], ["a"], metrics="rouge:variant=lsum,split_summaries=yes")
