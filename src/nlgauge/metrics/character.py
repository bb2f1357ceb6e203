"""CharacTER: character edits after moving phrases of words, per character of the candidate.

Wang, Peter, Rosendahl, Ney (2016): phrases of the candidate are moved to where the reference has
them as long as this lowers the edit distance of the words. CharacTER = min(1, (cost of the moves +
edit distance of the characters) / |candidate|), spaces included. Lower is better, 0 (identical) to
1; an empty text gets 1.

The paper does not define which of several equally good moves is made; moving a phrase costs its
average word length. Both are implemented as in the authors' script and the package cer: the move
whose words sort last is made, and the cost is computed from the candidate before and after all
moves. Words of a phrase match exactly (the paper also allows similar words).

Texts of more words than ``longest`` are compared without moves.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.metric import PairMetric, Side, distance
from nlgauge.core.options import option
from nlgauge.text.edits import common_start, edit_distance


@dataclass(frozen=True)
class Character(PairMetric):
    """Translation edit rate on character level."""

    title = "CharacTER"
    paper = "Wang et al. 2016, CharacTer: Translation Edit Rate on Character Level (WMT)"
    scale = distance(1.0)
    isolated = True

    lowercase: bool = option(False, "Lowercase both sides.")
    longest: int = option(400, "Longest text, in words, compared with moves.", low=0, server=400)

    def prepare(self, item: str, side: Side) -> tuple[str, ...] | None:
        """Return the words between spaces."""
        return tuple((item.lower() if self.lowercase else item).split()) or None

    def compare(
        self, candidates: Sequence[tuple[str, ...]], references: Sequence[tuple[str, ...]]
    ) -> Floats:
        """Return the rate of every pair."""
        return np.array([[rate] for rate in map(self._rate, candidates, references)])

    def _rate(self, candidate: tuple[str, ...], reference: tuple[str, ...]) -> float:
        moved = candidate
        if max(len(candidate), len(reference)) <= self.longest:
            moved = _move_phrases(candidate, reference)
        line = " ".join(moved)
        edits = edit_distance(line, " ".join(reference))
        return min(1.0, (_cost_of_moves(candidate, moved) + edits) / len(line))


def _move_phrases(candidate: tuple[str, ...], reference: tuple[str, ...]) -> tuple[str, ...]:
    """Return the candidate after its best moves."""
    current = edit_distance(candidate, reference) / len(reference)
    while current:
        # cer subtracts rates per word: its rounding errors can allow one more move.
        gains = (
            (current - edit_distance(words, reference) / len(reference), words)
            for words in set(_moves(candidate, reference))
        )
        gain, words = max(gains, default=(0.0, candidate))
        if gain <= 0:
            break
        candidate, current = words, current - gain
    return candidate


def _moves(candidate: tuple[str, ...], reference: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the words after each possible move of a phrase."""
    positions: defaultdict[str, list[int]] = defaultdict(list)
    for j, word in enumerate(reference):
        positions[word].append(j)
    for i, word in enumerate(candidate):
        for j in positions[word]:
            if i != j:
                end = i + common_start(candidate[i:], reference[j:])
                remaining = candidate[:i] + candidate[end:]
                yield remaining[:j] + candidate[i:end] + remaining[j:]


def _cost_of_moves(before: tuple[str, ...], after: tuple[str, ...]) -> float:
    """Return the sum of the average word lengths of the phrases that were moved to the right."""
    cost, i = 0.0, 0
    while i < len(before):
        length = 1
        if before[i] != after[i] and before[i] in after[i:]:
            length = common_start(before[i:], after[after.index(before[i], i) :])
            cost += sum(map(len, before[i : i + length])) / length
        i += length
    return cost
