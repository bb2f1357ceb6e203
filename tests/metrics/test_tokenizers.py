"""Tokenizers of lexical metrics: the Penn Treebank's, and functions of the user."""

from __future__ import annotations

import pickle

import pytest

from nlgauge import metric, score
from nlgauge.core.errors import DataError, OptionError
from nlgauge.text.ptb import ptb_words

METRICS = ("bleu", "cider", "meteor:synonyms=none", "nist", "rouge:variant=2")
CANDIDATES = ["It's a cat, on-the mat.", "He said: no."]
REFERENCES = ["It is a cat on-the mat.", "He said nothing, no."]


def split_dashes(text: str) -> list[str]:
    return text.replace("-", " ").split()


class Words:
    def tokenize(self, text: str) -> tuple[str, ...]:
        return tuple(text.split())


def _value(spec: str, candidates: list[str], references: list[str], **options: object) -> float:
    (scores,) = score(candidates, references, metrics=metric(spec, **options)).values()
    return scores.value


@pytest.mark.parametrize("spec", METRICS)
def test_a_function_splits_texts(spec: str) -> None:
    (scores,) = score(CANDIDATES, REFERENCES, metrics=metric(spec, tokenize=split_dashes)).values()
    sides = CANDIDATES, REFERENCES
    prepared = [[" ".join(split_dashes(text)) for text in side] for side in sides]
    assert scores.value == _value(spec, *prepared, tokenize=str.split)
    assert scores.value != _value(spec, CANDIDATES, REFERENCES, tokenize=Words())
    assert "custom:split_dashes" in str(scores.signature)
    with pytest.raises(OptionError, match=r"pass the function itself, .* tokenize=split_dashes"):
        metric(str(scores.signature))
    assert pickle.loads(pickle.dumps(scores.metric)).tokenize == scores.metric.tokenize


def test_bleu_reads_words_as_sacrebleu_without_a_tokenizer() -> None:
    plain = _value("bleu:tokenize=none", CANDIDATES, REFERENCES)
    assert _value("bleu", CANDIDATES, REFERENCES, tokenize=str.split) == plain
    (scores,) = score(CANDIDATES, REFERENCES, metrics=metric("bleu", tokenize=Words())).values()
    assert scores.signature["tok"] == "custom:Words"  # an object has the name of its class


def test_functions_that_do_not_return_words_are_errors() -> None:
    for wrong in (str.upper, lambda _: [1, 2]):
        with pytest.raises(DataError, match="must return a list of words, but returned"):
            _value("nist", CANDIDATES, REFERENCES, tokenize=wrong)
    for value in ("custom:mine", "nothing", 5):
        with pytest.raises(OptionError, match="option tokenize"):
            metric("nist", tokenize=value)
    with pytest.raises(OptionError, match="option variant"):
        metric("rouge", variant=str.split)


@pytest.mark.parametrize("spec", ["cider", "meteor:synonyms=none", "nist", "rouge:variant=2"])
def test_words_of_the_treebank(spec: str) -> None:
    marks = spec.startswith(("meteor", "nist"))

    def split(text: str) -> list[str]:
        return ptb_words(text, lowercase=True, marks=marks)

    joint = "," if ":" in spec else ":"
    found = _value(f"{spec}{joint}tokenize=ptb", CANDIDATES, REFERENCES)
    assert found == _value(spec, CANDIDATES, REFERENCES, tokenize=split)
    assert found != _value(spec, CANDIDATES, REFERENCES)


def test_contradicting_options_are_errors() -> None:
    for spec in ("meteor:compat=nltk,tokenize=ptb", "rouge:compat=rouge_score,tokenize=ptb"):
        with pytest.raises(OptionError, match="leave one of them out"):
            metric(spec)
