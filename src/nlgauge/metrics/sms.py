"""SMS: sentence mover's similarity, which moves sentences, words or both onto the other text's.

    SMS = exp(-min_F sum_ij F_ij ||x_i - y_j||),  F 1 = a,  F^T 1 = b

A sentence's vector x_i is the mean of its words' vectors, its mass a_i its share of the words (of
their idf, if asked for). ``nodes=words`` gives WMS, whose points are the words; ``nodes=both``
S+WMS, with half of the mass on either. The headline is the distance, lower is better, range [0, 2];
SMS itself stands beside it. The paper takes GloVe as it is; here points are scaled to unit length
(means are taken before), because only then is there a largest distance, which a text with nothing
to compare gets.

A new sentence starts with the first word after a run of punctuation that has a mark of ``ENDS`` in
it, so closing quotes stay with their sentence; a full stop between digits is a decimal point. Marks
are seen as the encoder's tokens show them: one without a static vector ends no sentence, and
byte-level models (GPT-2, RoBERTa) spell all but the ASCII marks in bytes. Special tokens belong to
no sentence and are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nlgauge.core.cloud import Cloud
from nlgauge.core.options import option
from nlgauge.core.plan import Plan
from nlgauge.measure.cost import unit
from nlgauge.metrics._points import Points
from nlgauge.metrics._transport import TransportMetric

ENDS = frozenset(".!?…‼⁇⁈⁉。．！？｡।॥؟۔።፧။᠃។՞׃")
_PIECES = "▁Ġ"  # how tokens write that a word begins; both count as letters


@dataclass(frozen=True)
class Sms(TransportMetric):
    """The least cost of moving one text's sentences, words or both onto the other's."""

    paper: ClassVar[str] = "Clark et al. 2019, Sentence Mover's Similarity (ACL)"
    matching: ClassVar[str] = "greedy"
    layer_option: ClassVar[str] = "layer"

    layer: int | str = option(
        "best", "Hidden layer; best is the model's best known one.", server="text"
    )
    nodes: str = option(
        "sentences",
        "What is moved: sentences (SMS), words (WMS) or both (S+WMS).",
        choices=("sentences", "words", "both"),
    )
    special: str = option("drop", "The model's own tokens are in no sentence.", choices=("drop",))

    def gather(self, cloud: Cloud) -> Points:
        """The words, the sentences, or both with half of the mass each."""
        if self.nodes == "sentences":
            return _pooled(cloud)
        words = Points.of_layer(cloud)
        if self.nodes == "words":
            return words
        sentences = _pooled(cloud)
        return Points(
            np.concatenate([words.vectors, sentences.vectors]),
            np.concatenate([words.masses, sentences.masses]) / 2,
            words.tokens + sentences.tokens,
        )

    def row(self, plan: Plan) -> tuple[float, ...]:
        """The cost of the plan, and exp(-cost)."""
        return plan.value, math.exp(-plan.value)

    @property
    def void_row(self) -> tuple[float, ...]:
        """The largest distance, and its similarity."""
        return self.scale.void, math.exp(-self.scale.void)


def sentence_numbers(tokens: Sequence[str]) -> list[int]:
    """The number of the sentence that each token belongs to."""
    bare = [token.strip(_PIECES).removesuffix("</w>") for token in tokens]
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


def _pooled(cloud: Cloud) -> Points:
    """The unit means of the sentences that have mass, with their masses and words."""
    numbers = np.array(sentence_numbers(cloud.tokens.strings))
    shares = (numbers == np.arange(numbers.max() + 1)[:, None]) * np.asarray(cloud.weights, float)
    masses = shares.sum(axis=1)
    heavy = masses > 0
    strings = np.array(cloud.tokens.strings, dtype=object)
    sentences = tuple(" ".join(strings[numbers == number]) for number in np.flatnonzero(heavy))
    return Points(unit(shares[heavy] @ cloud.layer), masses[heavy], sentences)
