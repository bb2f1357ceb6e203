"""Evaluation of predicted error spans, with thresholds chosen on a part of the data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Floats, Ints
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.core.spans import WordCosts
from nlgauge.data.judged import JudgedCorpus
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress, Scorer
from nlgauge.stats import Interval, split, sum_groups
from nlgauge.stats.span_agreement import (
    PARTIAL_CREDIT,
    SpanAgreement,
    Thresholds,
    bootstrap_f1,
    bootstrap_f1_difference,
    choose_thresholds,
    count_matches,
)
from nlgauge.study.study import Source, StudyResult, read_source
from nlgauge.text.lexical_diff import differing_words
from nlgauge.text.tokenize import find_words

ALL, NONE, LEXICAL = "all characters", "no characters", "lexical diff"


@dataclass(frozen=True)
class SpanEntry:
    """The spans of one metric or baseline on the test part."""

    metric: str
    thresholds: Thresholds
    """Chosen on the tuning part, with the F1 there."""
    agreement: SpanAgreement
    interval: Interval
    """Of F1."""
    difference: Interval | None
    """F1 minus that of the lexical diff, None for the latter."""
    spans: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; None for a threshold that no cost reaches."""
        difference = self.difference
        low, high = to_jsonable((difference.low, difference.high)) if difference else (None, None)
        return {
            "metric": self.metric,
            **self.agreement.to_dict(),
            **self.interval.to_dict(),
            "difference": difference and difference.value,
            "difference_low": low,
            "difference_high": high,
            "minor": to_jsonable(self.thresholds.minor),
            "major": to_jsonable(self.thresholds.major),
            "tune_f1": self.thresholds.f1,
            "spans": self.spans,
        }


@dataclass(frozen=True, eq=False)
class SpanStudy(StudyResult[SpanEntry]):
    """The spans of all metrics and baselines on the same test part."""

    tuned_on: str
    tested_on: str
    annotated: int
    """Spans of people on the test part."""
    entries_key: ClassVar[str] = "metrics"

    def summary(self) -> dict[str, Any]:
        """Return the parts of the data."""
        parts = {"tuned_on": self.tuned_on, "tested_on": self.tested_on}
        return {**parts, "annotated_spans": self.annotated}


