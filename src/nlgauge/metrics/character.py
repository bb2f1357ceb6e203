"""CharacTER: character edits after moving phrases of words, per character of the candidate.

Wang, Peter, Rosendahl, Ney (2016): phrases of the candidate that also stand elsewhere in the
reference are moved there while that lowers the edit distance of the words, at the price of their
average word length each; then
CharacTER = min(1, (price of the moves + edit distance of the characters) / |candidate|),
blanks counted. Lower is better, 0 (identical) to 1; an empty text gets 1.

Phrases match word by word exactly, as in the published script (the paper speaks of nearly equal
words too). As in TER, a phrase moves at most 50 words; texts of more words than ``longest`` are
compared without moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nlgauge.core.cloud import Floats
from nlgauge.core.metric import PairMetric, Side, distance
from nlgauge.core.options import option
from nlgauge.text.edits import edit_distance

FARTHEST = 50  # words a phrase may move, as in Tercom


@dataclass(frozen=True)
class Character(PairMetric):
    """Translation edit rate on character level."""

    paper: ClassVar[str] = (
        "Wang, Peter, Rosendahl, Ney (2016), CharacTer: Translation Edit Rate on Character Level"
    )
    scale = distance(1.0)

    lowercase: bool = option(False, "Lowercase both sides.")
    longest: int = option(400, "Texts of more words are compared without moves.", low=0, server=400)

    def prepare(self, item: str, side: Side) -> list[str] | None:
        """Words between blanks."""
        return (item.lower() if self.lowercase else item).split() or None

    def compare(self, candidates: Sequence[list[str]], references: Sequence[list[str]]) -> Floats:
        """The rate of every pair."""
        pairs = zip(candidates, references, strict=True)
        return np.array([[self._rate(*pair)] for pair in pairs])

    def _rate(self, candidate: list[str], reference: list[str]) -> float:
        price = 0.0
        if max(len(candidate), len(reference)) <= self.longest:
            candidate, price = _move_phrases(candidate, reference)
        line = " ".join(candidate)
        return min(1.0, (price + edit_distance(line, " ".join(reference))) / len(line))


def _move_phrases(candidate: list[str], reference: list[str]) -> tuple[list[str], float]:
    """The candidate after its best moves, and their price."""
    price = 0.0
    current = edit_distance(candidate, reference)
    while current:
        moved = [
            (edit_distance(words, reference), -len(phrase), k, words, phrase)
            for k, (words, phrase) in enumerate(_moves(candidate, reference))
        ]
        if not moved:
            break
        best, _, _, words, phrase = min(moved)
        if best >= current:
            break
        candidate, current = words, best
        price += sum(map(len, phrase)) / len(phrase)
    return candidate, price


def _moves(candidate: list[str], reference: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Every way to put a phrase where the reference has it: the new words, and the phrase."""
    places: dict[str, list[int]] = {}
    for j, word in enumerate(reference):
        places.setdefault(word, []).append(j)
    for i, word in enumerate(candidate):
        for j in places.get(word, ()):
            if 0 < abs(i - j) <= FARTHEST:
                length = _common_prefix(candidate[i:], reference[j:])
                phrase, rest = candidate[i : i + length], candidate[:i] + candidate[i + length :]
                yield rest[:j] + phrase + rest[j:], phrase


def _common_prefix(left: list[str], right: list[str]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((k for k, (a, b) in pairs if a != b), min(len(left), len(right)))
