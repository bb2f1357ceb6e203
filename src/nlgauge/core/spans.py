"""Error spans of a text, and word costs from which spans are predicted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Bools, Floats, Ints
from nlgauge.core.errors import DataError, OptionError


@dataclass(frozen=True)
class Span:
    """An error in a text: characters from start to end, as in a slice."""

    start: int
    end: int
    severity: str = "major"
    category: str = ""


MINOR, MAJOR = "minor", "major"


def check_spans(spans: Iterable[Span], length: int, where: str = "") -> None:
    """Raise DataError for a span that is empty or reaches beyond a text of this length."""
    for span in spans:
        if not 0 <= span.start < span.end <= length:
            place = f"{where}: " if where else ""
            raise DataError(
                f"{place}the span from {span.start} to {span.end} is not within the text of "
                f"{length:,} characters; offsets count characters from 0, and the end is not "
                "included"
            )


@dataclass(frozen=True, eq=False)
class WordCosts:
    """Words in the order of a text, and the cost of matching each of them with the reference.

    ``offsets[word]`` are the start and the end of a word in characters. The cost is infinite if
    there is nothing to match the word with, and NaN if the metric ignores the word.

    Examples
    --------
    >>> words = WordCosts(np.array([[0, 1], [2, 5], [6, 9]]), np.array([0.1, 0.5, 0.9]))
    >>> words.spans(minor=0.4, major=0.8)
    (Span(start=2, end=9, severity='minor', category=''),)
    """

    offsets: Ints
    costs: Floats

    @classmethod
    def of(
        cls, words: Sequence[tuple[int, int]], offsets: Ints, costs: Floats, masses: Floats
    ) -> "WordCosts":
        """Return the words with the mean cost of the tokens that they share characters with.

        ``offsets``, ``costs`` and ``masses`` are those of tokens or n-grams; a token counts by its
        mass and by the number of characters it shares with a word.
        """
        places = np.array(words, dtype=np.int64).reshape(-1, 2)
        first = np.maximum(places[:, None, 0], offsets[None, :, 0])
        last = np.minimum(places[:, None, 1], offsets[None, :, 1])
        shares = np.maximum(last - first, 0) * np.where(np.isnan(costs), 0.0, masses)
        totals = shares.sum(axis=1)
        sums = shares @ np.nan_to_num(costs)
        return cls(places, np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), np.nan))

    @classmethod
    def unmatched(cls, words: Sequence[tuple[int, int]]) -> "WordCosts":
        """Return words with infinite costs, for a candidate without any reference tokens."""
        places = np.array(words, dtype=np.int64).reshape(-1, 2)
        return cls(places, np.full(len(places), np.inf))

    @classmethod
    def combine(cls, references: "Sequence[WordCosts]") -> "WordCosts":
        """Return the minimum cost of each word over references."""
        return cls(references[0].offsets, np.min([each.costs for each in references], axis=0))

    def scaled(self, factors: Floats) -> "WordCosts":
        """Return the cost of each word times its factor."""
        return WordCosts(self.offsets, self.costs * factors)

    def spans(self, minor: float, major: float) -> tuple[Span, ...]:
        """Return runs of words with a cost of at least ``minor`` each.

        A run is a major error if the mean cost of its words is at least ``major``.
        """
        check_thresholds(minor, major)
        first, last = find_runs(self.costs >= minor)
        means = run_means(self.costs, first, last)
        return tuple(
            Span(int(self.offsets[i, 0]), int(self.offsets[j, 1]), MAJOR if severe else MINOR)
            for i, j, severe in zip(first, last, means >= major, strict=True)
        )


def check_thresholds(minor: float, major: float) -> None:
    """Raise OptionError unless the threshold of minor errors is at most that of major ones."""
    if not minor <= major:
        raise OptionError(
            f"the thresholds are minor={minor:g} and major={major:g}; they must be numbers, and "
            "minor at most major"
        )


def find_runs(flags: Bools, starts: Ints | None = None) -> tuple[Ints, Ints]:
    """Return the first and the last index of every run of true flags.

    Runs do not continue across an index in ``starts``, where a new text starts.
    """
    cut = np.zeros(len(flags) + 1, dtype=bool)
    cut[[0, -1]] = True
    if starts is not None:
        cut[starts] = True
    before = np.concatenate([[False], flags])  # whether the flag before an index is true
    after = np.concatenate([flags, [False]])
    first = np.flatnonzero(after & (cut | ~before))
    last = np.flatnonzero(before & (cut | ~after)) - 1
    return first, last


def run_means(values: Floats, first: Ints, last: Ints) -> Floats:
    """Return the mean value of each run of finite or infinite values."""
    if not len(first):
        return np.zeros(0)
    bounds = np.stack([first, last + 1], axis=1).ravel()
    padded = np.append(np.nan_to_num(values, nan=0.0, posinf=np.inf), 0.0)
    return np.asarray(np.add.reduceat(padded, bounds)[::2] / (last - first + 1))
