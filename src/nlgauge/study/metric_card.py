"""Metric card: the properties of a metric on judged data, from agreement to cost."""

import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, UsageError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.core.metric import Metric
from nlgauge.core.quality_band import QualityBand
from nlgauge.data.judged import JudgedCorpus
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress, Scorer
from nlgauge.stats.coefficients import row_means
from nlgauge.stats.intervals import Interval
from nlgauge.stats.partial_correlation import partial_correlation
from nlgauge.study.compare import compare_scored
from nlgauge.study.correlate import Correlations, correlate
from nlgauge.study.pilots import SystemPilot
from nlgauge.study.quality_bands import quality_bands
from nlgauge.study.sample_size import plan_systems
from nlgauge.study.spans import SpanStudy, evaluate_spans
from nlgauge.study.study import Source, Study, measure, read_source
from nlgauge.text.perturbations import CHANGES
from nlgauge.text.tokenize import words

_COEFFICIENTS = ("pearson", "kendall_b")
_SYSTEM_COEFFICIENTS = ("acc_eq", "spa")  # coefficients that need several systems
_SAMPLE_TEXTS = 200  # number of texts that are corrupted, and scored to measure the cost
_SIZES = (100, 300, 1000, 3000)
_BANDS = 3
_UNDEFINED = "is not defined at the"  # in notes about coefficients, which the user did not request


@dataclass(frozen=True)
class Bias:
    """Whether the metric favours a property of texts more than people do."""

    property: str
    interval: Interval
    """Partial correlation of score and property, given the human score."""
    texts: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        value = to_jsonable(self.interval.value)
        fields = {"property": self.property, "partial_r": value, "texts": self.texts}
        return {**fields, **self.interval.to_dict()}


@dataclass(frozen=True)
class Sensitivity:
    """The response of the metric's scores to one kind of corruption."""

    change: str
    texts: int
    """Texts that could be changed."""
    worse: float
    """Share of them with a worse score than before."""
    mean_change: float
    """In standard deviations of the scores of all outputs; negative is worse."""


@dataclass(frozen=True)
class Cost:
    """Time per 1,000 outputs, without loading the model."""

    seconds: float
    cpu_seconds: float
    texts: int
    cores: int


