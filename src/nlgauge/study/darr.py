"""daRR: how often metrics order two outputs of one segment as people do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.core.errors import DataError, OptionError
from nlgauge.data.detection import read_judged
from nlgauge.data.judged import Judged
from nlgauge.data.wmt import Pairs, read_pairs
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress
from nlgauge.stats import (
    Interval,
    Judgements,
    KendallLike,
    bootstrap_kendall_like,
    kendall_like,
    pairs_from_names,
    pairs_from_scores,
)
from nlgauge.stats.darr import THRESHOLD
from nlgauge.study.study import Missing, Source, Study, choose_criteria, listed, measure


@dataclass(frozen=True)
class Ranked:
    """The Kendall-like tau of one metric, and its interval if one was asked for."""

    metric: str
    tau: KendallLike
    interval: Interval | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        tau, interval = self.tau, self.interval
        content: dict[str, Any] = {
            "metric": self.metric,
            "tau": tau.value if isfinite(tau.value) else None,
        }
        if interval is not None:
            content |= interval.to_dict()
        return content | {
            "concordant": tau.concordant,
            "discordant": tau.discordant,
            "ties": tau.ties,
            "pairs_missing": tau.pairs_missing,
        }


@dataclass(frozen=True, eq=False)
class Ranking:
    """The taus of all metrics over the same pairs, and what was said on the way."""

    entries: tuple[Ranked, ...]
    pairs: Pairs
    remarks: tuple[str, ...]
    signatures: Mapping[str, str]

    def value(self, metric: str) -> float:
        """The tau of one metric."""
        for entry in self.entries:
            if entry.metric == metric:
                return entry.tau.value
        known = ", ".join(entry.metric for entry in self.entries)
        raise OptionError(f"no metric {metric!r} here; there are {known}.")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "pairs": len(self.pairs),
            "segments": len(self.pairs.segments),
            "systems": len(self.pairs.systems),
            "metrics": [entry.to_dict() for entry in self.entries],
            "signatures": dict(self.signatures),
            "notes": list(self.remarks),
        }


def darr(
    data: Source,
    metrics: Spec | Sequence[Spec] = "bleu",
    *,
    pairs: Pairs | str | Path | None = None,
    human: str | None = None,
    threshold: float = THRESHOLD,
    confidence: float | None = None,
    count: int = 1000,
    seed: int = 0,
    scores: str | Sequence[str] = (),
    distances: str | Sequence[str] = (),
    missing: Missing = "error",
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> Ranking:
    """WMT's Kendall-like tau of metrics over ranked pairs, ties of a metric discordant.

    The pairs are given, or read from a file, or made of the direct assessments (0-100) of the
    criterion ``human``: two outputs for one segment that differ by ``threshold`` points or more.
    Only outputs that stand in a pair are scored. ``confidence`` adds bootstrap intervals over
    segments. ``scores``, ``distances`` and ``missing`` are those of ``measure``.
    """
    judged = data
    if not isinstance(judged, Judged):
        judged = read_judged(judged, stored=[*listed(scores), *listed(distances)])
    if pairs is None:
        ranked = rank_pairs(judged, human, threshold)
    else:
        ranked = pairs if isinstance(pairs, Pairs) else read_pairs(str(pairs))
    study = measure(
        *(in_pairs(judged, ranked), metrics),
        scores=scores,
        distances=distances,
        missing=missing,
        runtime=runtime,
        progress=progress,
    )
    entries = rank(study, ranked, confidence=confidence, count=count, seed=seed, missing=missing)
    return Ranking(entries, ranked, (*ranked.said, *study.remarks()), study.signatures)


def rank(
    study: Study,
    pairs: Pairs,
    *,
    confidence: float | None = None,
    count: int = 1000,
    seed: int = 0,
    missing: Missing = "error",
) -> tuple[Ranked, ...]:
    """The tau of every metric that was measured, over the pairs."""
    entries = []
    for each in study.measured:
        upward = -each.values if each.direction == "lower" else each.values
        indexed = pairs_from_names(pairs, each.systems, each.segments)
        tau = kendall_like(upward, indexed)
        _refuse_gap(each.name, tau, len(pairs), missing)
        interval = None
        if confidence is not None:
            interval = bootstrap_kendall_like(
                upward, indexed, count=count, confidence=confidence, seed=seed
            )
        entries.append(Ranked(each.name, tau, interval))
    return tuple(entries)


def rank_pairs(judged: Judged, human: str | None = None, threshold: float = THRESHOLD) -> Pairs:
    """The pairs of outputs for one segment whose assessments differ by the threshold or more."""
    if human is None and len(judged.criteria) > 1:
        raise OptionError(
            f"the data has {len(judged.criteria)} criteria ({', '.join(judged.criteria)}); ranked "
            "pairs are made of one, of raw scores from 0 to 100: name it with human= (--human)."
        )
    (criterion,) = choose_criteria(judged.criteria, human)
    people = Judgements.from_rows(judged.rows())
    matrix = people.matrix(criterion)
    found = pairs_from_scores(matrix, threshold)
    triples = tuple(
        (people.segments[segment], people.systems[better], people.systems[worse])
        for segment, better, worse in zip(found.segment, found.better, found.worse, strict=True)
    )
    if not triples:
        raise DataError(_why_none(matrix, criterion, threshold))
    made = Pairs(triples, ())
    said = (
        f"{len(made):,} pairs of {len(made.systems)} systems on {len(made.segments):,} segments "
        f"differ by {threshold:g} or more in {criterion!r}."
    )
    return Pairs(triples, (said,))


def in_pairs(judged: Judged, pairs: Pairs) -> Judged:
    """The outputs that stand in a pair; a pair whose output is not there is refused."""
    cells = list(zip(judged.corpus.systems, judged.corpus.ids, strict=True))
    wanted = {(name, segment) for segment, *both in pairs for name in both}
    lost = wanted - set(cells)
    if lost:
        system, segment = min(lost)
        absent = {name for name, _ in lost} - set(judged.corpus.systems)
        whole = f", all of {', '.join(sorted(absent))} among them" if absent else ""
        raise DataError(
            f"{len(lost):,} of the {len(wanted):,} outputs that the pairs compare are not in the "
            f"data{whole}, for example of {system!r} on segment {segment!r}; give matching files, "
            "or leave the pairs of a system out with Pairs.without."
        )
    keep = [row for row, cell in enumerate(cells) if cell in wanted]
    return judged.take(keep, f"{len(keep):,} of {len(cells):,} outputs stand in a pair.")


def _why_none(matrix: np.ndarray[Any, Any], criterion: str, threshold: float) -> str:
    """Why there is no pair, in a sentence."""
    judged = np.isfinite(matrix)
    if not (judged.sum(axis=0) > 1).any():
        return (
            f"no segment has two judged systems ({int(judged.any(axis=1).sum())} systems are "
            f"judged in {criterion!r}), so there are no pairs to rank."
        )
    low, high = float(np.nanmin(matrix)), float(np.nanmax(matrix))
    return (
        f"no two outputs for one segment differ by {threshold:g} or more in {criterion!r}, whose "
        f"values range from {low:.4g} to {high:.4g}; ranked pairs are made of raw scores from 0 "
        "to 100: choose another criterion or another threshold."
    )


def _refuse_gap(metric: str, tau: KendallLike, pairs: int, missing: str) -> None:
    if tau.pairs_missing == pairs or (tau.pairs_missing and missing == "error"):
        raise DataError(
            f"{metric} lacks a score for {tau.pairs_missing:,} of {pairs:,} pairs; score them, or "
            "say missing='keep' (--missing keep) to leave those pairs out and count them, if any "
            "remain."
        )
