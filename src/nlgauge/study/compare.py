"""Whether systems differ: paired tests over the statistics of any metric, and where they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError, UsageError
from nlgauge.core.scores import Scores
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress, Scorer
from nlgauge.stats import Paired, holm, paired_bootstrap, paired_randomisation, rank_clusters
from nlgauge.stats.intervals import Finish

Array = NDArray[np.float64]
Method = Literal["bootstrap", "randomisation"]


@dataclass(frozen=True)
class Compared:
    """One system under one metric, tested against the baseline; a baseline has no test."""

    system: str
    metric: str
    value: float
    cluster: int
    """1 for the best; systems of one cluster cannot be told apart."""
    test: Paired | None = None
    p: float | None = None
    """Two-sided, Holm-corrected over the systems tested."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
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
class Differing:
    """A segment on which a system and the baseline got very different scores."""

    metric: str
    segment: str
    system: str
    baseline: str
    value: float
    baseline_value: float
    candidate: str
    baseline_candidate: str
    references: tuple[str, ...]

    @property
    def difference(self) -> float:
        """The system's score minus the baseline's."""
        return self.value - self.baseline_value

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "metric": self.metric,
            "segment": self.segment,
            "system": self.system,
            "baseline": self.baseline,
            "difference": self.difference,
            "value": self.value,
            "baseline_value": self.baseline_value,
            "candidate": self.candidate,
            "baseline_candidate": self.baseline_candidate,
            "references": list(self.references),
        }


