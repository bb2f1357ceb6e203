"""The Porter stemmer against the paper and NLTK."""

import pytest

from nlgauge.text.stem import stem
from nlgauge.text.wordnet import find_wordnet


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("ties", "tie"),
        ("agreed", "agre"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("relational", "relat"),
        ("radically", "radic"),
        ("analogy", "analog"),
        ("adoption", "adopt"),
        ("controlling", "control"),
        ("dying", "die"),
        ("skies", "sky"),
        ("is", "is"),
        ("yyyy", "yyyi"),
        ("日本", "日本"),
        ("", ""),
    ],
)
def test_stems_of_the_paper_and_of_its_later_corrections(word, expected):
    assert stem(word) == expected


def test_equal_to_nltk_on_words_of_wordnet():
    porter = pytest.importorskip("nltk.stem.porter").PorterStemmer()
    wordnet = find_wordnet()
    if wordnet is None:
        pytest.skip("no WordNet to take words from")
    lemmas = (wordnet.folder / "index.noun").read_text("utf-8").splitlines()[30::20]
    lemmas += (wordnet.folder / "index.verb").read_text("utf-8").splitlines()[30::2]
    found = sorted({word for line in lemmas for word in line.split()[0].split("_")})
    forms = [word + ending for word in found for ending in ("", "s", "ed", "ingly")]
    assert len(forms) > 10_000
    assert [w for w in forms if stem(w) != porter.stem(w)] == []
