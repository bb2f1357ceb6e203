"""A deterministic encoder without a model, for tests, documentation and dry runs.

The vector of a word is drawn from a generator seeded by the word's hash; layer k adds the vectors
of its neighbours with a weight proportional to k, so that word order matters more in deeper layers.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Cloud, Tokens, normal_vector, string_hash
from nlgauge.core.histogram import Histogram
from nlgauge.core.requirements import Unknown
from nlgauge.encode.registry import model_card

DEPTH = 4
DIMENSION = 64
_NEIGHBOUR_SHARE = 0.1
_WORD = re.compile(r"\w+|[^\w\s]")


class _HashingModel:
    def __init__(self) -> None:
        self.card = model_card("hashing", digest="none", depth=DEPTH, dimension=DIMENSION)

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Return lower-cased words and punctuation marks between ``<s>`` and ``</s>``."""
        return [_tokens(text) for text in texts]


class HashingEncoder(_HashingModel):
    """Clouds of word vectors that are derived from hashes of the words."""

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        """Return the vectors of every text's words, mixed with those of their neighbours."""
        clouds = []
        for tokens in self.tokenize(texts):
            base = np.stack([_word_vector(word) for word in tokens.strings])
            padded = np.pad(base, ((1, 1), (0, 0)))
            neighbours = padded[:-2] + padded[2:]
            points = np.stack([base + _NEIGHBOUR_SHARE * layer * neighbours for layer in layers])
            clouds.append(Cloud(points, np.full(len(tokens), 1 / len(tokens)), tokens))
        return clouds


class HashingMaskedLm(_HashingModel):
    """Histograms from the hashes of each word's neighbours."""

    def histograms(
        self,
        texts: Sequence[str],
        weigh: Callable[[Tokens], Floats],
        *,
        temperatures: Sequence[float] = (1.0,),
        whole_words: bool = False,
        unknown: Unknown = "string",
    ) -> dict[float, list[Histogram]]:
        """Return weighted means of softmax((left neighbour + right neighbour) / temperature)."""
        tokens = self.tokenize(texts)
        return {t: [_histogram(each, weigh(each), t) for each in tokens] for t in temperatures}


def _histogram(tokens: Tokens, masses: Floats, temperature: float) -> Histogram:
    content = tokens.ids[~tokens.special]
    masked = np.flatnonzero(masses > 0)
    if not masked.size:
        return Histogram(np.zeros(0), content)
    base = np.stack([_word_vector(word) for word in tokens.strings]).astype(np.float64)
    logits = (base[masked - 1] + base[masked + 1]) / temperature
    logits -= logits.max(axis=1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    expected = logits + np.log(masses[masked] / masses.sum())[:, None]
    return Histogram(np.logaddexp.reduce(expected, axis=0), content)


def _tokens(text: str) -> Tokens:
    matches = list(_WORD.finditer(text.lower()))
    words = [match.group() for match in matches]
    strings = ("<s>", *words, "</s>")
    numbers = np.array([-1, *range(len(words)), -1], dtype=np.int64)
    ids = np.array([string_hash(word) for word in strings], dtype=np.int64)
    # Lower-casing may turn one character into two, which shifts the offsets of later words.
    origin = np.repeat(range(len(text)), [len(letter.lower()) for letter in text])
    inner = [(origin[match.start()], origin[match.end() - 1] + 1) for match in matches]
    offsets = np.array([(0, 0), *inner, (0, 0)], dtype=np.int64)
    return Tokens(strings, ids, numbers < 0, numbers, offsets)


@lru_cache(maxsize=65_536)
def _word_vector(word: str) -> Floats:
    return normal_vector(string_hash(word), DIMENSION)
