"""SMS: sentence mover's similarity, optimal transport between sentences, words or both.

    SMS = exp(-min_F sum_ij F_ij ||x_i - y_j||),  F 1 = a,  F^T 1 = b

The vector x_i of a sentence is the mean of its words' vectors, its mass a_i its share of the words
(or of their idf). ``nodes=words`` gives WMS, with words as points; ``nodes=both`` gives S+WMS, with
half of the mass on words and half on sentences. The first component is the distance: lower is
better, range [0, 2]. The second is SMS. The paper uses GloVe vectors as they are; here points are
scaled to unit length after averaging, so that there is a largest distance for void texts.

A sentence ends after a run of punctuation that contains a mark of ``ENDS``, so closing quotes stay
with their sentence; a full stop between digits is a decimal point. Marks are read from the
encoder's tokens: byte-level models (GPT-2, RoBERTa) have only the ASCII marks. Special tokens are
dropped.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nlgauge.core.cloud import Cloud
from nlgauge.core.metric import Aliases, distance
from nlgauge.core.options import option
from nlgauge.measure.cost import unit
from nlgauge.metrics._cloud_metric import Points, one_layer
from nlgauge.metrics._transport import TransportMetric

ENDS = frozenset(".!?…‼⁇⁈⁉。．！？｡।॥؟۔።፧။᠃។՞׃")
_WORD_STARTS = "▁Ġ"  # both count as letters


@dataclass(frozen=True)
class Sms(TransportMetric):
    """The minimum cost of moving one text's sentences, words or both to the other's."""

    paper = "Clark et al. 2019, Sentence Mover's Similarity (ACL)"
    aliases: ClassVar[Aliases] = {"wms": {"nodes": "words"}, "s+wms": {"nodes": "both"}}
    scale = distance(2.0)
    joins_layers = False

    layer: int | str = one_layer()
    nodes: str = option(
        "sentences",
        "Points: sentences (SMS), words (WMS) or both (S+WMS).",
        choices=("sentences", "words", "both"),
    )
    special: str = option(
        "drop",
        "The weighting drops special tokens, which belong to no sentence.",
        choices=("drop",),
    )

    @property
    def title(self) -> str:
        """SMS, WMS or S+WMS."""
        return {"sentences": "SMS", "words": "WMS", "both": "S+WMS"}[self.nodes]

    def points(self, cloud: Cloud) -> Points:
        """Return the words, the sentences, or both with half of the mass each."""
        if self.nodes == "sentences":
            return _sentences(cloud)
        words = super().points(cloud)
        if self.nodes == "words":
            return words
        sentences = _sentences(cloud)
        vectors = np.concatenate([words.vectors, sentences.vectors])
        masses = np.concatenate([words.masses, sentences.masses]) / 2
        return Points(vectors, masses, words.tokens + sentences.tokens)

    def row_of_cost(self, cost: float) -> tuple[float, ...]:
        """Return the cost and exp(-cost)."""
        return cost, math.exp(-cost)


def sentence_numbers(tokens: Sequence[str]) -> list[int]:
    """Return the sentence number of each token."""
    bare = [token.strip(_WORD_STARTS).removesuffix("</w>") for token in tokens]
    numbers: list[int] = []
    number, worded, ended = 0, False, False
    for at, token in enumerate(bare):
        if any(letter.isalnum() for letter in token):
            number += ended
            worded, ended = True, False
        elif worded and ENDS.intersection(token):
            around = bare[at - 1][-1:] + "".join(bare[at + 1 : at + 2])[:1]
            ended |= not (token == "." and len(around) == 2 and around.isdigit())
        numbers.append(number)
    return numbers


def _sentences(cloud: Cloud) -> Points:
    """Return the unit means of the sentences with mass."""
    numbers = np.array(sentence_numbers(cloud.tokens.strings))
    shares = (numbers == np.arange(numbers.max() + 1)[:, None]) * np.asarray(cloud.weights, float)
    masses = shares.sum(axis=1)
    heavy = masses > 0
    strings = np.array(cloud.tokens.strings, dtype=object)
    sentences = tuple(" ".join(strings[numbers == number]) for number in np.flatnonzero(heavy))
    return Points(unit(shares[heavy] @ cloud.layer), masses[heavy], sentences)
