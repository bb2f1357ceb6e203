"""CharacTER: character edits after moving phrases of words, per character of the candidate.

Wang, Peter, Rosendahl, Ney (2016): phrases of the candidate are moved to where the reference has
them as long as this lowers the edit distance of the words. A move costs the average word length of
the phrase. CharacTER = min(1, (cost of the moves + edit distance of the characters) / |candidate|),
spaces included. Lower is better, 0 (identical) to 1; an empty text gets 1.

Words of a phrase match exactly, as in the published script (the paper also allows similar words).
As in TER, a phrase moves at most 50 words; texts of more words than ``longest`` are compared
without moves.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from operator import eq

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.metric import PairMetric, Side, distance
from nlgauge.core.options import option
from nlgauge.text.edits import edit_distance

MAX_MOVE = 50  # words, as in Tercom


@dataclass(frozen=True)
class Character(PairMetric):
    """Translation edit rate on character level."""

    title = "CharacTER"
    paper = "Wang et al. 2016, CharacTer: Translation Edit Rate on Character Level (WMT)"
    scale = distance(1.0)
    isolated = True

    lowercase: bool = option(False, "Lowercase both sides.")
    longest: int = option(400, "Longest text, in words, compared with moves.", low=0, server=400)

    def prepare(self, item: str, side: Side) -> list[str] | None:
        """Return the words between spaces."""
        return (item.lower() if self.lowercase else item).split() or None

    def compare(self, candidates: Sequence[list[str]], references: Sequence[list[str]]) -> Floats:
        """Return the rate of every pair."""
        return np.array([[rate] for rate in map(self._rate, candidates, references)])

    def _rate(self, candidate: list[str], reference: list[str]) -> float:
        cost = 0.0
        if max(len(candidate), len(reference)) <= self.longest:
            candidate, cost = _move_phrases(candidate, reference)
        line = " ".join(candidate)
        return min(1.0, (cost + edit_distance(line, " ".join(reference))) / len(line))


def _move_phrases(candidate: list[str], reference: list[str]) -> tuple[list[str], float]:
    """Return the candidate after its best moves, and their cost."""
    cost = 0.0
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
        cost += sum(map(len, phrase)) / len(phrase)
    return candidate, cost


def _moves(candidate: list[str], reference: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words after each possible move of a phrase, and the phrase."""
    positions: defaultdict[str, list[int]] = defaultdict(list)
    for j, word in enumerate(reference):
        positions[word].append(j)
    for i, word in enumerate(candidate):
        for j in positions[word]:
            if 0 < abs(i - j) <= MAX_MOVE:
                pairs = zip(candidate[i:], reference[j:], strict=False)
                phrase = [left for left, _ in takewhile(lambda pair: eq(*pair), pairs)]
                rest = candidate[:i] + candidate[i + len(phrase) :]
                yield rest[:j] + phrase + rest[j:], phrase
