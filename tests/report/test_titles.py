"""Titles of metrics as papers write them, different from each other in one table."""

import pytest

from nlgauge.metrics import metric, metric_class, metric_names, resolve_name
from nlgauge.report.titles import distinct_titles

AS_IN_PAPERS = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "chrf:word_order=2": "chrF++",
    "ter": "TER",
    "rouge": "ROUGE-L",
    "rouge:variant=2": "ROUGE-2",
    "rouge:variant=lsum": "ROUGE-Lsum",
    "meteor": "METEOR",
    "bertscore:layer=4": "BERTScore",
    "mover": "MoverScore",
    "bary": "BaryScore",
    "lazy_emd": "Lazy-EMD",
    "infolm": "InfoLM",
    "sms:nodes=both": "S+WMS",
}


@pytest.mark.parametrize(("spec", "title"), AS_IN_PAPERS.items())
def test_titles_are_those_of_papers(spec: str, title: str) -> None:
    assert metric(spec).title == title


@pytest.mark.parametrize("name", metric_names())
def test_a_title_names_its_metric_again(name: str) -> None:
    title = metric_class(name)().title
    assert title != name
    assert resolve_name(title)[0] == name


def test_equal_titles_are_distinguished_by_their_options() -> None:
    labels = ("bleu", "bertscore", "bertscore:layer=4", "chrf:beta=3,lowercase=yes", "chrf:beta=3")
    titles = {label: metric(label).title for label in labels}
    assert list(distinct_titles(titles).values()) == [
        *("BLEU", "BERTScore", "BERTScore (layer=4)", "chrF3 (lowercase=yes)", "chrF3"),
    ]


def test_a_title_that_is_taken_is_not_used() -> None:
    assert distinct_titles({"bleu": "BLEU", "ter": "TER"}, {"BLEU"}) == {
        "bleu": "bleu",
        "ter": "TER",
    }
    twice = {"bleu|tok:13a": "BLEU", "bleu|tok:zh": "BLEU"}
    assert list(distinct_titles(twice).values()) == ["BLEU", "bleu|tok:zh"]
