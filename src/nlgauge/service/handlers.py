"""What every endpoint does with an admitted request: a call of the library, and plain values."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.scores import Scores
from nlgauge.data.judged import Judged, Row
from nlgauge.scoring import Scorer
from nlgauge.service.admission import Admitted, Gate, Specs
from nlgauge.service.errors import Fault
from nlgauge.service.progress import Effort
from nlgauge.service.schemas import (
    AlignRequest,
    ComparePairs,
    CompareSystems,
    CorrelateRequest,
    MatrixOptions,
    References,
    ScorePairs,
    ScoreSystems,
    Work,
)
from nlgauge.service.settings import Settings
from nlgauge.study import Comparison, Study, bands, compare, correlate, matrix, measure

Answer = dict[str, Any]


def written(answer: Answer) -> bytes:
    """The answer as JSON."""
    try:
        return json.dumps(answer, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        raise Fault(
            422, "not_finite", "with these options a score is no finite number; choose others"
        ) from None


def perform(request: Work, gate: Gate, settings: Settings, effort: Effort) -> Answer:
    """The answer to any request that may be long."""
    specs, scorer, _ = gate.prepare(request.metrics)
    if isinstance(request, ScorePairs | ScoreSystems):
        board = scorer.score_corpus(corpus_of(request), progress=effort.progress)
        return score_answer(request, [s for of in board.values() for s in of.values()])
    if isinstance(request, ComparePairs | CompareSystems):
        return _compare(request, specs, settings, effort)
    return _correlate(request, specs, settings, effort)


def corpus_of(request: ScorePairs | ScoreSystems | ComparePairs | CompareSystems) -> Corpus:
    """The rows of a request."""
    if isinstance(request, ScoreSystems | CompareSystems):
        parts = [
            Corpus.of(texts, request.references, systems=[name] * len(texts))
            for name, texts in request.systems.items()
        ]
        return Corpus.join(parts)
    pairs = request.pairs
    return Corpus.of(
        [pair.candidate for pair in pairs],
        [pair.references for pair in pairs],
        systems=_column("system", [pair.system for pair in pairs]),
        ids=_column("id", [pair.id for pair in pairs]),
    )


def score_answer(request: ScorePairs | ScoreSystems, every: Sequence[Scores]) -> Answer:
    """What /v1/score answers."""
    answer = []
    for scores in every:
        content = scores.to_dict(segments=request.segments)
        if request.statistics:
            content |= {"statistics": scores.statistics.tolist(), "notes": dict(scores.notes)}
        answer.append(content)
    return {"scores": answer}


def align(request: AlignRequest, gate: Gate) -> Answer:
    """What /v1/align answers: the plan with the reference that counted, and the pair's scores."""
    admitted = gate.admit(request.metric)
    references = _listed(request.references)
    # The corpus tables are those of the pair, also when each reference is looked at alone.
    scorer = gate.scorer((admitted.spec,)).fit([references])
    (scores,) = scorer.score([request.candidate], [references]).values()
    (alone,) = scorer.score([request.candidate] * len(references), references).values()
    values = (scores.scale.sign * alone.segments).tolist()
    chosen = values.index(max(values))
    content = scores.to_dict(segments=False)
    for name in ("system", "segments_scored"):
        del content[name]
    plan = alone.plan(chosen).to_dict()
    layers = None
    if request.layers:
        layers = _layers(request.candidate, references[chosen], references, admitted, scorer, gate)
    return {**content, "reference": chosen, "plan": plan, "layers": layers}


def _layers(
    candidate: str,
    reference: str,
    references: list[str],
    admitted: Admitted,
    scorer: Scorer,
    gate: Gate,
) -> list[Answer]:
    """The plan of every layer of the metric alone."""
    (bound,) = scorer.metrics.values()
    spelled = getattr(bound, "layers", None)
    if spelled is None:
        raise OptionError(
            f"{bound.name} compares one layer, so there are no plans of several; "
            "leave out layers, or choose bary, mover or smd"
        )
    numbers = dict.fromkeys(bound.needs.layers)
    kinds = {n: dataclasses.replace(admitted.metric, **{"layers": n}) for n in numbers}
    alone = gate.scorer(tuple(kinds.values())).fit([references])
    found = alone.score([candidate], [[reference]]).values()
    return [
        {"layer": number, "value": scores.value, "plan": scores.plan(0).to_dict()}
        for number, scores in zip(kinds, found, strict=True)
    ]


