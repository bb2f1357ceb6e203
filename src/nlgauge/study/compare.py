"""Paired tests between systems for any metric, and the segments on which they differ most."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError, UsageError
from nlgauge.core.scores import Scores
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress, Scorer
from nlgauge.stats import holm, paired_bootstrap, paired_randomisation, rank_clusters
from nlgauge.stats.paired_tests import PairedTest
from nlgauge.study.study import StudyResult, SystemScores

Method = Literal["bootstrap", "randomisation"]
References = Sequence[str | Sequence[str | None]]


@dataclass(frozen=True)
class ComparisonEntry:
    """One system under one metric, tested against the baseline (which has no test)."""

    system: str
    metric: str
    value: float
    cluster: int
    """1 for the best; every system of a cluster differs significantly from all other clusters."""
    test: PairedTest | None = None
    p_holm: float | None = None
    """The test's two-sided p, Holm-corrected over the systems tested."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        interval = self.test and self.test.interval
        return {
            "metric": self.metric,
            "system": self.system,
            "value": self.value,
            "difference": self.test and self.test.difference,
            "low": interval and interval.low,
            "high": interval and interval.high,
            "p_uncorrected": self.test and self.test.p,
            "p_holm": self.p_holm,
            "cluster": self.cluster,
        }


@dataclass(frozen=True)
class SystemPair:
    """The test of two systems under one metric, from which clusters are made."""

    metric: str
    first: str
    second: str
    difference: float
    p_uncorrected: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class SegmentDifference:
    """A segment on which a system and the baseline have very different scores."""

    metric: str
    segment: str
    system: str
    baseline: str
    difference: float
    value: float
    baseline_value: float
    candidate: str
    baseline_candidate: str
    references: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self) | {"references": list(self.references)}


@dataclass(frozen=True, eq=False)
class Comparison(StudyResult[ComparisonEntry]):
    """All systems under all metrics, each tested against the first."""

    baseline: str
    corpus: Corpus
    scores: SystemScores
    method: str
    count: int
    seed: int
    segments: int
    alpha: float
    pairs: tuple[SystemPair, ...]
    """The tests of all pairs of systems."""
    entries_key: ClassVar[str] = "systems"

    def of(self, metric: str) -> tuple[ComparisonEntry, ...]:
        """Return the entries of one metric, the baseline first."""
        return tuple(entry for entry in self.entries if entry.metric == metric)

    def differing(self, count: int, metric: str | None = None) -> tuple[SegmentDifference, ...]:
        """Return the `count` segments per system whose scores differ most from the baseline's."""
        label = metric or self.entries[0].metric
        if label not in self.signatures:
            known = ", ".join(self.signatures)
            raise OptionError(f"no metric {label!r} here; there are {known}.")
        first = self.scores[self.baseline][label]
        rows, corpus = self.corpus.rows_of(self.baseline), self.corpus
        found: list[SegmentDifference] = []
        for system in list(self.scores)[1:]:
            scores, own_rows = self.scores[system][label], corpus.rows_of(system)
            at = _order(first, scores.ids)
            gaps = scores.segments - first.segments[at]
            for i in np.argsort(-np.abs(gaps), kind="stable")[:count]:
                if gaps[i] == 0:
                    break
                found.append(
                    SegmentDifference(
                        *(label, scores.ids[i], system, self.baseline),
                        difference=float(gaps[i]),
                        value=float(scores.segments[i]),
                        baseline_value=float(first.segments[at[i]]),
                        candidate=corpus.candidates[own_rows[i]],
                        baseline_candidate=corpus.candidates[rows[at[i]]],
                        references=corpus.references[own_rows[i]],
                    )
                )
        return tuple(found)

    @property
    def test_note(self) -> str:
        """A sentence on the method of the p-values."""
        return (
            f"p against {self.baseline}: {self.method}, {self.count:,} times over "
            f"{self.segments:,} segments, seed {self.seed}; two-sided"
        )

    @property
    def method_note(self) -> str:
        """A sentence on the method of the Holm-corrected p-values."""
        return f"{self.test_note}, Holm-corrected"

    @property
    def cluster_note(self) -> str:
        """A sentence on the rule of the clusters."""
        level = f"{self.alpha:g}".removeprefix("0")
        return f"systems of different clusters: p uncorrected < {level} for every pair"

    def summary(self) -> dict[str, Any]:
        """Return the baseline, the options of the test and the tests of all pairs."""
        names = ("baseline", "method", "count", "seed", "segments", "alpha")
        options = {name: getattr(self, name) for name in names}
        return {**options, "pairs": [pair.to_dict() for pair in self.pairs]}


