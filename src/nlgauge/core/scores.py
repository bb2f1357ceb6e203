"""Scores: the corpus and segment scores of one system by one metric, with their signature."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import MissingExtra, UsageError
from nlgauge.core.metric import Direction, Metric, Scale
from nlgauge.core.plan import Plan
from nlgauge.core.signature import Signature
from nlgauge.core.spans import Span, WordCosts
from nlgauge.core.totals import CorpusScore, Resampled


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """The corpus value, segment values, components, notes and signature of one metric.

    Examples
    --------
    >>> import nlgauge
    >>> scores = nlgauge.score(["A cat sat."], ["The cat sat."], metrics=["chrf", "ter"])
    >>> scores["ter"]  # doctest: +ELLIPSIS
    Scores(ter 33.33, lower is better, 1 segment, ter|#:1|c:lc|t:tercom|nr:no|pn:yes|as:no|v:...)
    >>> scores["ter"].direction, scores["ter"].details
    ('lower', {'edits': 1, 'reference_length': 3})

    Any resampling of segments is ``metric.finish(weights @ statistics, weights.sum(axis=1))``.
    """

    metric: Metric
    label: str
    system: str
    ids: tuple[str, ...]
    statistics: Floats
    signature: Signature
    notes: Mapping[str, int] = field(default_factory=dict)
    aligner: Callable[[int], Plan] | None = None
    word_costs: Callable[[int], WordCosts] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling: without alignments, which need texts and models."""
        return {**self.__dict__, "aligner": None, "word_costs": None}

    def __copy__(self) -> "Scores":
        return self

    def __deepcopy__(self, memo: Any) -> "Scores":
        return self

    @property
    def scale(self) -> Scale:
        """Direction and range of the first component."""
        return self.metric.scale

    @property
    def direction(self) -> Direction:
        """``"higher"`` if higher values are better, else ``"lower"``."""
        return self.scale.direction

    @property
    def value(self) -> float:
        """The corpus score."""
        return self.corpus_score.value

    @property
    def components(self) -> dict[str, float]:
        """Corpus values of all components."""
        return self.corpus_score.components

    @property
    def details(self) -> dict[str, float]:
        """Corpus-level counts and ratios, such as the n-gram precisions of BLEU."""
        return self.corpus_score.details

    @cached_property
    def corpus_score(self) -> CorpusScore:
        """The corpus score without the segments."""
        names, totals = (self.metric, self.label, self.system), self.statistics.sum(axis=0)
        return CorpusScore(*names, len(self), totals, self.signature, self.notes)

    def resample(self, resamples: int = 1000, *, seed: int = 0) -> CorpusScore:
        """Return the corpus score with bootstrap resamples of segments, for intervals."""
        drawn = Resampled.of(self.ids, self.statistics, resamples, seed)
        return dataclasses.replace(self.corpus_score, resampled=drawn)

    @property
    def short_signature(self) -> Signature:
        """The signature with non-default options only; ``nlgauge.metric`` reads it, too."""
        return self.corpus_score.short_signature

    @property
    def segments(self) -> Floats:
        """The first component of every segment."""
        return self.segment_components[self.metric.components[0]]

    @cached_property
    def segment_components(self) -> dict[str, Floats]:
        """All components of every segment."""
        table = self.metric.finish_segments(self.statistics)
        return dict(zip(self.metric.components, table.T, strict=True))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes as sentences with the number of segments."""
        return self.corpus_score.warnings

    def plan(self, segment: int) -> Plan:
        """Return the token alignment of a segment with its best reference."""
        if self.aligner is None:
            raise UsageError("these scores were stored without texts, so they have no alignment")
        return self.aligner(segment)

    def spans(
        self, segment: int, *, minor: float | None = None, major: float | None = None
    ) -> tuple[Span, ...]:
        """Return the predicted errors of a segment: words that are expensive to match.

        Parameters
        ----------
        segment
            Position of the segment, from 0.
        minor, major
            Minimum cost of a word in an error, and minimum mean cost of a major error. They are
            known for some metrics with the embedded model; ``nlgauge spans`` chooses them for
            others.

        Raises
        ------
        UsageError
            If the metric has no alignments, or its thresholds are unknown.

        Examples
        --------
        >>> import nlgauge
        >>> metric = "wmd:model=hashing,special=drop,layer=0"
        >>> scores = nlgauge.score(["a cat sat"], ["a dog sat"], metrics=metric)[metric]
        >>> scores.spans(0, minor=0.5, major=1)
        (Span(start=2, end=5, severity='major', category=''),)
        """
        if self.word_costs is None:
            raise UsageError(
                "these scores were stored without texts, so they have no errors to mark"
            )
        thresholds = self.metric.choose_thresholds(minor, major)
        return self.word_costs(segment).spans(*thresholds)

    def __repr__(self) -> str:
        return f"Scores{repr(self.corpus_score).removeprefix('CorpusScore')}"

    def _repr_html_(self) -> str:
        return self.corpus_score._repr_html_()

    def __str__(self) -> str:
        return str(self.corpus_score)

    def to_dict(self, *, segments: bool = True) -> dict[str, Any]:
        """Return JSON-serialisable values."""
        content = self.corpus_score.to_dict()
        if segments:
            values = {name: each.tolist() for name, each in self.segment_components.items()}
            columns = {"id": self.ids, **values}
            rows = zip(*columns.values(), strict=True)
            content["segments"] = [dict(zip(columns, row, strict=True)) for row in rows]
        return content

    def to_frame(self) -> Any:
        """Return a long-format pandas frame: system, segment, metric, component, value."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("Scores.to_frame", "pandas", "frames") from None
        same = {"system": self.system, "segment": self.ids, "metric": self.label}
        named = self.segment_components.items()
        parts = [pd.DataFrame({**same, "component": name, "value": each}) for name, each in named]
        return pd.concat(parts, ignore_index=True)