@dataclass(frozen=True, eq=False)
class MetricCard:
    """A metric on judged data."""

    metric: str
    title: str
    signature: str
    about: str
    paper: str
    direction: str
    range: tuple[float | None, float | None]
    data: str
    criterion: str
    outputs: int
    systems: int
    inputs: int
    agreement: Correlations
    bands: tuple[QualityBand, ...]
    biases: tuple[Bias, ...]
    sensitivity: tuple[Sensitivity, ...]
    spans: SpanStudy | None
    power: SystemPilot | None
    cost: Cost | None
    notes: tuple[str, ...]

    @property
    def detectable(self) -> list[dict[str, Any]]:
        """The smallest detectable difference by number of segments."""
        if self.power is None:
            return []
        pilot = self.power
        return [{"segments": n, "difference": abs(pilot.detectable_at(n))} for n in _SIZES]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, None for what is undefined or was not computed."""
        fields = ("metric", "title", "signature", "about", "paper", "direction", "range", "data")
        counts = ("criterion", "outputs", "systems", "inputs")
        means = {band.name: float(band.scores.mean()) for band in self.bands}
        plain: dict[str, Any] = to_jsonable(
            {
                **{name: getattr(self, name) for name in (*fields, *counts)},
                "agreement": [entry.to_dict() for entry in self.agreement.entries],
                "mean_by_quality": means,
                "biases": [bias.to_dict() for bias in self.biases],
                "sensitivity": [asdict(each) for each in self.sensitivity],
                "spans": self.spans and self.spans.to_dict(),
                "detectable_differences": self.detectable,
                "cost": self.cost and asdict(self.cost),
                "notes": list(self.notes),
            }
        )
        return plain


def card(
    data: Source,
    metric: Spec,
    *,
    beside: Sequence[Spec] = ("bleu", "chrf"),
    human: str | None = None,
    stored: str | None = None,
    lower_is_better: bool = False,
    confidence: float = 0.95,
    count: int = 500,
    seed: int = 0,
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> MetricCard:
    """Return the card of a metric on judged data.

    Parameters
    ----------
    data : JudgedCorpus, str or Path, judged texts, or a file or folder with them
    metric : str or Metric; "" with `stored`
    beside : sequence of metrics to compare with
    human : str, the criterion; the first by default
    stored : str, name of scores stored with the data, instead of `metric`
    lower_is_better : bool, the direction of stored scores
    confidence, count, seed : coverage, resamples and seed of intervals and tests
    runtime, progress : as in `measure`

    Returns
    -------
    MetricCard; parts that the data does not support are empty, and a note states the reason

    Raises
    ------
    DataError or OptionError or UsageError
        If the data has no judgements or one input, and for unknown metrics, criteria or options.

    Examples
    --------
    >>> from nlgauge.core.corpus import Corpus
    >>> texts = ["a b", "a c", "d", "a b d", "b", "c"]
    >>> judged = JudgedCorpus(Corpus.of(texts, ["a b"] * 6), {"da": [5, 2, 1, 4, 3, 1]}, ())
    >>> found = card(judged, "chrf", beside=["bleu"], count=50)
    >>> round(found.agreement.value("chrf", "da", "segment"), 2)
    0.93
    """
    name = str(data) if isinstance(data, str | Path) else "judged texts"
    columns = [stored] if stored else []
    stored_options: dict[str, Any] = {"distances" if lower_is_better else "scores": columns}
    judged = read_source(data, **stored_options)
    if len(set(judged.corpus.ids)) < 2:
        raise DataError("a card needs at least 2 inputs to resample, but the data has 1.")
    specs = [*([] if stored else [metric]), *beside]
    study = measure(judged, _distinct(specs), **stored_options, runtime=runtime, progress=progress)
    label = study.stored[0] if stored else study.labels[0]
    criterion = study.criteria(human)[0]
    resampling: dict[str, Any] = {"confidence": confidence, "count": count, "seed": seed}
    levels = _levels(study)
    names = [*_COEFFICIENTS, *(_SYSTEM_COEFFICIENTS if "system" in levels else ())]
    agreement = correlate(
        study, human=criterion, levels=levels, coefficients=names, ranks=True, **resampling
    )
    notes: list[str] = []
    alone = study.only([label])
    scorer = None if stored else Scorer(metric, runtime=runtime)
    sensitivity, cost = _measure_sensitivity(judged, scorer, alone, seed) if scorer else ((), None)
    if stored:
        notes.append("stored scores: responses to changed texts, cost and power are not known.")
    first = study.first_scores.get(label)
    known = first.metric if first else None
    return MetricCard(
        metric=label,
        title=known.title if known else label,
        signature=study.signatures[label],
        about=_first_line(known),
        paper=known.paper if known else "",
        direction=next(each.direction for each in alone.metrics),
        range=first.scale.limits if first else (None, None),
        data=name,
        criterion=criterion,
        outputs=len(study.corpus),
        systems=len(study.judgements.systems),
        inputs=len(study.judgements.segments),
        agreement=agreement,
        bands=_bands(alone, criterion, notes),
        biases=_biases(alone, label, criterion, resampling),
        sensitivity=sensitivity,
        spans=_spans(judged, metric, known, resampling, runtime, notes),
        power=_power(study, label, criterion, notes) if known else None,
        cost=cost,
        notes=(*(note for note in agreement.notes if _UNDEFINED not in note), *notes),
    )


def _distinct(specs: Sequence[Spec]) -> list[Spec]:
    """Return the distinct metrics; those to compare with may include the card's own."""
    labels: dict[str, Spec] = {}
    for spec in specs:
        labels.setdefault(spec if isinstance(spec, str) else spec.label(), spec)
    return list(labels.values())


def _first_line(metric: Metric | None) -> str:
    return (type(metric).__doc__ or "").partition("\n")[0] if metric else ""


def _levels(study: Study) -> list[str]:
    """Return the levels that the data supports."""
    enough_systems = len(study.judgements.systems) >= 3
    documents = study.judgements.documents is not None
    inputs = len(study.judgements.segments) > 1
    allowed = {
        "segment": True,
        "text": enough_systems and inputs,
        "by_system": enough_systems and inputs,
        "document": documents,
        "system": enough_systems,
    }
    return [level for level, yes in allowed.items() if yes]


def _bands(study: Study, criterion: str, notes: list[str]) -> tuple[QualityBand, ...]:
    try:
        return next(iter(quality_bands(study, criterion, _BANDS).values()))
    except DataError as error:
        notes.append(f"no distributions by quality: {error}")
        return ()


