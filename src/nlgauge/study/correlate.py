"""How well metrics agree with people: correlations, intervals, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

from nlgauge.core.errors import DataError, OptionError
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress
from nlgauge.stats import Correlation, Interval, Judgements
from nlgauge.stats.coefficients import choose_coefficient
from nlgauge.stats.intervals import Over
from nlgauge.stats.levels import choose_level
from nlgauge.study.metric_pairs import Corpora, Drawing, Segments
from nlgauge.study.study import Missing, Source, Study, listed, measure

SystemScore = Literal["mean", "corpus"]

_FEW_SYSTEMS = 3  # below it a correlation over systems is +1, -1 or nothing


@dataclass(frozen=True)
class Agreed:
    """The correlation of one metric with one criterion, and its interval if one was asked for."""

    metric: str
    criterion: str
    correlation: Correlation
    interval: Interval | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, None for what is undefined."""
        found, interval = self.correlation, self.interval
        content: dict[str, Any] = {
            "metric": self.metric,
            "criterion": self.criterion,
            "level": found.level,
            "coefficient": found.coefficient,
            "value": _plain(found.value),
        }
        if interval is not None:
            content |= interval.to_dict()
        counts = {"n": found.n, "rows_used": found.rows_used, "undefined": found.rows_undefined}
        return content | counts | {"reason": found.reason}


@dataclass(frozen=True, eq=False)
class Agreement:
    """All correlations that were asked for, and what was said on the way."""

    entries: tuple[Agreed, ...]
    remarks: tuple[str, ...]
    signatures: Mapping[str, str]

    def value(self, metric: str, criterion: str, level: str, coefficient: str = "pearson") -> float:
        """One of the correlations."""
        key = metric, criterion, choose_level(level), choose_coefficient(coefficient).name
        for entry in self.entries:
            found = entry.correlation
            if (entry.metric, entry.criterion, found.level, found.coefficient) == key:
                return found.value
        raise OptionError(f"{' / '.join(key)} is not among the {len(self.entries)} correlations.")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "correlations": [entry.to_dict() for entry in self.entries],
            "signatures": dict(self.signatures),
            "notes": list(self.remarks),
        }


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
) -> Agreement:
    """Correlations of metrics with people, by metric, criterion, level and coefficient.

    ``human`` names criteria (all, if none), ``levels`` are segment, text and system (segment, if
    none, and system where at least 3 are judged). ``confidence`` (.95, say) adds bootstrap
    intervals over inputs, systems or both. At the system level a system's score is the mean of its
    segments, or with ``system_score="corpus"`` the metric's own corpus score, which for BLEU
    differs. ``scores``, ``distances`` and ``missing`` are those of ``measure``. A Study, from
    ``measure``, is not scored again.
    """
    if system_score not in ("mean", "corpus"):
        raise OptionError(f"system_score is {system_score!r}; it is 'mean' or 'corpus'.")
    asked = [choose_level(level) for level in listed(levels)]
    names = [choose_coefficient(name).name for name in listed(coefficients)]
    drawing = None if confidence is None else Drawing(confidence, over, count, seed)
    made = data
    if not isinstance(made, Study):
        made = measure(
            *(made, metrics),
            scores=scores,
            distances=distances,
            missing=missing,
            runtime=runtime,
            progress=progress,
        )
    chosen = asked or _usual_levels(made.judgements)
    entries: list[Agreed] = []
    for criterion in made.criteria(human):
        grid = made.grid(criterion)
        for level in dict.fromkeys(chosen):
            for label in made.labels:
                pair: Segments | Corpora = Segments(grid.metric(label), grid.human, level)
                if level == "system" and system_score == "corpus" and label not in made.stored:
                    pair = Corpora.of(made, label, grid)
                entries += [
                    Agreed(label, criterion, pair.correlation(name), pair.interval(name, drawing))
                    for name in dict.fromkeys(names)
                ]
    _refuse_nothing(entries)
    remarks = [*made.remarks(), *_undefined(entries)]
    if "system" in chosen:
        remarks += _averaged(made) if system_score == "mean" else _without_corpus_score(made)
    return Agreement(tuple(entries), tuple(remarks), made.signatures)


def _plain(value: float) -> float | None:
    return value if isfinite(value) else None


def _usual_levels(judgements: Judgements) -> list[str]:
    many = len(judgements.systems) >= _FEW_SYSTEMS
    return ["segment", "system"] if many else ["segment"]


def _refuse_nothing(entries: Sequence[Agreed]) -> None:
    """Refuse a result of which no number is defined, with the first reason."""
    if any(isfinite(entry.correlation.value) for entry in entries):
        return
    first = entries[0]
    others = "" if len(entries) == 1 else f", nor are the other {len(entries) - 1:,} correlations"
    raise DataError(
        f"the {first.correlation.level}-level {first.correlation.coefficient} of {first.metric!r} "
        f"with {first.criterion!r} is not defined: {first.correlation.reason}{others}."
    )


def _averaged(made: Study) -> list[str]:
    """A sentence on the metrics whose corpus score is no mean of segment scores, if any."""
    first = next(iter(made.board.values()))
    others = [
        label
        for label, scores in first.items()
        if abs(scores.value - float(scores.segments.mean())) > 1e-6 * max(1.0, abs(scores.value))
    ]
    if not others:
        return []
    return [
        f"{', '.join(others)}: at the system level the mean of segment scores was taken, which is "
        "not the corpus score; ask for the system score 'corpus' to take that."
    ]


def _without_corpus_score(made: Study) -> list[str]:
    """A sentence on the stored scores, if any, which have no other system score than their mean."""
    if not made.stored:
        return []
    return [f"{', '.join(made.stored)}: no corpus score is stored; the mean of segments was taken."]


def _undefined(entries: Sequence[Agreed]) -> list[str]:
    """A sentence for every number that is undefined or rests on fewer rows than there are."""
    said: dict[str, list[str]] = {}
    for entry in entries:
        found = entry.correlation
        where = f"{entry.criterion}, {found.level} level, {found.coefficient}"
        if found.reason:
            said.setdefault(f"{where} is undefined: {found.reason}", []).append(entry.metric)
        elif found.rows_undefined:
            total = found.rows_used + found.rows_undefined
            share = f"{found.rows_undefined:,} of {total:,} inputs are undefined"
            because = "constant, or fewer than 2 judged systems"
            said.setdefault(f"{where}: {share} ({because})", []).append(entry.metric)
    return [f"{', '.join(dict.fromkeys(who))}: {what}." for what, who in said.items()]
