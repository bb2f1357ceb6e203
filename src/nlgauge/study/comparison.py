"""Comparison: the result of paired tests between systems."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import OptionError
from nlgauge.core.scores import Scores
from nlgauge.stats.paired_tests import PairedTest
from nlgauge.study.study import StudyResult, SystemScores


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
    method: str
    """The test, which may be exact for some pairs only."""

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
    candidate: str | None = None
    """The texts, unless only scores are known."""
    baseline_candidate: str | None = None
    references: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self) | {"references": list(self.references)}


@dataclass(frozen=True, eq=False)
class Comparison(StudyResult[ComparisonEntry]):
    """All systems under all metrics, each tested against the first."""

    baseline: str
    corpus: Corpus | None
    """The texts; None for stored scores."""
    scores: SystemScores
    method: str
    count: int
    """Random resamples or exchanges; 0 if all tests are exact."""
    seed: int
    segments: int
    units: int
    """The unit of resampling or exchange: segments, or their clusters."""
    alpha: float
    pairs: tuple[SystemPair, ...]
    """The tests of all pairs of systems."""
    clusters: Mapping[str, Hashable] | None = None
    """The cluster of every segment by its id, if there are clusters."""
    entries_key: ClassVar[str] = "systems"

    def of(self, metric: str) -> tuple[ComparisonEntry, ...]:
        """Return the entries of one metric, the baseline first."""
        return tuple(entry for entry in self.entries if entry.metric == metric)

    @property
    def worse(self) -> tuple[ComparisonEntry, ...]:
        """The entries of systems that are significantly worse than the baseline (p Holm)."""
        first = self.scores[self.baseline]
        return tuple(
            entry
            for entry in self.entries
            if entry.test is not None
            and entry.p_holm is not None
            and entry.p_holm < self.alpha
            and entry.test.difference * first[entry.metric].scale.sign < 0
        )

    def differing(self, count: int, metric: str | None = None) -> tuple[SegmentDifference, ...]:
        """Return the `count` segments per system whose scores differ most from the baseline's."""
        label = metric or self.entries[0].metric
        if label not in self.signatures:
            known = ", ".join(self.signatures)
            raise OptionError(f"no metric {label!r} here; there are {known}.")
        first, base_rows = self.scores[self.baseline][label], self._rows_of(self.baseline)
        segments: list[SegmentDifference] = []
        for system in list(self.scores)[1:]:
            scores, rows = self.scores[system][label], self._rows_of(system)
            at = order_of(first, scores.ids)
            gaps = scores.segments - first.segments[at]
            for i in np.argsort(-np.abs(gaps), kind="stable")[:count]:
                if gaps[i] == 0:
                    break
                segments.append(
                    SegmentDifference(
                        *(label, scores.ids[i], system, self.baseline),
                        difference=float(gaps[i]),
                        value=float(scores.segments[i]),
                        baseline_value=float(first.segments[at[i]]),
                        **(self._texts(rows[i], base_rows[at[i]]) if rows else {}),
                    )
                )
        return tuple(segments)

    def _rows_of(self, system: str) -> tuple[int, ...]:
        return () if self.corpus is None else self.corpus.rows_of(system)

    def _texts(self, row: int, baseline_row: int) -> dict[str, Any]:
        """Return the texts of a system's row and of the baseline's, if there are texts."""
        if self.corpus is None:
            return {}
        texts, references = self.corpus.candidates, self.corpus.references[row]
        outputs = {"candidate": texts[row], "baseline_candidate": texts[baseline_row]}
        return {**outputs, "references": references}

    @property
    def test_note(self) -> str:
        """A sentence about the method of the p-values."""
        units = f"{self.segments:,} segments"
        if self.units != self.segments:
            units = f"{self.units:,} clusters of {units}"
        resampling = f", {self.count:,} times over {units}, seed {self.seed}"
        detail = resampling if self.count else f" of {units}"
        return f"p against {self.baseline}: {self.method}{detail}; two-sided"

    @property
    def method_note(self) -> str:
        """A sentence about the method of the Holm-corrected p-values."""
        return f"{self.test_note}, Holm-corrected"

    @property
    def cluster_note(self) -> str:
        """A sentence about the definition of clusters."""
        level = f"{self.alpha:g}".removeprefix("0")
        return f"systems of different clusters: p uncorrected < {level} for every pair"

    def summary(self) -> dict[str, Any]:
        """Return the baseline, the options of the test and the tests of all pairs."""
        names = ("baseline", "method", "count", "seed", "segments", "units", "alpha")
        options = {name: getattr(self, name) for name in names}
        return {**options, "pairs": [pair.to_dict() for pair in self.pairs]}


def order_of(scores: Scores, ids: Sequence[str]) -> list[int]:
    """Return the rows of a system's scores in the order of these segments."""
    row = {name: i for i, name in enumerate(scores.ids)}
    return [row[name] for name in ids]
