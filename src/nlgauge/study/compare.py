"""Paired tests between systems for any metric, and the segments on which they differ most."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
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
    """1 for the best; systems of one cluster are not significantly different."""
    test: PairedTest | None = None
    p: float | None = None
    """Two-sided, Holm-corrected over the systems tested."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        test = self.test
        interval = test.interval if test else None
        return {
            "metric": self.metric,
            "system": self.system,
            "value": self.value,
            "difference": test.difference if test else None,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
            "p": self.p,
            "p_uncorrected": test.p if test else None,
            "cluster": self.cluster,
        }


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
    entries_key: ClassVar[str] = "systems"

    def of(self, metric: str) -> tuple[ComparisonEntry, ...]:
        """Return the entries of one metric, the baseline first."""
        return tuple(entry for entry in self.entries if entry.metric == metric)

    def differing(self, count: int, metric: str | None = None) -> tuple[SegmentDifference, ...]:
        """Return the segments with the largest score differences between system and baseline.

        At most `count` per system, largest first; of the first metric by default.
        """
        label = metric or self.entries[0].metric
        if label not in self.signatures:
            known = ", ".join(self.signatures)
            raise OptionError(f"no metric {label!r} here; there are {known}.")
        rows, values = self._by_segment(self.baseline, label)
        found: list[SegmentDifference] = []
        for system in list(self.scores)[1:]:
            own_rows, own_values = self._by_segment(system, label)
            gaps = {name: value - values[name] for name, value in own_values.items()}
            for name in sorted(gaps, key=lambda name: -abs(gaps[name]))[:count]:
                if gaps[name] == 0:
                    break
                found.append(
                    SegmentDifference(
                        metric=label,
                        segment=name,
                        system=system,
                        baseline=self.baseline,
                        difference=gaps[name],
                        value=own_values[name],
                        baseline_value=values[name],
                        candidate=self.corpus.candidates[own_rows[name]],
                        baseline_candidate=self.corpus.candidates[rows[name]],
                        references=self.corpus.references[own_rows[name]],
                    )
                )
        return tuple(found)

    def _by_segment(self, system: str, label: str) -> tuple[dict[str, int], dict[str, float]]:
        """Return rows of the corpus and segment scores by segment id."""
        scores = self.scores[system][label]
        rows = dict(zip(scores.ids, self.corpus.rows_of(system), strict=True))
        return rows, dict(zip(scores.ids, scores.segments.tolist(), strict=True))

    @property
    def method_note(self) -> str:
        """A sentence on the method of the p-values."""
        return (
            f"p against {self.baseline}: {self.method}, {self.count:,} times over "
            f"{self.segments:,} segments, seed {self.seed}; two-sided, Holm-corrected"
        )

    def summary(self) -> dict[str, Any]:
        """Return the baseline and the options of the test."""
        return {
            "baseline": self.baseline,
            "method": self.method,
            "count": self.count,
            "seed": self.seed,
            "segments": self.segments,
        }


def compare(
    systems: Mapping[str, Sequence[str]] | Corpus,
    references: References = (),
    *,
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
    systems : mapping or Corpus
        Candidates of the same segments by system, the baseline first.
    references : sequence
        References per segment; not for a Corpus, which has its own.
    metrics : str, Metric or sequence of them
    method : "bootstrap" or "randomisation"
        The paired test.
    count, seed : int
        Resamples and their seed.
    alpha : float
        Level of the one-sided tests between clusters.
    runtime, progress
        As in `nlgauge.score`.

    Returns
    -------
    Comparison
        Its p-values are two-sided and Holm-corrected over the systems.

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
    corpus = systems if isinstance(systems, Corpus) else _corpus(systems, references)
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
    for label in scores[names[0]]:
        of_metric = [scores[name][label] for name in names]
        rows = [_in_order(each, of_metric[0].ids) for each in of_metric]
        counts = np.array([float(len(of_metric[0].ids))])

        def finish(total: Floats, first: Scores = of_metric[0], n: Floats = counts) -> float:
            return float(first.metric.finish(total[None, :], n)[0, 0])

        tests = {
            (i, j): test(rows[i], rows[j], finish, count=count, seed=seed)
            for i in range(len(rows))
            for j in range(i)
        }
        entries += _entries(of_metric, tests, alpha)
    notes = tuple(
        f"{system}, {label}: {warning}"
        for system, by_label in scores.items()
        for label, found in by_label.items()
        for warning in found.warnings
    )
    return Comparison(
        entries=tuple(entries),
        notes=notes,
        signatures={label: str(found.signature) for label, found in scores[names[0]].items()},
        baseline=names[0],
        corpus=corpus,
        scores=scores,
        method=next(entry.test.method for entry in entries if entry.test is not None),
        count=count,
        seed=seed,
        segments=len(corpus.rows_of(names[0])),
    )


def _check(corpus: Corpus, method: str) -> None:
    """Raise an error for an unknown test, a single system, or systems on different segments."""
    if method not in ("bootstrap", "randomisation"):
        raise OptionError(f"method is {method!r}; it is 'bootstrap' or 'randomisation'.")
    first, *others = corpus.system_names
    if not others:
        raise UsageError(
            f"a comparison needs at least 2 systems, but there is 1 ({first!r}); "
            "`nlgauge score` scores a single one"
        )
    expected = {corpus.ids[row] for row in corpus.rows_of(first)}
    for name in others:
        ids = {corpus.ids[row] for row in corpus.rows_of(name)}
        if ids != expected:
            raise DataError(
                f"{name!r} and {first!r} do not have the same segments: {len(ids - expected)} "
                f"are only in {name!r}, {len(expected - ids)} only in {first!r}, "
                f"{len(ids & expected)} in both; a paired test needs the same ones"
            )


def _corpus(systems: Mapping[str, Sequence[str]], references: References) -> Corpus:
    if not systems:
        raise UsageError("a comparison needs at least 2 systems, but there is none")
    return Corpus.join(
        [
            Corpus.of(texts, references, systems=[name] * len(texts))
            for name, texts in systems.items()
        ]
    )


def _entries(
    scores: Sequence[Scores], tests: Mapping[tuple[int, int], PairedTest], alpha: float
) -> list[ComparisonEntry]:
    """Return all systems under one metric: tests against the first, clusters from all pairs."""
    n, sign = len(scores), scores[0].scale.sign
    better = np.full((n, n), np.nan)
    for (i, j), test in tests.items():
        better[i, j] = test.p / 2 if sign * test.difference > 0 else 1 - test.p / 2
        better[j, i] = 1 - better[i, j]
    names = [each.system for each in scores]
    values = [float(each.value) for each in scores]
    clusters = rank_clusters(names, sign * np.asarray(values), better, alpha=alpha)
    rank = {name: k for k, cluster in enumerate(clusters, start=1) for name in cluster.names}
    against_first = [None, *(tests[i, 0] for i in range(1, n))]
    corrected = [None, *holm([tests[i, 0].p for i in range(1, n)]).tolist()]
    return [
        ComparisonEntry(
            name, scores[i].label, values[i], rank[name], against_first[i], corrected[i]
        )
        for i, name in enumerate(names)
    ]


def _in_order(scores: Scores, ids: Sequence[str]) -> Floats:
    """Return the statistics of a system in the baseline's order of segments."""
    row = {name: i for i, name in enumerate(scores.ids)}
    return np.asarray(scores.statistics[[row[name] for name in ids]], dtype=np.float64)
