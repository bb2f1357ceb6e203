"""Metrics are found under the names that people and other libraries write."""

from __future__ import annotations

import pytest

from nlgauge import metric, score
from nlgauge.core.errors import UnknownMetric


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("BLEU", "bleu"),
        ("sacrebleu", "bleu"),
        ("chrF", "chrf"),
        ("chrF++", "chrf:word_order=2"),
        ("chrf2++", "chrf:word_order=2"),
        ("chrF3", "chrf:beta=3"),
        ("TER", "ter"),
        ("characTER", "character"),
        ("rougeL", "rouge"),
        ("ROUGE-L", "rouge"),
        ("rouge1", "rouge:variant=1"),
        ("ROUGE-2", "rouge:variant=2"),
        ("rougeLsum", "rouge:variant=lsum"),
        ("bert_score", "bertscore"),
        ("BERTScore", "bertscore"),
        ("moverscore", "mover"),
        ("MoverScore", "mover"),
        ("baryscore", "bary"),
        ("DepthScore", "depth"),
        ("YiSi-1", "yisi"),
        ("Lazy-EMD", "lazy_emd"),
        ("lazyemd", "lazy_emd"),
        ("InfoLM", "infolm"),
        ("CIDEr-D", "cider"),
        ("METEOR", "meteor"),
        ("ROUGE-WE-2", "rouge_we:order=2"),
    ],
)
def test_common_spellings_of_names_are_found(written: str, label: str) -> None:
    assert metric(written).label() == label


def test_options_follow_the_name_and_replace_its_own() -> None:
    assert metric("ROUGE-2:stem=yes").label() == "rouge:variant=2,stem=yes"
    assert metric("chrF++:word_order=1").label() == "chrf:word_order=1"
    assert metric("moverscore:ngram=2").label() == "mover:ngram=2"
    assert metric("bertscore:layers=3+4").label() == "bertscore:layer=3+4"
    assert metric("gauge:layer=4").label() == "gauge:layers=4"
    assert metric("rouge", variant=2).label() == "rouge:variant=2"


def test_the_label_of_scores_is_what_was_written() -> None:
    assert list(score(["a b"], ["a b"], metrics=["chrF++", "rougeL"]))


@pytest.mark.parametrize("written", ["comet", "COMET-22", "BLEURT-20", "CometKiwi", "xCOMET"])
def test_trained_metrics_of_other_packages_lead_to_external(written: str) -> None:
    with pytest.raises(UnknownMetric, match="run its program with external"):
        metric(written)


@pytest.mark.parametrize("written", ["blue", "rouge10", "score", "", "chrf+++"])
def test_other_names_are_refused_with_a_suggestion(written: str) -> None:
    with pytest.raises(UnknownMetric, match="there is no metric"):
        metric(written)
