"""Plans between whole words, joined from plans between the pieces of a subword tokenizer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nlgauge.core.arrays import Bools, Floats
from nlgauge.core.plan import Plan

_CONTINUES = "##"  # WordPiece marks the pieces that continue a word
_STARTS = ("\u2581", "\u0120")  # SentencePiece and byte-level BPE mark those that start one


@dataclass(frozen=True, eq=False)
class WordGroups:
    """Which pieces form a word: ``candidate[word, piece]`` is 1 or 0; likewise ``reference``.

    Examples
    --------
    >>> plan = Plan(0.0, np.eye(2) / 2, 1 - np.eye(2), *np.full((2, 2), 0.5), 1.0, 0, True, 0.0)
    >>> named = plan.named(("life", "##vest"), ("a", "vest"))
    >>> WordGroups.of(named).join(named).candidate_tokens
    ('lifevest',)
    """

    candidate: Floats
    reference: Floats
    candidate_words: tuple[str, ...]
    reference_words: tuple[str, ...]

    @classmethod
    def of(cls, plan: Plan) -> "WordGroups":
        """Return the words of a plan whose tokens are known."""
        sides = plan.candidate_tokens or (), plan.reference_tokens or ()
        marked = any(token.startswith(_STARTS) for side in sides for token in side)
        (first, words), (second, others) = (_group(side, marked) for side in sides)
        return cls(first, second, words, others)

    def sums(self, matrix: Floats) -> Floats:
        """Return the sums of a matrix over the pieces of every pair of words."""
        return np.asarray(self.candidate @ matrix @ self.reference.T)

    def join(self, plan: Plan) -> Plan:
        """Return the plan between words: masses are sums, costs means weighted by the flow."""
        flow = self.sums(plan.coupling)
        pairs = np.outer(self.candidate.sum(axis=1), self.reference.sum(axis=1))
        moved = flow > 0
        weighted = self.sums(plan.coupling * plan.cost) / np.where(moved, flow, 1.0)
        return replace(
            plan,
            coupling=flow,
            cost=np.where(moved, weighted, self.sums(plan.cost) / pairs),
            a=self.candidate @ plan.a,
            b=self.reference @ plan.b,
            candidate_tokens=self.candidate_words,
            reference_tokens=self.reference_words,
        )


def nearest_tokens(plan: Plan) -> tuple[Bools, Bools]:
    """Return which flows of a greedy plan give precision, and which give recall.

    A flow gives precision where the reference token is the nearest of the candidate token, recall
    where the candidate token is the nearest of the reference token.
    """
    moved = plan.coupling > 0
    rows = plan.cost == plan.cost.min(axis=1, keepdims=True)
    columns = plan.cost == plan.cost.min(axis=0, keepdims=True)
    return moved & rows & (plan.a > 0)[:, None], moved & columns & (plan.b > 0)[None, :]


def _group(tokens: Sequence[str], marked: bool) -> tuple[Floats, tuple[str, ...]]:
    """The words as rows of pieces, and as texts."""
    word_of: list[int] = []
    words: list[str] = []
    for token in tokens:
        if " " in token:  # an n-gram, which overlaps with the next one and is never a part of it
            words.append(" ".join(_group(token.split(), marked)[1]))
        elif words and _continues(words[-1], token, marked):
            words[-1] += _without_mark(token)
        else:
            words.append(_without_mark(token))
        word_of.append(len(words) - 1)
    groups = np.zeros((len(words), len(tokens)))
    groups[word_of, range(len(tokens))] = 1.0
    return groups, tuple(words)


def _without_mark(token: str) -> str:
    if token.startswith(_STARTS) and len(token) > 1:
        return token[1:]
    return token.removeprefix(_CONTINUES) if len(token) > len(_CONTINUES) else token


def _continues(word: str, token: str, marked: bool) -> bool:
    if marked:  # punctuation has no space before it, either
        return not token.startswith(_STARTS) and word[-1:].isalnum() and token[:1].isalnum()
    return token.startswith(_CONTINUES) and len(token) > len(_CONTINUES)