def _biases(study: Study, label: str, criterion: str, options: dict[str, Any]) -> tuple[Bias, ...]:
    """Return the partial correlations of the score with length, and with copying the source."""
    corpus, judgements = study.corpus, study.judgements
    grid = study.grid(criterion)
    column = {name: k for k, name in enumerate(judgements.segments)}
    row = {name: k for k, name in enumerate(judgements.systems)}
    places = [(row[s], column[i]) for s, i in zip(corpus.systems, corpus.ids, strict=True)]
    score = np.array([grid.metric(label)[place] for place in places])
    people = np.array([grid.human[place] for place in places])
    segments = np.array([place[1] for place in places])
    lengths = [
        np.log((len(text) + 1) / (np.mean([len(each) for each in references or ("",)]) + 1))
        for text, references in zip(corpus.candidates, corpus.references, strict=True)
    ]
    properties: dict[str, Floats] = {"longer than the reference": np.array(lengths)}
    if corpus.sources is not None:
        pairs = zip(corpus.candidates, corpus.sources, strict=True)
        properties["copied from the source"] = np.array([_share_copied(*pair) for pair in pairs])
    biases = []
    for name, values in properties.items():
        known = np.isfinite(score) & np.isfinite(people) & np.isfinite(values)
        if known.sum() > 3 and np.ptp(values[known]) > 0:
            parts = score[known], values[known], people[known]
            interval = partial_correlation(*parts, clusters=segments[known], **options)
            biases.append(Bias(name, interval, int(known.sum())))
    return tuple(biases)


def _share_copied(candidate: str, source: str | None) -> float:
    """Return the share of the candidate's words that the source contains."""
    tokens, known = words(candidate), set(words(source or ""))
    return sum(word in known for word in tokens) / len(tokens) if tokens else 0.0


def _measure_sensitivity(
    judged: JudgedCorpus, scorer: Scorer, study: Study, seed: int
) -> tuple[tuple[Sensitivity, ...], Cost]:
    """Return the response of scores to corrupted texts, and the cost of scoring."""
    corpus = judged.corpus
    rng = np.random.default_rng(seed)
    size = min(_SAMPLE_TEXTS, len(corpus))
    sample = np.sort(rng.choice(len(corpus), size, replace=False)).tolist()
    references = [corpus.references[k] for k in sample]
    sources = None if corpus.sources is None else [corpus.sources[k] or "" for k in sample]
    originals = [corpus.candidates[k] for k in sample]
    scorer = scorer.fitted(corpus.references) if scorer.needs_tables else scorer

    def score(texts: Sequence[str], rows: Sequence[int]) -> Floats:
        row_references = [references[k] for k in rows]
        row_sources = None if sources is None else [sources[k] for k in rows]
        (scores,) = scorer.score(texts, row_references, sources=row_sources).values()
        return scores.scale.sign * scores.segments

    everything = list(range(size))
    wall, cpu = time.perf_counter(), time.process_time()
    before = score(originals, everything)
    per_thousand = 1000 / size
    cost = Cost(
        (time.perf_counter() - wall) * per_thousand,
        (time.process_time() - cpu) * per_thousand,
        size,
        os.cpu_count() or 1,
    )
    values = study.metrics[0].values
    spread = float(values[np.isfinite(values)].std()) or np.nan
    responses = []
    for name, change in CHANGES.items():
        texts = [change(text, rng) for text in originals]
        rows = [k for k in everything if texts[k] != originals[k]]
        if not rows:
            responses.append(Sensitivity(name, 0, np.nan, np.nan))
            continue
        differences = score([texts[k] for k in rows], rows) - before[rows]
        worse = float((differences < 0).mean())
        responses.append(Sensitivity(name, len(rows), worse, float(differences.mean() / spread)))
    return tuple(responses), cost


def _spans(
    judged: JudgedCorpus,
    metric: Spec,
    known: Metric | None,
    options: dict[str, Any],
    runtime: Runtime,
    notes: list[str],
) -> SpanStudy | None:
    if judged.spans is None or known is None:
        return None
    try:
        return evaluate_spans(judged, metric, **options, runtime=runtime)
    except (UsageError, DataError) as error:
        notes.append(f"no error spans: {error}")
        return None


def _power(study: Study, label: str, criterion: str, notes: list[str]) -> SystemPilot | None:
    """Return the pilot of the two systems that people rate highest."""
    people = study.judgements.matrix(criterion)
    names, means = study.judgements.systems, row_means(people)
    order = np.argsort(-means, kind="stable")[:2]
    if len(order) < 2:
        notes.append("no power: the data has 1 system.")
        return None
    scores = {names[k]: {label: study.scores[names[k]][label]} for k in order}
    try:
        (pilot,) = plan_systems(compare_scored(study.corpus, scores, count=1)).pilots
    except (UsageError, DataError) as error:
        notes.append(f"no power: {error}")
        return None
    return pilot if isinstance(pilot, SystemPilot) else None