def evaluate_spans(
    data: Source,
    metrics: Spec | Sequence[Spec] = "gauge",
    *,
    fraction: float = 0.5,
    partial_credit: float = PARTIAL_CREDIT,
    count: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> SpanStudy:
    """Return the agreement of predicted error spans with annotated ones, by metric.

    The thresholds of minor and major errors are chosen on a part of the inputs, and the agreement
    is measured on the others. Three baselines are included: all characters, no characters, and
    words of a candidate that are not in a longest common subsequence with a reference.

    Parameters
    ----------
    data : JudgedCorpus, str or Path, texts with annotated spans, or a file or folder with them
    metrics : str, Metric or sequence of them, metrics that match tokens
    fraction : float, share of the inputs for choosing thresholds
    partial_credit : float, of a character that is marked with another severity
    count, confidence : resamples and coverage of bootstrap intervals over inputs
    seed : int, of the split and of the bootstrap
    runtime, progress : as in `measure`

    Returns
    -------
    SpanStudy

    Raises
    ------
    DataError
        If the data has no spans, or fewer than two inputs.
    UsageError
        If a metric does not match tokens.

    Examples
    --------
    >>> from nlgauge.core.spans import Span
    >>> corpus = Corpus.of(["a dog sat", "a dog ran"], ["a cat sat", "a cat ran"])
    >>> judged = JudgedCorpus(corpus, {"mqm": [-5, -5]}, (), spans=((Span(2, 5),),) * 2)
    >>> found = evaluate_spans(judged, "wmd:model=hashing,layer=0", count=100)
    >>> [(entry.metric, entry.agreement.f1) for entry in found.entries][:2]
    [('wmd:model=hashing,layer=0', 1.0), ('all characters', 0.5)]
    """
    judged = read_source(data)
    if judged.spans is None:
        raise DataError(
            f"the {len(judged):,} rows have no annotated spans; give a column 'spans' with lists "
            'of {"start": 2, "end": 5, "severity": "minor"}.'
        )
    corpus = judged.corpus
    scorer = Scorer(metrics, runtime=runtime).fitted(corpus.segment_references())
    pairs = zip(corpus.candidates, corpus.references, strict=True)
    baselines = {
        ALL: _whole_texts(corpus, 1.0),
        NONE: _whole_texts(corpus, np.nan),
        LEXICAL: [_lexical_diff(*pair) for pair in pairs],
    }
    costs_by_name = {**scorer.word_costs(corpus, progress=progress), **baselines}
    parts = split(len(corpus), fraction, seed, corpus.ids)
    tested = {
        name: _test(judged, costs, parts.tune, parts.test, partial_credit)
        for name, costs in costs_by_name.items()
    }
    inputs = [corpus.ids[i] for i in parts.test]
    options: dict[str, Any] = {"count": count, "confidence": confidence, "seed": seed}
    tuned_on, tested_on = (
        f"{len({corpus.ids[i] for i in index}):,} inputs ({len(index):,} texts)"
        for index in (parts.tune, parts.test)
    )
    signatures = {
        label: str(signature)
        for label, signature in scorer.signatures(corpus.reference_count()).items()
    }
    annotated = sum(len(judged.spans[i]) for i in parts.test)
    entries = tuple(_entries(tested, inputs, options))
    return SpanStudy(entries, judged.notes, signatures, tuned_on, tested_on, annotated)


_Tested = tuple[Thresholds, Floats, int]  # with the matches of every text, and the predicted spans


def _entries(
    tested: Mapping[str, _Tested], inputs: Sequence[str], options: Mapping[str, Any]
) -> Iterator[SpanEntry]:
    """Yield the agreement of each metric, with intervals over inputs."""
    lexical = sum_groups(tested[LEXICAL][1], inputs)
    for name, (thresholds, rows, spans) in tested.items():
        matches = sum_groups(rows, inputs)
        difference = None
        if name != LEXICAL:
            difference = bootstrap_f1_difference(matches, lexical, **options)
        agreement = SpanAgreement(*rows.sum(axis=0).tolist())
        interval = bootstrap_f1(matches, **options)
        yield SpanEntry(name, thresholds, agreement, interval, difference, spans)


def _test(
    judged: JudgedCorpus,
    word_costs: Sequence[WordCosts],
    tune: Ints,
    test: Ints,
    partial_credit: float,
) -> _Tested:
    """Return thresholds, and their results on the test part."""
    people, lengths = judged.spans or (), [*map(len, judged.corpus.candidates)]
    thresholds = choose_thresholds(
        [word_costs[i].costs for i in tune],
        [word_costs[i].offsets for i in tune],
        [people[i] for i in tune],
        [lengths[i] for i in tune],
        partial_credit=partial_credit,
    )
    predicted = [word_costs[i].spans(thresholds.minor, thresholds.major) for i in test]
    rows = [
        count_matches(spans, people[i], lengths[i], partial_credit=partial_credit)
        for spans, i in zip(predicted, test, strict=True)
    ]
    return thresholds, np.array(rows), sum(map(len, predicted))


def _whole_texts(corpus: Corpus, cost: float) -> list[WordCosts]:
    """Return each text as one word of this cost; an empty text has none."""
    offsets = ([[0, len(text)]] if text else [] for text in corpus.candidates)
    return [WordCosts(np.reshape(each, (-1, 2)), np.full(len(each), cost)) for each in offsets]


def _lexical_diff(candidate: str, references: Sequence[str]) -> WordCosts:
    """Return cost 0 for words in a longest common subsequence with a reference, 1 for others."""
    offsets = np.array([word[1:] for word in find_words(candidate)], dtype=np.int64).reshape(-1, 2)
    return WordCosts(offsets, differing_words(candidate, references).astype(np.float64))