def _compare(
    request: ComparePairs | CompareSystems, specs: Specs, settings: Settings, effort: Effort
) -> Answer:
    found = compare(
        _baseline_first(corpus_of(request), request.baseline),
        metrics=specs,
        method=request.method,
        count=request.count,
        seed=request.seed,
        alpha=request.alpha,
        runtime=settings.runtime,
        progress=effort.progress,
    )
    answer = found.to_dict()
    answer["systems"] = [_with_interval(entry, found) for entry in answer["systems"]]
    first = found.board[found.baseline]
    answer["differ"] = [
        each.to_dict() for label in first for each in found.differing(request.differ, label)
    ]
    return {**answer, "scales": _scales(first.values())}


def _with_interval(entry: Answer, found: Comparison) -> Answer:
    """The entry of a system and metric with the interval of its value."""
    scores = found.board[entry["system"]][entry["metric"]]
    low, high = scores.resample(found.count, seed=found.seed).interval()
    return {**entry, "value_low": _plain(low), "value_high": _plain(high)}


def _correlate(
    request: CorrelateRequest, specs: Specs, settings: Settings, effort: Effort
) -> Answer:
    judged = _judged(request)
    study = measure(
        judged.without(*request.without) if request.without else judged,
        specs,
        runtime=settings.runtime,
        progress=effort.progress,
    )
    agreement = correlate(
        study,
        human=request.human,
        levels=request.levels,
        coefficients=request.coefficients,
        confidence=request.confidence,
        over=request.over,
        count=request.count,
        seed=request.seed,
        system_score=request.system_score,
    )
    answer = agreement.to_dict()
    table, distributions, notes = _pictures(request, study)
    answer["notes"] += notes
    first = next(iter(study.board.values()))
    scales = _scales(first.values())
    return {**answer, "matrix": table, "distributions": distributions, "scales": scales}


def _pictures(request: CorrelateRequest, study: Study) -> tuple[Answer | None, Answer, list[str]]:
    """The matrix and the bands; what the data do not allow is said and left out."""
    notes: list[str] = []
    table = None
    if request.matrix is not None:
        try:
            table = _matrix(request.matrix, request.human, study)
        except DataError as error:
            notes.append(f"there is no matrix: {error}")
    distributions: Answer = {}
    for criterion in study.criteria(request.human):
        try:
            distributions[criterion] = _bands(study, criterion, request.bands)
        except DataError as error:
            notes.append(f"there are no distributions by {criterion!r}: {error}")
    return table, distributions, notes


def _matrix(chosen: MatrixOptions, human: list[str] | None, study: Study) -> Answer:
    found = matrix(
        study,
        human=human,
        level=chosen.level,
        coefficient=chosen.coefficient,
        cluster=chosen.cluster,
    )
    return {
        "names": list(found.names),
        "values": [[_plain(value) for value in row] for row in found.values.tolist()],
        "p": [[_plain(value) for value in row] for row in found.p.tolist()],
        "level": found.level,
        "coefficient": found.coefficient,
        "cells": found.cells,
        "cells_dropped": found.cells_dropped,
    }


def _bands(study: Study, criterion: str, count: int) -> Answer:
    return {
        label: [
            {
                "name": band.name,
                "scores": band.scores.tolist(),
                "places": band.places.tolist(),
                "density": [_plain(value) for value in band.density.tolist()],
            }
            for band in found
        ]
        for label, found in bands(study, criterion, count).items()
    }


def _judged(request: CorrelateRequest) -> Judged:
    segments = _column("segment", [row.segment for row in request.rows])
    return Judged.from_rows(
        [
            Row(
                system=row.system,
                segment=str(number) if segments is None else segments[number],
                candidate=row.candidate,
                references=tuple(_listed(row.references)),
                human={
                    name: math.nan if value is None else float(value)
                    for name, value in row.human.items()
                },
            )
            for number, row in enumerate(request.rows)
        ]
    )


def _baseline_first(corpus: Corpus, baseline: str | None) -> Corpus:
    names = corpus.system_names
    if baseline is None or baseline == names[0]:
        return corpus
    if baseline not in names:
        listed = ", ".join(names)
        raise OptionError(f"the baseline {baseline!r} is none of the systems: {listed}")
    order = sorted(range(len(corpus)), key=lambda row: corpus.systems[row] != baseline)
    return Corpus.of(
        [corpus.candidates[row] for row in order],
        [corpus.references[row] for row in order],
        systems=[corpus.systems[row] for row in order],
        ids=[corpus.ids[row] for row in order],
    )


def _column(name: str, values: list[str | None]) -> list[str] | None:
    """A column that all rows have, or none does."""
    given = [value for value in values if value is not None]
    if given and len(given) < len(values):
        raise DataError(
            f"{len(given)} of {len(values)} rows name their {name}; either all do, or none"
        )
    return given or None


def _listed(references: References) -> list[str]:
    return [references] if isinstance(references, str) else references


def _scales(every: Any) -> Answer:
    return {
        scores.label: {"direction": scores.scale.direction, "range": list(scores.scale.limits)}
        for scores in every
    }


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
