"""Correlations of metrics with people, with intervals and notes about omissions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose, isfinite
from typing import Any, ClassVar, Literal

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress
from nlgauge.stats import (
    LEVELS,
    Correlation,
    Interval,
    bootstrap_correlation,
    calibrate_ties,
    chance_accuracy,
    fisher_interval,
)
from nlgauge.stats import correlate as correlate_matrices
from nlgauge.stats.levels import Average, check_average, choose_level
from nlgauge.stats.named_coefficients import Coefficient, choose_coefficient
from nlgauge.stats.permutation_tests import rank_by_differences
from nlgauge.stats.validation import Over
from nlgauge.study.level_scores import LevelScores, SystemScore, check_system_score, is_averaged
from nlgauge.study.study import Missing, Source, Study, StudyResult, as_list, measure
from nlgauge.study.system_scores import ScoredSystems

IntervalMethod = Literal["bootstrap", "fisher"]

_MIN_SYSTEMS = 3  # with fewer, a correlation over systems is +1, -1 or undefined


@dataclass(frozen=True)
class Ties:
    """The tie threshold of acc_eq, which was chosen on the same data, and its chance level."""

    threshold: float
    chance: float
    """Mean acc_eq of the metric's scores shuffled within inputs."""


@dataclass(frozen=True)
class CorrelationEntry:
    """The correlation of one metric with one criterion, and its interval if requested."""

    metric: str
    criterion: str
    correlation: Correlation
    interval: Interval | None = None
    ties: Ties | None = None
    """How acc_eq treats ties, and its chance level; None for other coefficients."""
    rank: int | None = None
    """Rank by significance among the metrics; None if no test was requested."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, None for what is undefined."""
        result = self.correlation
        return {
            "metric": self.metric,
            "criterion": self.criterion,
            "level": result.level,
            "coefficient": result.coefficient,
            "value": to_jsonable(result.value),
            **(self.interval.to_dict() if self.interval else {}),
            "tie_threshold": self.ties and self.ties.threshold,
            "chance": self.ties and self.ties.chance,
            **({} if self.rank is None else {"rank": self.rank}),
            "n": result.n,
            "rows_used": result.rows_used,
            "undefined": result.rows_undefined,
            "reason": result.reason,
        }


class Correlations(StudyResult[CorrelationEntry]):
    """Correlations by metric, criterion, level and coefficient."""

    entries_key: ClassVar[str] = "correlations"

    def value(self, metric: str, criterion: str, level: str, coefficient: str = "pearson") -> float:
        """Return one of the correlations."""
        key = metric, criterion, choose_level(level), choose_coefficient(coefficient).name
        for entry in self.entries:
            result = entry.correlation
            if (entry.metric, entry.criterion, result.level, result.coefficient) == key:
                return result.value
        raise OptionError(f"{' / '.join(key)} is not among the {len(self.entries)} correlations.")


