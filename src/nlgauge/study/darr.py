"""daRR: agreement of metrics with people on the order of two outputs for one segment."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.data.judged import JudgedCorpus
from nlgauge.data.wmt import Pairs, read_pairs
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress
from nlgauge.stats import Interval, Judgements
from nlgauge.stats import darr as ranked_pairs
from nlgauge.stats.darr import THRESHOLD, KendallLike
from nlgauge.study.study import Missing, Study, StudyResult, choose_criteria, measure, read_source


@dataclass(frozen=True)
class TauEntry:
    """The Kendall-like tau of one metric, and its interval if requested."""

    metric: str
    tau: KendallLike
    interval: Interval | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        counts = asdict(self.tau)
        tau = to_jsonable(counts.pop("value"))
        limits = self.interval.to_dict() if self.interval else {}
        return {"metric": self.metric, "tau": tau, **limits, **counts}


@dataclass(frozen=True, eq=False)
class DarrResult(StudyResult[TauEntry]):
    """The taus of all metrics over the same pairs."""

    pairs: Pairs
    entries_key: ClassVar[str] = "metrics"

    def value(self, metric: str) -> float:
        """Return the tau of one metric."""
        taus = {entry.metric: entry.tau.value for entry in self.entries}
        if metric not in taus:
            raise OptionError(f"no metric {metric!r} here; there are {', '.join(taus)}.")
        return taus[metric]

    def summary(self) -> dict[str, Any]:
        """Return the numbers of pairs, segments and systems."""
        pairs = self.pairs
        return {"pairs": len(pairs), "segments": len(pairs.segments), "systems": len(pairs.systems)}


def darr(
    data: JudgedCorpus | str | Path,
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
) -> DarrResult:
    """Return WMT's Kendall-like tau of metrics over ranked pairs; ties of a metric are discordant.

    Only outputs in a pair are scored.

    Parameters
    ----------
    data, metrics, scores, distances, missing, runtime, progress : as in `measure`
    pairs : Pairs, str or Path, ranked pairs or a file; by default derived from the assessments
    human : str, the criterion of the pairs, direct assessments from 0 to 100
    threshold : float, points by which the outputs of a pair differ at least
    confidence, count, seed : coverage, resamples and seed of bootstrap intervals over segments

    Returns
    -------
    DarrResult

    Raises
    ------
    DataError
        Without pairs, for pairs whose outputs are missing, and for pairs without a stored score.

    Examples
    --------
    >>> from nlgauge.core.corpus import Corpus
    >>> corpus = Corpus.of(["a b", "c"], ["a b", "a b"], systems=["x", "y"])
    >>> darr(JudgedCorpus(corpus, {"da": [90, 20]}, ()), "chrf").value("chrf")
    1.0
    """
    judged = read_source(data, scores, distances)
    if pairs is None:
        ranked = rank_pairs(judged, human, threshold)
    else:
        ranked = pairs if isinstance(pairs, Pairs) else read_pairs(str(pairs))
    stored: dict[str, Any] = {"scores": scores, "distances": distances, "missing": missing}
    compared = outputs_in_pairs(judged, ranked)
    study = measure(compared, metrics, **stored, runtime=runtime, progress=progress)
    entries = taus(study, ranked, confidence=confidence, count=count, seed=seed)
    return DarrResult(entries, (*ranked.notes, *study.notes), study.signatures, ranked)


def taus(
    study: Study, pairs: Pairs, *, confidence: float | None = None, count: int = 1000, seed: int = 0
) -> tuple[TauEntry, ...]:
    """Return the tau of every metric of a study over the pairs."""
    entries = []
    for metric in study.metrics:
        values = -metric.values if metric.direction == "lower" else metric.values
        indexed = ranked_pairs.pairs_from_names(pairs, metric.systems, metric.segments)
        tau = ranked_pairs.kendall_like(values, indexed)
        gaps = tau.pairs_missing
        if gaps == len(pairs) or (gaps and study.missing == "error"):
            raise DataError(
                f"{metric.name} lacks a score for {gaps:,} of {len(pairs):,} pairs; score them, or "
                "use missing='keep' (--missing keep) to leave those pairs out and count them, if "
                "any remain."
            )
        interval = None
        if confidence is not None:
            interval = ranked_pairs.bootstrap_kendall_like(
                values, indexed, count=count, confidence=confidence, seed=seed
            )
        entries.append(TauEntry(metric.name, tau, interval))
    return tuple(entries)


def rank_pairs(
    judged: JudgedCorpus, human: str | None = None, threshold: float = THRESHOLD
) -> Pairs:
    """Return the pairs of outputs for one segment whose assessments differ by the threshold."""
    if human is None and len(judged.human) > 1:
        raise OptionError(
            f"the data has {len(judged.human)} criteria ({', '.join(judged.human)}); ranked pairs "
            "are derived from one with raw scores from 0 to 100: name it with human= (--human)."
        )
    (criterion,) = choose_criteria(tuple(judged.human), human)
    people = Judgements.from_columns(judged.corpus.systems, judged.corpus.ids, judged.human)
    matrix = people.matrix(criterion)
    ranked = ranked_pairs.pairs_from_scores(matrix, threshold)
    triples = tuple(
        (people.segments[segment], people.systems[better], people.systems[worse])
        for segment, better, worse in zip(ranked.segment, ranked.better, ranked.worse, strict=True)
    )
    if not triples:
        raise DataError(_no_pairs_reason(matrix, criterion, threshold))
    systems = {name for triple in triples for name in triple[1:]}
    segments = {triple[0] for triple in triples}
    note = (
        f"{len(triples):,} pairs of {len(systems)} systems on {len(segments):,} segments "
        f"differ by {threshold:g} or more in {criterion!r}."
    )
    return Pairs(triples, (note,))


def outputs_in_pairs(judged: JudgedCorpus, pairs: Pairs) -> JudgedCorpus:
    """Return the outputs in a pair; DataError if one of them is missing."""
    cells = list(zip(judged.corpus.systems, judged.corpus.ids, strict=True))
    needed = {(name, segment) for segment, *both in pairs for name in both}
    gaps = needed - set(cells)
    if gaps:
        system, segment = min(gaps)
        absent = {name for name, _ in gaps} - set(judged.corpus.systems)
        names = f", all of {', '.join(sorted(absent))} among them" if absent else ""
        raise DataError(
            f"{len(gaps):,} of the {len(needed):,} outputs that the pairs compare are not in the "
            f"data{names}, for example of {system!r} on segment {segment!r}; give matching files, "
            "or leave the pairs of a system out with Pairs.without."
        )
    keep = [row for row, cell in enumerate(cells) if cell in needed]
    return judged.take(keep, f"{len(keep):,} of {len(cells):,} outputs are in a pair.")


def _no_pairs_reason(matrix: Floats, criterion: str, threshold: float) -> str:
    judged = np.isfinite(matrix)
    if not (judged.sum(axis=0) > 1).any():
        systems = f"{int(judged.any(axis=1).sum())} systems are judged in {criterion!r}"
        return f"no segment has two judged systems ({systems}), so there are no pairs to rank."
    return (
        f"no two outputs for one segment differ by {threshold:g} or more in {criterion!r}, whose "
        f"values range from {np.nanmin(matrix):.4g} to {np.nanmax(matrix):.4g}; ranked pairs are "
        "made of raw scores from 0 to 100: choose another criterion or another threshold."
    )
