"""BLEU against stored numbers, sacrebleu and NLTK."""

import itertools
import json
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from conftest import example, golden
from metrics.conftest import score_with
from nlgauge import metric, score
from nlgauge.core.errors import NlgaugeError, OptionError, ShapeError

GOLDEN = golden("surface")
CANDIDATES, REFERENCES = (list(side) for side in zip(*GOLDEN["pairs"].values(), strict=True))
FULL = [i for i, pair in enumerate(GOLDEN["pairs"].values()) if all(pair)]


_bleu = partial(score_with, "bleu")


def test_golden_segments_and_corpus():
    segments = _bleu(CANDIDATES, REFERENCES).segments
    np.testing.assert_allclose(segments, list(GOLDEN["sentence"]["bleu"].values()), atol=1e-6)
    whole = _bleu([CANDIDATES[i] for i in FULL], [REFERENCES[i] for i in FULL])
    assert whole.value == pytest.approx(GOLDEN["corpus"]["bleu"], abs=1e-6)


GRID = [
    {"tokenize": tok, "lowercase": low, "smooth_method": method, "smooth_value": value, **more}
    for (tok, low), (method, value), more in itertools.product(
        [("13a", False), ("intl", True), ("char", False), ("zh", True), ("none", False)],
        [("exp", None), ("floor", None), ("floor", 0.05), ("add-k", 2.0), ("none", None)],
        [{}, {"effective_order": "yes"}, {"max_ngram_order": 2, "effective_order": "no"}],
    )
]


@pytest.mark.parametrize("options", GRID, ids=str)
def test_value_and_signature_are_sacrebleus(options):
    tool = BLEU(**{**options, "effective_order": options.get("effective_order") == "yes"})
    expected = tool.corpus_score(CANDIDATES, [REFERENCES])
    ours = _bleu(CANDIDATES, REFERENCES, **options)
    assert ours.value == pytest.approx(expected.score, abs=1e-9)
    *precisions, penalty, candidate_length, reference_length = ours.details.values()
    assert precisions == pytest.approx(expected.precisions, abs=1e-9)
    assert penalty == pytest.approx(expected.bp, abs=1e-12)
    assert (candidate_length, reference_length) == (expected.sys_len, expected.ref_len)
    text = str(ours.signature)
    for key in ("|order:2", "|segeff:no"):  # what sacrebleu's signature leaves out
        text = text.replace(key, "")
    assert text == f"bleu|{tool.get_signature().format()}"
    assert metric(str(ours.signature)) == ours.metric


def test_the_signature_has_the_format_of_sacrebleu():
    assert str(_bleu(["a b c d"], ["a b c d"]).signature).startswith(
        "bleu|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2."
    )


def test_details_are_of_the_corpus_not_means_of_segments():
    ours = _bleu(["a b c d e", "x"], ["a b c d e", "x y z y"])
    assert list(ours.details) == [
        *("precision_1", "precision_2", "precision_3", "precision_4"),
        *("brevity_penalty", "candidate_length", "reference_length"),
    ]
    assert ours.details["precision_1"] == 100
    assert ours.details["brevity_penalty"] == pytest.approx(np.exp(1 - 9 / 6))
    assert (ours.details["candidate_length"], ours.details["reference_length"]) == (6, 9)
    assert ours.to_dict()["details"] == ours.details
    assert "details" not in ours.to_dict()["segments"][0]


def test_ragged_references_as_in_sacrebleu():
    candidates = ["the cat sat on a mat today", "a dog ran home"]
    references = [["the cat sat on the mat", "a cat sat on a mat"], ["the dog ran home fast"]]
    tool = BLEU()
    streams = [["the cat sat on the mat", "the dog ran home fast"], ["a cat sat on a mat", None]]
    ours = _bleu(candidates, references)
    assert ours.value == pytest.approx(tool.corpus_score(candidates, streams).score)
    assert str(ours.signature) == f"bleu|{tool.get_signature().format()}"
    assert "nrefs:var" in str(ours.signature)


def test_more_candidates_than_references_are_refused():
    with pytest.raises(ShapeError, match="2 candidates but 1 lists"):
        metric("bleu").rows(["a", "b"], [["a"]])


def test_effective_order_rules():
    pair = ["two words"], ["two words"]
    assert _bleu(*pair).segments[0] == pytest.approx(100)
    assert _bleu(*pair).value == pytest.approx(0)
    assert _bleu(*pair, effective_order="no").segments[0] == pytest.approx(0)
    assert _bleu(*pair, effective_order="yes").value == pytest.approx(100)