def correlate(
    data: Source | Study,
    metrics: Spec | Sequence[Spec] = "bleu",
    *,
    human: str | Sequence[str] | None = None,
    levels: str | Sequence[str] | None = None,
    coefficients: str | Sequence[str] = "pearson",
    confidence: float | None = None,
    interval: IntervalMethod = "bootstrap",
    over: Over = "inputs",
    average: Average = "macro",
    ranks: bool = False,
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
    levels : "segment", "text", "by_system", "document" (if the data names documents), "system" or
        several; by default segment, and system if there are 3
    coefficients : "pearson", "spearman", "kendall_b", "kendall_c", "accuracy" or several; also
        "acc_eq" (text and system level), "spa" (system level) and "pairwise_pearson" (text level),
        which are left out at other levels
    confidence : float, adds intervals of this coverage
    interval : "bootstrap" (`count` resamples `over` inputs, systems or both) or "fisher" (Pearson's
        r at the segment, document and system level)
    average : "macro" or "micro", whether means over inputs (text) or systems (by_system) weight
        a coefficient by the number of its outputs
    ranks : bool, adds ranks of the metrics by permutation tests with p <= .05, as at WMT: `count`
        exchanges of cells, for acc_eq of decisions on pairs, at the system level of system scores
    system_score : "mean" of judged segments, mean of "all" scored segments, judged or not, or the
        metric's "corpus" score, which for BLEU differs

    Returns
    -------
    Correlations

    Raises
    ------
    DataError or OptionError
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
    check_system_score(system_score)
    level_names = list(dict.fromkeys(choose_level(level) for level in as_list(levels)))
    statistics = {
        statistic.name: statistic for statistic in map(choose_coefficient, as_list(coefficients))
    }
    for statistic in statistics.values():
        if not set(level_names or LEVELS) & set(statistic.levels):
            statistic.check_level(level_names[0])
    stored: dict[str, Any] = {"scores": scores, "distances": distances, "missing": missing}
    study = data
    if not isinstance(study, Study):
        study = measure(study, metrics, **stored, runtime=runtime, progress=progress)
    enough_systems = len(study.judgements.systems) >= _MIN_SYSTEMS
    names = _names_by_level(statistics.values(), level_names, enough_systems)
    _check_interval(interval if confidence is not None else "bootstrap", names)
    _check_used(average, system_score, names)
    options: dict[str, Any] = {"over": over, "count": count, "confidence": confidence, "seed": seed}
    entries: list[CorrelationEntry] = []
    for criterion in study.criteria(human):
        for level in names:
            measured = LevelScores.of(study, criterion, level, system_score)
            for name in names[level]:
                mean: Average = average if is_averaged(level, name) else "macro"
                found = _correlate_all(measured, criterion, name, mean, interval, options)
                if ranks:
                    tested = measured.differences(name, average=mean, count=count, seed=seed)
                    order = rank_by_differences([e.correlation.value for e in found], tested)
                    found = [replace(e, rank=rank) for e, rank in zip(found, order, strict=True)]
                entries += found
    _check_any_defined(entries)
    notes = [
        *study.notes,
        *_undefined_row_notes(entries),
        *_undefined_level_notes(statistics.values(), level_names),
    ]
    notes += [*_ties_notes(entries), *_few_points_notes(entries)]
    if "system" in names:
        notes += _system_score_notes(study, system_score, names["system"])
    return Correlations(tuple(entries), tuple(notes), study.signatures)


def _correlate_all(
    measured: LevelScores,
    criterion: str,
    name: str,
    average: Average,
    interval: IntervalMethod,
    options: Mapping[str, Any],
) -> list[CorrelationEntry]:
    """Return a coefficient of every metric at a level, with its interval if requested."""
    entries = []
    for label in measured.grid.metrics:
        values = (*measured.matrices(label, name), measured.level)
        result = correlate_matrices(*values, name, average=average)
        limits = None
        if options["confidence"] is not None:
            systems = measured.systems.get(label) if name != "spa" else None
            limits = _interval(values, systems, name, interval, options, average)
        ties = _ties(*values) if name == "acc_eq" and result.rows_used else None
        entries.append(CorrelationEntry(label, criterion, result, limits, ties))
    return entries


def _names_by_level(
    statistics: Iterable[Coefficient], level_names: Sequence[str], enough_systems: bool
) -> dict[str, list[str]]:
    """Return the names of the coefficients by level: the wanted levels, or suitable ones."""
    names: dict[str, list[str]] = {level: [] for level in level_names or LEVELS}
    for statistic in statistics:
        levels = [level for level in level_names if level in statistic.levels]
        if not level_names:
            default = ("segment", "system") if statistic.levels == LEVELS else statistic.levels
            levels = [level for level in default if enough_systems or level != "system"]
        for level in levels or statistic.levels:
            names[level].append(statistic.name)
    return {level: coefficients for level, coefficients in names.items() if coefficients}


def _check_interval(interval: str, names: Mapping[str, Sequence[str]]) -> None:
    """Raise OptionError for an unknown interval, and for Fisher's where it is not defined."""
    if interval not in ("bootstrap", "fisher"):
        raise OptionError(f"interval is {interval!r}; it is 'bootstrap' or 'fisher'.")
    for level, coefficients in names.items() if interval == "fisher" else ():
        for name in coefficients:
            if name != "pearson" or level in ("text", "by_system"):
                raise OptionError(
                    "Fisher's interval is that of Pearson's r at the segment, document and system "
                    f"level, not of {name} at the {level} level; use the interval 'bootstrap'."
                )


def _check_used(
    average: Average, system_score: SystemScore, names: Mapping[str, Sequence[str]]
) -> None:
    """Raise OptionError for an option that no coefficient at these levels uses."""
    pairs = [(level, name) for level in names for name in names[level]]
    if not any(is_averaged(*pair) for pair in pairs):
        level, name = pairs[0]
        check_average(average, level, choose_coefficient(name))
    if system_score != "mean" and "system" not in names:
        raise OptionError(
            f"system_score={system_score!r} is for the system level, but what is computed is at "
            f"the level {' and '.join(names)}; add the level 'system', or leave out system_score."
        )


def _ties(metric: Floats, human: Floats, level: str) -> Ties:
    threshold = calibrate_ties(metric, human, level).epsilon
    return Ties(threshold, chance_accuracy(metric, human, level).value)


def _interval(
    values: tuple[Floats, Floats, str],
    systems: ScoredSystems | None,
    name: str,
    method: IntervalMethod,
    options: Mapping[str, Any],
    average: Average,
) -> Interval:
    """Return the interval of a coefficient of matrices, or of systems if they have own scores."""
    if method == "fisher":
        return fisher_interval(*values, confidence=options["confidence"])
    if systems is not None:
        return systems.interval(name, **options)
    return bootstrap_correlation(*values, name, average=average, **options)


def _ties_notes(entries: Sequence[CorrelationEntry]) -> list[str]:
    """Return a sentence on the chance level and the tie thresholds of acc_eq at every level."""
    notes: dict[str, list[str]] = {}
    for entry in entries:
        if entry.ties is not None:
            text = f"{entry.metric} {entry.ties.chance:.3f} (ties: {entry.ties.threshold:.4g})"
            key = f"{entry.criterion}, {entry.correlation.level} level"
            notes.setdefault(key, []).append(text)
    return [
        f"{key}: chance level of acc_eq, and the largest difference that is a tie, which was "
        f"chosen on the same judgements: {', '.join(texts)}."
        for key, texts in notes.items()
    ]


def _few_points_notes(entries: Sequence[CorrelationEntry]) -> list[str]:
    """Return a sentence for every level with too few points for Fisher's interval."""
    lines = {
        f"{value.level} level: Fisher's interval needs at least 4 points, but there are {value.n}."
        for value, interval in ((entry.correlation, entry.interval) for entry in entries)
        if interval is not None and interval.method == "fisher" and value.n < 4
    }
    return sorted(lines)


def _undefined_level_notes(
    statistics: Iterable[Coefficient], level_names: Sequence[str]
) -> list[str]:
    """Return a sentence for every coefficient and wanted level at which it is not defined."""
    return [
        f"{statistic.name} is not defined at the {level} level."
        for statistic in statistics
        for level in level_names
        if level not in statistic.levels
    ]


def _check_any_defined(entries: Sequence[CorrelationEntry]) -> None:
    if any(isfinite(entry.correlation.value) for entry in entries):
        return
    first, result = entries[0], entries[0].correlation
    others = "" if len(entries) == 1 else f", nor are the other {len(entries) - 1:,} correlations"
    raise DataError(
        f"the {result.level}-level {result.coefficient} of {first.metric!r} with "
        f"{first.criterion!r} is not defined: {result.reason}{others}."
    )


def _system_score_notes(study: Study, system_score: str, names: Sequence[str]) -> list[str]:
    """Return a sentence on the metrics whose system score is not their corpus score."""
    note = "no corpus score is stored; the mean of segments was taken."
    labels = list(study.stored)
    if system_score != "corpus":
        note = (
            "the score of a system is the mean of its segment scores, not the corpus score; "
            "`nlgauge correlate --system-score corpus` (in Python system_score='corpus') uses that."
        )
        labels = [
            label
            for label, each in study.first_scores.items()
            if not isclose(each.value, each.segments.mean(), rel_tol=1e-6, abs_tol=1e-6)
        ]
    notes = [f"{', '.join(labels)}: {note}"] if labels else []
    if system_score == "corpus" and "spa" in names:
        notes.append("spa tests differences of segment scores, so it has no corpus score.")
    return notes


def _undefined_row_notes(entries: Sequence[CorrelationEntry]) -> list[str]:
    """Return a sentence for every number that is undefined or based on fewer rows."""
    notes: dict[str, dict[str, None]] = {}
    for entry in entries:
        result = entry.correlation
        if not result.rows_undefined:
            continue
        rows, cells = (
            ("systems", "inputs") if result.level == "by_system" else ("inputs", "systems")
        )
        share = f"{result.rows_undefined:,} of {result.rows_used + result.rows_undefined:,} {rows}"
        because = f": {share} are undefined (constant, or fewer than 2 judged {cells})"
        if result.reason:
            because = f" is undefined: {result.reason}"
        note = f"{entry.criterion}, {result.level} level, {result.coefficient}{because}."
        notes.setdefault(note, {})[entry.metric] = None
    return [f"{', '.join(metrics)}: {note}" for note, metrics in notes.items()]
