"""Words of the Penn Treebank, against published output and NLTK."""

import json
import re

import pytest

from conftest import PROJECT, example
from nlgauge.text.ptb import ptb_words

PAIRS = json.loads((PROJECT / "tests/golden/surface.json").read_text("utf-8"))["pairs"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (  # the example of Stanford's PTBTokenizer, with the quotation marks of the treebank
            '"Oh, no," she\'s saying, "our $400 blender can\'t handle something this hard!"',
            "`` Oh , no , '' she 's saying , `` our $ 400 blender ca n't handle something this "
            "hard ! ''",
        ),
        (  # of the Penn Treebank's description of its tokens
            "They'll won't I'm children's parents' gonna wanna cannot",
            "They 'll wo n't I 'm children 's parents ' gon na wan na can not",
        ),
        (
            "He left at 5 p.m. on Dec. 3. Mr. Smith stayed.",
            "He left at 5 p.m. on Dec. 3 . Mr. Smith stayed .",
        ),
        ("in the U.S.", "in the U.S ."),  # the last full stop of a text ends it, as in NLTK
        ("1,000.5 or 3:30, a:b", "1,000.5 or 3:30 , a : b"),
        ("“It’s” (so) -- he said…", "`` It 's '' ( so ) -- he said ..."),
        ("'Tis D'ye more'n", "'T is D 'ye more 'n"),
        ("wait... no", "wait ... no"),
        ("", ""),
        (" \n", ""),
        (".", "."),
    ],
)
def test_known_texts(text: str, expected: str) -> None:
    assert ptb_words(text) == expected.split()


def test_case_and_punctuation() -> None:
    text = 'Mr. Smith said: "It\'s 5% - (no) [more]."'
    found = ptb_words(text, lowercase=True, marks=False)
    assert " ".join(found) == "mr. smith said it 's 5 % no more"


def test_nltk_finds_the_same_words_of_sentences() -> None:
    nltk = pytest.importorskip("nltk", reason="nltk is not installed")
    texts = [text for pair in PAIRS.values() for text in pair]
    for name in ("fluent", "literal", "hasty", "reference.a", "reference.b"):
        texts += example(name)
    # NLTK splits off the last full stop of a text only, and leaves curly quotation marks alone
    inner = re.compile(r"[^\s.]\.[^\w\s.]*\s+\S|[“”„’‘…]")
    alike = [text for text in texts if not inner.search(text)]
    assert len(alike) > 0.9 * len(texts)
    split = nltk.TreebankWordTokenizer().tokenize
    assert [ptb_words(text) for text in alike] == [split(text) for text in alike]


def test_long_texts_of_punctuation() -> None:
    for text in ("a." * 20_000, '"' * 20_000, "'" * 20_000, ". " * 20_000, "n't" * 20_000):
        assert "".join(ptb_words(text))