def compare(
    systems: Mapping[str, Sequence[str]] | Corpus,
    references: References = (),
    *,
    sources: Sequence[str] | None = None,
    metrics: Spec | Sequence[Spec] = "bleu",
    method: Method = "bootstrap",
    count: int = 1000,
    seed: int = 0,
    alpha: float = 0.05,
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> Comparison:
    """Return paired tests of every system against the first, for every metric, and clusters.

    Parameters
    ----------
    systems : mapping or Corpus, candidates of the same segments by system, the baseline first
    references, sources : sequence, texts per segment; not for a Corpus, which has its own
    metrics : str, Metric or sequence of them
    method : "bootstrap" or "randomisation", the paired test
    count, seed : resamples and their seed
    alpha : float, level of the two-sided uncorrected tests between systems of different clusters
    runtime, progress : as in `nlgauge.score`

    Returns
    -------
    Comparison, whose entries have the two-sided p uncorrected and Holm-corrected over the systems

    Raises
    ------
    UsageError, DataError, OptionError
        For a single system, for different segments, for an unknown method.

    Examples
    --------
    >>> found = compare({"a": ["x y", "z"], "b": ["x y", "w"]}, ["x y", "z"], metrics="chrf")
    >>> round(found.entries[1].value)
    83
    """
    if isinstance(systems, Corpus):
        if references or sources is not None:
            raise UsageError("a Corpus has its own references and sources; leave these out")
        corpus = systems
    else:
        corpus = _corpus(systems, references, sources)
    _check(corpus, method)
    scores = Scorer(metrics, runtime=runtime).score_corpus(corpus, progress=progress)
    return compare_scored(corpus, scores, method=method, count=count, seed=seed, alpha=alpha)


def compare_scored(
    corpus: Corpus,
    scores: SystemScores,
    *,
    method: Method = "bootstrap",
    count: int = 1000,
    seed: int = 0,
    alpha: float = 0.05,
) -> Comparison:
    """Return the tests of `compare` on existing scores, by system and label of the metric."""
    _check(corpus, method)
    names = corpus.system_names
    test = paired_bootstrap if method == "bootstrap" else paired_randomisation
    entries: list[ComparisonEntry] = []
    pairs: list[SystemPair] = []
    for label in scores[names[0]]:
        of_metric = [scores[name][label] for name in names]
        ids = of_metric[0].ids
        rows = [each.statistics[_order(each, ids)] for each in of_metric]
        counts = np.array([float(len(ids))])

        def finish(total: Floats, first: Scores = of_metric[0], n: Floats = counts) -> float:
            return float(first.metric.finish(total[None, :], n)[0, 0])

        tests = {
            (i, j): test(rows[i], rows[j], finish, count=count, seed=seed)
            for j, i in combinations(range(len(rows)), 2)
        }
        entries += _entries(of_metric, tests, alpha)
        pairs += [
            SystemPair(label, names[i], names[j], each.difference, each.p)
            for (i, j), each in tests.items()
        ]
    notes = tuple(
        f"{system}, {label}: {warning}"
        for system, by_label in scores.items()
        for label, found in by_label.items()
        for warning in found.warnings
    )
    signatures = {label: str(found.signature) for label, found in scores[names[0]].items()}
    return Comparison(
        *(tuple(entries), notes, signatures, names[0], corpus, scores),
        method=next(entry.test.method for entry in entries if entry.test is not None),
        count=count,
        seed=seed,
        segments=len(corpus.rows_of(names[0])),
        alpha=alpha,
        pairs=tuple(pairs),
    )


def _check(corpus: Corpus, method: str) -> None:
    if method not in ("bootstrap", "randomisation"):
        raise OptionError(f"method is {method!r}; it is 'bootstrap' or 'randomisation'.")
    first, *others = corpus.system_names
    if not others:
        one = f"there is 1 ({first!r}); `nlgauge score` scores a single one"
        raise UsageError(f"a comparison needs at least 2 systems, but {one}")
    expected = {corpus.ids[row] for row in corpus.rows_of(first)}
    for name in others:
        ids = {corpus.ids[row] for row in corpus.rows_of(name)}
        if ids != expected:
            raise DataError(
                f"{name!r} and {first!r} do not have the same segments: {len(ids - expected)} "
                f"are only in {name!r}, {len(expected - ids)} only in {first!r}, "
                f"{len(ids & expected)} in both; a paired test needs the same ones"
            )


def _corpus(
    systems: Mapping[str, Sequence[str]], references: References, sources: Sequence[str] | None
) -> Corpus:
    if not systems:
        raise UsageError("a comparison needs at least 2 systems, but there is none")
    return Corpus.of_systems(systems, references or None, sources=sources)


def _entries(
    scores: Sequence[Scores], tests: Mapping[tuple[int, int], PairedTest], alpha: float
) -> list[ComparisonEntry]:
    """Return all systems under one metric: tests against the first, clusters from all pairs."""
    n, sign = len(scores), scores[0].scale.sign
    # The p-values that are printed: with one-sided ones (half as large, as at WMT) a system with a
    # printed p of .06 could be in another cluster than the baseline.
    p = np.full((n, n), np.nan)
    for (i, j), test in tests.items():
        p[i, j] = p[j, i] = test.p
    names = [each.system for each in scores]
    values = [float(each.value) for each in scores]
    clusters = rank_clusters(names, sign * np.asarray(values), p, alpha=alpha)
    rank = {name: k for k, cluster in enumerate(clusters, start=1) for name in cluster.names}
    first = [tests[i, 0] for i in range(1, n)]
    corrected = [None, *holm([test.p for test in first]).tolist()]
    label, ranks = scores[0].label, [rank[name] for name in names]
    columns = zip(names, [label] * n, values, ranks, [None, *first], corrected, strict=True)
    return [ComparisonEntry(*column) for column in columns]


def _order(scores: Scores, ids: Sequence[str]) -> list[int]:
    """Return the rows of a system's scores in the order of these segments."""
    row = {name: i for i, name in enumerate(scores.ids)}
    return [row[name] for name in ids]
