"""Correlations of metrics with people, with intervals and notes on what was left out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isclose, isfinite
from typing import Any, ClassVar, Literal

from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress
from nlgauge.stats import Correlation, Interval, bootstrap_correlation
from nlgauge.stats import correlate as correlate_matrices
from nlgauge.stats.levels import choose_level
from nlgauge.stats.named_coefficients import choose_coefficient
from nlgauge.stats.validation import Over
from nlgauge.study.corpus_scores import CorpusScores
from nlgauge.study.study import Missing, Source, Study, StudyResult, as_list, measure

SystemScore = Literal["mean", "corpus"]

_FEW_SYSTEMS = 3  # with fewer, a correlation over systems is +1, -1 or undefined


@dataclass(frozen=True)
class CorrelationEntry:
    """The correlation of one metric with one criterion, and its interval if requested."""

    metric: str
    criterion: str
    correlation: Correlation
    interval: Interval | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, None for what is undefined."""
        found = self.correlation
        return {
            "metric": self.metric,
            "criterion": self.criterion,
            "level": found.level,
            "coefficient": found.coefficient,
            "value": to_jsonable(found.value),
            **(self.interval.to_dict() if self.interval else {}),
            "n": found.n,
            "rows_used": found.rows_used,
            "undefined": found.rows_undefined,
            "reason": found.reason,
        }


class Correlations(StudyResult[CorrelationEntry]):
    """Correlations by metric, criterion, level and coefficient."""

    entries_key: ClassVar[str] = "correlations"

    def value(self, metric: str, criterion: str, level: str, coefficient: str = "pearson") -> float:
        """Return one of the correlations."""
        key = metric, criterion, choose_level(level), choose_coefficient(coefficient).name
        for entry in self.entries:
            found = entry.correlation
            if (entry.metric, entry.criterion, found.level, found.coefficient) == key:
                return found.value
        raise OptionError(f"{' / '.join(key)} is not among the {len(self.entries)} correlations.")


def correlate(
    data: Source | Study,
    metrics: Spec | Sequence[Spec] = "bleu",
    *,
    human: str | Sequence[str] | None = None,
    levels: str | Sequence[str] | None = None,
    coefficients: str | Sequence[str] = "pearson",
    confidence: float | None = None,
    over: Over = "inputs",
    count: int = 1000,
    seed: int = 0,
    system_score: SystemScore = "mean",
    scores: str | Sequence[str] = (),
    distances: str | Sequence[str] = (),
    missing: Missing = "error",
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> Correlations:
    """Return correlations of metrics with people, by metric, criterion, level and coefficient.

    Parameters
    ----------
    data : Study (which is not scored again), JudgedCorpus, str or Path
    metrics, scores, distances, missing, runtime, progress : as in `measure`
    human : str or sequence of str, the criteria; all by default
    levels : "segment", "text", "system" or several; by default segment, and system if there are 3
    coefficients : "pearson", "spearman", "kendall_b", "kendall_c", "accuracy" or several
    confidence : float, adds bootstrap intervals: `count` resamples `over` inputs, systems or both
    system_score : "mean" of segments or the metric's "corpus" score, which for BLEU differs

    Returns
    -------
    Correlations

    Raises
    ------
    DataError, OptionError
        If no correlation is defined; for an unknown option.

    Examples
    --------
    >>> from nlgauge.core.corpus import Corpus
    >>> from nlgauge.data import JudgedCorpus
    >>> corpus = Corpus.of(["a b", "a c", "d"], ["a b", "a b", "a b"])
    >>> found = correlate(JudgedCorpus(corpus, {"da": [3, 2, 1]}, ()), "chrf")
    >>> round(found.value("chrf", "da", "segment"), 2)
    0.96
    """
    if system_score not in ("mean", "corpus"):
        raise OptionError(f"system_score is {system_score!r}; it is 'mean' or 'corpus'.")
    wanted = [choose_level(level) for level in as_list(levels)]
    names = dict.fromkeys(choose_coefficient(name).name for name in as_list(coefficients))
    stored: dict[str, Any] = {"scores": scores, "distances": distances, "missing": missing}
    study = data
    if not isinstance(study, Study):
        study = measure(study, metrics, **stored, runtime=runtime, progress=progress)
    if not wanted:
        several = len(study.judgements.systems) >= _FEW_SYSTEMS
        wanted = ["segment", "system"] if several else ["segment"]
    options: dict[str, Any] = {"over": over, "count": count, "confidence": confidence, "seed": seed}
    entries: list[CorrelationEntry] = []
    for criterion in study.criteria(human):
        grid = study.grid(criterion)
        for level in dict.fromkeys(wanted):
            for label in study.labels:
                pair = grid.metric(label), grid.human, level
                one: Callable[..., Correlation] = partial(correlate_matrices, *pair)
                interval: Callable[..., Interval] = partial(bootstrap_correlation, *pair)
                if level == "system" and system_score == "corpus" and label not in study.stored:
                    corpus = CorpusScores.of(study, label, grid)
                    one, interval = corpus.correlation, corpus.interval
                for name in names:
                    drawn = None if confidence is None else interval(name, **options)
                    entries.append(CorrelationEntry(label, criterion, one(name), drawn))
    _check_any_defined(entries)
    notes = [*study.notes, *_undefined(entries)]
    if "system" in wanted:
        notes += _system_score_notes(study, system_score)
    return Correlations(tuple(entries), tuple(notes), study.signatures)


def _check_any_defined(entries: Sequence[CorrelationEntry]) -> None:
    if any(isfinite(entry.correlation.value) for entry in entries):
        return
    first, found = entries[0], entries[0].correlation
    others = "" if len(entries) == 1 else f", nor are the other {len(entries) - 1:,} correlations"
    raise DataError(
        f"the {found.level}-level {found.coefficient} of {first.metric!r} with "
        f"{first.criterion!r} is not defined: {found.reason}{others}."
    )


def _system_score_notes(study: Study, system_score: str) -> list[str]:
    """Return a sentence on the metrics whose system score is not their corpus score."""
    note = "no corpus score is stored; the mean of segments was taken."
    labels = list(study.stored)
    if system_score == "mean":
        note = (
            "at the system level the mean of segment scores was taken, which is not the corpus "
            "score; use the system score 'corpus' to take that."
        )
        labels = [
            label
            for label, each in study.first_scores.items()
            if not isclose(each.value, each.segments.mean(), rel_tol=1e-6, abs_tol=1e-6)
        ]
    return [f"{', '.join(labels)}: {note}"] if labels else []


def _undefined(entries: Sequence[CorrelationEntry]) -> list[str]:
    """Return a sentence for every number that is undefined or based on fewer rows."""
    notes: dict[str, dict[str, None]] = {}
    for entry in entries:
        found = entry.correlation
        if not found.rows_undefined:
            continue
        share = f"{found.rows_undefined:,} of {found.rows_used + found.rows_undefined:,} inputs"
        because = f": {share} are undefined (constant, or fewer than 2 judged systems)"
        if found.reason:
            because = f" is undefined: {found.reason}"
        note = f"{entry.criterion}, {found.level} level, {found.coefficient}{because}."
        notes.setdefault(note, {})[entry.metric] = None
    return [f"{', '.join(metrics)}: {note}" for note, metrics in notes.items()]