def test_finishing_twice_does_not_change_the_rows():
    built = metric("bleu:smooth_method=add-k")
    rows = built.rows(CANDIDATES, [[text] for text in REFERENCES]).statistics
    before = rows.copy()
    first = built.finish_segments(rows)
    np.testing.assert_array_equal(rows, before)
    np.testing.assert_array_equal(first, built.finish_segments(rows))


@pytest.mark.parametrize("value", [0.125, 1e-3])
def test_a_value_of_many_decimals_survives_the_signature(value):
    built = metric("bleu", smooth_method="floor", smooth_value=value)
    assert type(built).rebuild(built.describe()) == built


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smooth_value": 0.1}, "smooth_method='exp' takes no value"),
        ({"tokenize": "13b"}, "did you mean '13a'"),
        ({"smooth_method": "floor", "smooth_value": 2}, "a floor is at most 1"),
        ({"max_ngram_order": 0}, "within"),
        ({"effective_order": "maybe"}, "auto | yes | no"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(OptionError, match=message.replace("|", r"\|")):
        metric("bleu", **options)


def test_a_tokenizer_that_is_not_installed_names_the_way_out():
    if find_spec("MeCab") or find_spec("mecab_ko"):
        pytest.skip("the Korean tokenizer is installed")
    with pytest.raises(NlgaugeError, match=r"pip install 'sacrebleu\[ja,ko\]'"):
        _bleu(["a"], ["a"], tokenize="ko-mecab")


def test_scripts_and_sizes():
    long = " ".join(f"w{i % 700}" for i in range(10_000))
    texts = [long, "👍 👍 👎 ok 🇩🇪", "שלום עולם טוב מאוד", "word"]
    assert _bleu(texts, texts).segments == pytest.approx([100] * 4)
    chinese = _bleu(["今天天气很好"], ["今天天气不好"], tokenize="zh").segments[0]
    assert 0 < chinese < 100
    assert _bleu(["今天天气很好"], ["今天天气不好"]).segments[0] == 0


def test_correlation_with_people(shared_data):
    lines = (shared_data / "wmt15_da" / "de-en.jsonl").read_text("utf-8").splitlines()
    data = [json.loads(line) for line in lines]
    human = [row["human"]["da_z"] for row in data]
    texts = [row["candidate"] for row in data], [row["references"] for row in data]
    for rule, expected in (("auto", 0.529), ("no", 0.537)):
        segments = _bleu(*texts, effective_order=rule).segments
        assert np.corrcoef(segments, human)[0, 1] == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(("method", "smoothing"), [("floor", 1), ("add-k", 2), ("exp", 3)])
def test_weights_give_the_numbers_of_nltk(method: str, smoothing: int) -> None:
    nltk = pytest.importorskip("nltk.translate.bleu_score", reason="nltk is not installed")
    candidates, references = example("literal"), example("reference.a")
    weights = (0.4, 0.3, 0.2, 0.1)
    smooth = getattr(nltk.SmoothingFunction(), f"method{smoothing}")
    options = f"tokenize=none,smooth_method={method},effective_order=no,weights=0.4+0.3+0.2+0.1"
    (scores,) = score(candidates, references, metrics=f"bleu:{options}").values()
    pairs = [(c.split(), [r.split()]) for c, r in zip(candidates, references, strict=True)]
    expected = [nltk.sentence_bleu(r, c, weights, smoothing_function=smooth) for c, r in pairs]
    np.testing.assert_allclose(scores.segments, 100 * np.array(expected), atol=1e-9)
    left, right = zip(*pairs, strict=True)
    corpus = nltk.corpus_bleu(right, left, weights, smoothing_function=smooth)
    assert scores.value == pytest.approx(100 * corpus)


def test_equal_weights_are_the_default_also_with_effective_order() -> None:
    candidates, references = ["a b", "a c d e f", ""], ["a b", "a c d x f", "a"]
    equal = score(candidates, references, metrics=["bleu", "bleu:weights=0.25+0.25+0.25+0.25"])
    plain, weighted = equal.values()
    np.testing.assert_allclose(weighted.segments, plain.segments, atol=1e-12)
    assert weighted.value == pytest.approx(plain.value)
    spec = "bleu:weights=0+1,max_ngram_order=2,smooth_method=none"
    (bigrams,) = score(["a b c"], ["x b c"], metrics=spec).values()
    assert bigrams.value == pytest.approx(50)
    assert metric(str(bigrams.signature)) == bigrams.metric


@pytest.mark.parametrize("weights", ["0.5+0.5", "1", "a+b+c+d", "0.5+0.5+0.5+-0.5", "1+1+1+1", ""])
def test_other_weights_are_errors(weights: str) -> None:
    with pytest.raises(OptionError, match="write 4 numbers of at least 0 with sum 1"):
        metric("bleu", weights=weights)