@dataclass(frozen=True, eq=False)
class Comparison:
    """All systems under all metrics, each against the first."""

    baseline: str
    entries: tuple[Compared, ...]
    corpus: Corpus
    board: Mapping[str, Mapping[str, Scores]]
    method: str
    count: int
    seed: int
    segments: int

    def of(self, metric: str) -> tuple[Compared, ...]:
        """The entries of one metric, the baseline first."""
        return tuple(entry for entry in self.entries if entry.metric == metric)

    def differing(self, count: int, metric: str | None = None) -> tuple[Differing, ...]:
        """The segments on which each system and the baseline differ most under a metric.

        The largest difference first, whichever system is ahead; the first metric if none is named.
        """
        label = metric or self.entries[0].metric
        if label not in self.board[self.baseline]:
            known = ", ".join(self.board[self.baseline])
            raise OptionError(f"no metric {label!r} here; there are {known}.")
        found: list[Differing] = []
        ours = self.board[self.baseline][label]
        base_rows = dict(zip(ours.ids, self.corpus.rows_of(self.baseline), strict=True))
        base_values = dict(zip(ours.ids, ours.segments.tolist(), strict=True))
        for system in list(self.board)[1:]:
            scores = self.board[system][label]
            rows = self.corpus.rows_of(system)
            values = scores.segments.tolist()
            gaps = [abs(v - base_values[i]) for i, v in zip(scores.ids, values, strict=True)]
            order = sorted(range(len(gaps)), key=lambda k: -gaps[k])
            for k in order[:count]:
                if gaps[k] == 0:
                    break
                segment = scores.ids[k]
                found.append(
                    Differing(
                        metric=label,
                        segment=segment,
                        system=system,
                        baseline=self.baseline,
                        value=values[k],
                        baseline_value=base_values[segment],
                        candidate=self.corpus.candidates[rows[k]],
                        baseline_candidate=self.corpus.candidates[base_rows[segment]],
                        references=self.corpus.references[rows[k]],
                    )
                )
        return tuple(found)

    @property
    def said(self) -> str:
        """How the p-values were made."""
        return (
            f"p against {self.baseline}: {self.method}, {self.count:,} times over "
            f"{self.segments:,} segments, seed {self.seed}; two-sided, Holm-corrected"
        )

    def remarks(self) -> tuple[str, ...]:
        """What the metrics noted, by system."""
        return tuple(
            f"{system}, {label}: {warning}"
            for system, scores_of in self.board.items()
            for label, scores in scores_of.items()
            for warning in scores.warnings
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        first = self.board[self.baseline]
        return {
            "baseline": self.baseline,
            "method": self.method,
            "count": self.count,
            "seed": self.seed,
            "segments": self.segments,
            "systems": [entry.to_dict() for entry in self.entries],
            "signatures": {label: str(scores.signature) for label, scores in first.items()},
            "notes": list(self.remarks()),
        }


def compare(
    systems: Mapping[str, Sequence[str]] | Corpus,
    references: Sequence[str | Sequence[str | None]] = (),
    *,
    metrics: Spec | Sequence[Spec] = "bleu",
    method: Method = "bootstrap",
    count: int = 1000,
    seed: int = 0,
    alpha: float = 0.05,
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> Comparison:
    """Paired tests of every system against the first, for every metric, and clusters of all.

    ``systems`` maps names to candidates of the same segments (or is a Corpus that holds several
    systems and their references). p-values are two-sided and Holm-corrected over the systems.
    A cluster ends where all systems above beat all below with one-sided p < ``alpha``.
    """
    corpus = systems if isinstance(systems, Corpus) else _corpus(systems, references)
    _check(corpus, method)
    scorer = Scorer(metrics, runtime=runtime)
    board = scorer.score_corpus(corpus, progress=progress)
    return compare_scored(corpus, board, method=method, count=count, seed=seed, alpha=alpha)


def compare_scored(
    corpus: Corpus,
    board: Mapping[str, Mapping[str, Scores]],
    *,
    method: Method = "bootstrap",
    count: int = 1000,
    seed: int = 0,
    alpha: float = 0.05,
) -> Comparison:
    """The tests of ``compare`` on scores that are there already."""
    _check(corpus, method)
    names = corpus.system_names
    entries: list[Compared] = []
    for label in board[names[0]]:
        scores = [board[name][label] for name in names]
        entries += _tested(scores, method, count, seed, alpha)
    method_name = next(entry.test.method for entry in entries if entry.test is not None)
    segments = len(corpus.rows_of(names[0]))
    return Comparison(names[0], tuple(entries), corpus, board, method_name, count, seed, segments)


def _check(corpus: Corpus, method: str) -> None:
    """Refuse an unknown test, a single system, and systems that answered different segments."""
    if method not in ("bootstrap", "randomisation"):
        raise OptionError(f"method is {method!r}; it is 'bootstrap' or 'randomisation'.")
    names = corpus.system_names
    if len(names) < 2:
        raise UsageError(
            f"a comparison needs at least 2 systems, but there is 1 ({names[0]!r}); "
            "`nlgauge score` scores a single one"
        )
    _same_segments(corpus)


def _corpus(
    systems: Mapping[str, Sequence[str]], references: Sequence[str | Sequence[str | None]]
) -> Corpus:
    if not systems:
        raise UsageError("a comparison needs at least 2 systems, but there is none")
    parts = [
        Corpus.of(texts, references, systems=[name] * len(texts)) for name, texts in systems.items()
    ]
    return Corpus.join(parts)


def _same_segments(corpus: Corpus) -> None:
    first, *others = corpus.system_names
    expected = {corpus.ids[row] for row in corpus.rows_of(first)}
    for name in others:
        ids = {corpus.ids[row] for row in corpus.rows_of(name)}
        if ids != expected:
            raise DataError(
                f"{name!r} and {first!r} did not answer the same segments: {len(ids - expected)} "
                f"are only in {name!r}, {len(expected - ids)} only in {first!r}, "
                f"{len(ids & expected)} in both; a paired test needs the same ones"
            )


def _tested(
    scores: Sequence[Scores], method: Method, count: int, seed: int, alpha: float
) -> list[Compared]:
    """All systems under one metric: tests against the first, and clusters from all pairs."""
    ids = scores[0].ids
    rows = [_in_order(each, ids) for each in scores]
    finish = _finisher(scores[0], len(ids))
    n = len(scores)
    tests: dict[tuple[int, int], Paired] = {}
    for i in range(n):
        for j in range(i):
            test = paired_bootstrap if method == "bootstrap" else paired_randomisation
            tests[i, j] = test(rows[i], rows[j], finish, count=count, seed=seed)
    better = np.full((n, n), np.nan)
    sign = scores[0].scale.sign
    for (i, j), test_of in tests.items():
        ahead = sign * test_of.difference > 0
        better[i, j] = test_of.p / 2 if ahead else 1 - test_of.p / 2
        better[j, i] = 1 - better[i, j]
    values = np.asarray([each.value for each in scores])
    names = [each.system for each in scores]
    clusters = rank_clusters(names, sign * values, better, alpha=alpha)
    rank = {name: k for k, cluster in enumerate(clusters, start=1) for name in cluster.names}
    corrected = holm([tests[i, 0].p for i in range(1, n)]).tolist()
    return [
        Compared(
            *(names[i], scores[i].label, float(values[i]), rank[names[i]]),
            *((tests[i, 0], corrected[i - 1]) if i else ()),
        )
        for i in range(n)
    ]


def _in_order(scores: Scores, ids: Sequence[str]) -> Array:
    """The statistics of a system in the baseline's order of segments."""
    row = {name: i for i, name in enumerate(scores.ids)}
    return np.asarray(scores.statistics[[row[name] for name in ids]], dtype=np.float64)


def _finisher(scores: Scores, segments: int) -> Finish:
    counts = np.array([float(segments)])
    return lambda total: float(scores.metric.finish(total[None, :], counts)[0, 0])
