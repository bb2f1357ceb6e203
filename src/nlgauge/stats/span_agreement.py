"""Agreement of predicted error spans with those of people, by characters.

As in WMT's error span task (Blain et al. 2023; Lavie et al. 2025, subtask 2), a character counts
once for every span that covers it. A character that both mark with the same severity is a match,
one with different severities half a match. Precision is the share of predicted characters that
match, recall that of annotated characters; both are micro-averages over all segments.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats, Ints
from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.spans import MAJOR, MINOR, Span, check_spans, find_runs, run_means
from nlgauge.stats.intervals import Interval, bootstrap
from nlgauge.stats.paired_tests import as_pair
from nlgauge.stats.validation import Seed

PARTIAL_CREDIT = 0.5
_SEVERITIES = {MINOR: 0, MAJOR: 1, "critical": 1, "neutral": None, "undecided": None}
"""The row of `_count_covering` of each severity, None for what is not counted as an error."""


@dataclass(frozen=True)
class SpanAgreement:
    """Precision, recall and F1 of characters.

    As at WMT, precision is 1 without predicted characters and recall is 1 without annotated ones,
    so that a text without errors and without predictions is perfect.
    """

    matched: float
    predicted: float
    annotated: float

    @property
    def precision(self) -> float:
        """Matches over predicted characters."""
        return self.matched / self.predicted if self.predicted else 1.0

    @property
    def recall(self) -> float:
        """Matches over annotated characters."""
        return self.matched / self.annotated if self.annotated else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {name: getattr(self, name) for name in ("f1", "precision", "recall")}


def count_matches(
    predicted: Iterable[Span],
    annotated: Iterable[Span],
    length: int,
    *,
    partial_credit: float = PARTIAL_CREDIT,
) -> Floats:
    """Return the matched, predicted and annotated characters of one text.

    Parameters
    ----------
    predicted, annotated : iterable of Span, of severity "minor", "major" or "critical", which
        counts as major; "neutral" and "undecided" ones are not counted
    length : int, characters of the text
    partial_credit : float, of a character whose severities differ

    Returns
    -------
    array of 3 numbers; `SpanAgreement(*rows.sum(axis=0))` is the agreement over several texts

    Raises
    ------
    DataError
        If a span is empty or not within the text, or has another severity.

    Examples
    --------
    >>> count_matches([Span(0, 4, "minor")], [Span(2, 6, "major")], 9).tolist()
    [1.0, 4.0, 4.0]
    """
    if not 0 <= partial_credit <= 1:
        raise OptionError(f"partial_credit is {partial_credit:g}; it lies between 0 and 1")
    system, people = (_count_covering(spans, length) for spans in (predicted, annotated))
    equal = np.minimum(system, people)
    others = np.minimum((system - equal).sum(axis=0), (people - equal).sum(axis=0))
    matched = equal.sum() + partial_credit * others.sum()
    return np.array([matched, system.sum(), people.sum()])


def bootstrap_f1(
    rows: ArrayLike, *, count: int = 1000, confidence: float = 0.95, seed: Seed = 0
) -> Interval:
    """Return F1 and its bootstrap interval.

    Parameters
    ----------
    rows : array_like, a row of `count_matches`, or a sum of them, for each input
    count, confidence, seed : resamples, coverage and seed

    Returns
    -------
    Interval

    Examples
    --------
    >>> bootstrap_f1([[2, 4, 4], [4, 4, 4]], count=200).value
    0.75
    """
    interval = bootstrap(rows, _f1, count=count, confidence=confidence, seed=seed)
    return replace(interval, over="inputs")


def bootstrap_f1_difference(
    first: ArrayLike,
    second: ArrayLike,
    *,
    count: int = 1000,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """Return the F1 of the first rows minus that of the second, and its bootstrap interval.

    Parameters
    ----------
    first, second : array_like, rows of the same inputs, as in `bootstrap_f1`
    count, confidence, seed : resamples, coverage and seed

    Returns
    -------
    Interval

    Examples
    --------
    >>> bootstrap_f1_difference([[4, 4, 4]], [[2, 4, 4]], count=200).value
    0.5
    """
    rows = np.hstack(as_pair(first, second))

    def difference(total: Floats) -> float:
        return _f1(total[:3]) - _f1(total[3:])

    interval = bootstrap(rows, difference, count=count, confidence=confidence, seed=seed)
    return replace(interval, over="inputs")


@dataclass(frozen=True)
class Thresholds:
    """The thresholds with the best F1, and that F1."""

    minor: float
    major: float
    f1: float


def choose_thresholds(
    costs: Sequence[ArrayLike],
    offsets: Sequence[ArrayLike],
    annotated: Sequence[Sequence[Span]],
    lengths: Sequence[int],
    *,
    values: int = 50,
    partial_credit: float = PARTIAL_CREDIT,
) -> Thresholds:
    """Return the thresholds of `WordCosts.spans` with the highest F1 over all texts.

    Parameters
    ----------
    costs, offsets : sequences of array_like, those of the words of each text
    annotated, lengths : the spans of people and the number of characters of each text
    values : int, how many costs are tried as a threshold, at equidistant quantiles; and infinity
    partial_credit : as in `count_matches`

    Returns
    -------
    Thresholds, of equally good ones the highest

    Raises
    ------
    DataError
        If there is no text.

    Examples
    --------
    >>> words, people = [[0, 1], [2, 5], [6, 9]], [Span(2, 5), Span(6, 9, "minor")]
    >>> choose_thresholds([[0.1, 0.9, 0.1]], [words], [people], [9])
    Thresholds(minor=0.9, major=0.9, f1=0.6666666666666666)
    """
    if not len(costs):
        raise DataError("there is no text to choose thresholds on: 0 texts.")
    bases = np.cumsum([0, *lengths])[:-1]
    places = [np.reshape(np.asarray(each, dtype=np.int64), (-1, 2)) for each in offsets]
    first, last = np.concatenate([at + base for at, base in zip(places, bases, strict=True)]).T
    cost = np.concatenate([np.asarray(each, dtype=np.float64) for each in costs])
    texts = np.cumsum([0, *map(len, places)])[:-1]
    covers = [_count_covering(spans, n) for spans, n in zip(annotated, lengths, strict=True)]
    people = np.concatenate(covers, axis=1)
    credits = [_credit_up_to(people, severity, partial_credit) for severity in (0, 1)]
    tried = _quantiles(cost, values)
    best = Thresholds(np.inf, np.inf, -1.0)
    for minor in tried[::-1]:
        start, stop = find_runs(cost >= minor, texts)
        begins, ends = first[start], last[stop]
        gains = [credit[ends] - credit[begins] for credit in credits]
        means, predicted = run_means(cost, start, stop), (ends - begins).sum()
        for major in tried[tried >= minor][::-1]:
            matched = np.where(means >= major, gains[1], gains[0]).sum()
            f1 = SpanAgreement(float(matched), float(predicted), float(people.sum())).f1
            if f1 > best.f1:
                best = Thresholds(float(minor), float(major), f1)
    return best


def _quantiles(costs: Floats, count: int) -> Floats:
    """Return finite costs at equidistant quantiles, and infinity, in ascending order."""
    finite = np.unique(costs[np.isfinite(costs)])
    if not finite.size:
        return np.array([np.inf])
    return np.append(finite[np.linspace(0, finite.size - 1, count).round().astype(int)], np.inf)


def _f1(total: Floats) -> float:
    return SpanAgreement(*total.tolist()).f1


def _count_covering(spans: Iterable[Span], length: int) -> Ints:
    """Return how many minor and how many major spans cover each character."""
    listed = list(spans)
    check_spans(listed, length)
    counts = np.zeros((2, length), dtype=np.int64)
    for span in listed:
        name = span.severity.lower()
        if name not in _SEVERITIES:
            known = ", ".join(_SEVERITIES)
            raise DataError(f"unknown severity {span.severity!r} of a span; known are {known}")
        severity = _SEVERITIES[name]
        if severity is not None:
            counts[severity, span.start : span.end] += 1
    return counts


def _credit_up_to(people: Ints, severity: int, partial_credit: float) -> Floats:
    """Return the matches of one span of this severity over all characters before each place."""
    same_severity, other_severity = people[severity] > 0, people[1 - severity] > 0
    credit = np.where(same_severity, 1.0, np.where(other_severity, partial_credit, 0.0))
    return np.concatenate([[0.0], np.cumsum(credit)])
