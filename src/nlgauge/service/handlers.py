"""Handlers of the endpoints, which call the library and return results as JSON values."""

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from operator import itemgetter
from typing import Any

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.core.metric import Metric
from nlgauge.core.scores import Scores
from nlgauge.core.spans import Span
from nlgauge.data.judged import JudgedCorpus, JudgedRow
from nlgauge.data.rater_labels import RaterLabels
from nlgauge.scoring import Scorer
from nlgauge.service import schemas
from nlgauge.service.admission import Admission
from nlgauge.service.alignments import plan_answer, predicted_spans
from nlgauge.service.cards import card_answer
from nlgauge.service.errors import ServiceError
from nlgauge.service.metric_tests import metric_tests
from nlgauge.service.settings import Settings
from nlgauge.service.task import Task, flat
from nlgauge.study import compare, correlate, judge, matrix, measure, quality_bands
from nlgauge.study.segment_table import compared_segments, judged_cells

Answer = dict[str, Any]


def encode_json(answer: Answer) -> bytes:
    """Return the response as JSON."""
    try:
        return json.dumps(answer, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        message = "with these options a score is not a finite number; choose others"
        raise ServiceError(422, "not_finite", message) from None


def handle(request: schemas.Body, admission: Admission, settings: Settings, task: Task) -> Answer:
    """Return the response to a request."""
    if isinstance(request, schemas.AlignRequest):
        return align(request, admission)
    if isinstance(request, schemas.JudgeRequest):
        return _judge(request)
    specs, scorer = admission.prepare(request.metrics)
    study: dict[str, Any] = {
        "metrics": specs,
        "runtime": settings.runtime,
        "progress": task.progress,
    }
    if isinstance(request, schemas.ScoreBody):
        board = scorer.score_corpus(corpus_of(request), progress=task.progress)
        return score_answer(request, flat(board))
    if isinstance(request, schemas.CompareBody):
        return _compare(request, study)
    if isinstance(request, schemas.CardRequest):
        return card_answer(request, _judged(request), **study)
    return _correlate(request, study)


def corpus_of(request: schemas.ScoreBody | schemas.CompareBody) -> Corpus:
    """Return the rows of a request as a corpus."""
    if isinstance(request, schemas.ScoreSystems | schemas.CompareSystems):
        return Corpus.of_systems(request.systems, request.references, sources=request.sources)
    if isinstance(request, schemas.ScoreLists):
        options = {"sources": request.sources, "ids": request.ids}
        return Corpus.of(request.candidates, request.references, **options)
    pairs = request.pairs
    return Corpus.of(
        [pair.candidate for pair in pairs],
        [pair.references for pair in pairs],
        sources=_column("source", [pair.source for pair in pairs]),
        systems=_column("system", [pair.system for pair in pairs]),
        ids=_column("id", [pair.id for pair in pairs]),
    )


def score_answer(request: schemas.ScoreBody, every: Sequence[Scores]) -> Answer:
    """Return the response of /v1/score."""
    answer = [scores.to_dict(segments=request.segments) for scores in every]
    for content, scores in zip(answer, every, strict=True):
        if request.statistics:
            content |= {"statistics": scores.statistics.tolist(), "notes": dict(scores.notes)}
    return {"scores": answer}


def align(request: schemas.AlignRequest, admission: Admission) -> Answer:
    """Return the response of /v1/align: the scores, and the plan with the best reference."""
    admitted = admission.admit(request.metric)
    references = _as_list(request.references)
    scorer = admission.scorer((admitted.spec,))
    (aligned,) = scorer.align(request.candidate, references).values()
    content = aligned.scores.to_dict(segments=False)
    del content["system"], content["segments_scored"]
    by_layer = _single_layers(admitted.metric, scorer) if request.layers else {}
    plans = 1 + len(by_layer)
    show = partial(plan_answer, metric=admitted.metric, words=request.words, plans=plans)
    content |= {"reference": aligned.reference, **show(aligned.plan), "layers": None}
    content["spans"] = predicted_spans(aligned, request.minor, request.major)
    if by_layer:
        # Corpus tables are fitted on all references of the pair.
        layers = admission.scorer(tuple(by_layer.values())).fitted([references])
        alignments = layers.align(request.candidate, references[aligned.reference]).values()
        content["layers"] = [
            {"layer": number, "value": each.scores.value, "plan": show(each.plan)["plan"]}
            for number, each in zip(by_layer, alignments, strict=True)
        ]
    return content


def _single_layers(metric: Metric, scorer: Scorer) -> dict[int, Metric]:
    """Return a metric for each single layer of a metric."""
    (bound,) = scorer.metrics.values()
    if not hasattr(bound, "layers"):
        raise OptionError(
            f"{bound.name} compares one layer, so there are no plans of several; leave out layers, "
            "or choose a metric that /v1/metrics lists as layered"
        )
    return {n: dataclasses.replace(metric, **{"layers": n}) for n in bound.needs.layers}


def _compare(request: schemas.CompareBody, study: Mapping[str, Any]) -> Answer:
    corpus = _baseline_first(corpus_of(request), request.baseline)
    options = request.model_dump(include={"method", "count", "seed", "alpha"})
    result = compare(corpus, **options, **study)
    answer = result.to_dict()
    for entry in answer["systems"]:
        scores = result.scores[entry["system"]][entry["metric"]]
        interval = scores.resample(result.count, seed=result.seed).interval()
        entry["value_low"], entry["value_high"] = to_jsonable(interval)
    first = result.scores[result.baseline]
    differ = [each for label in first for each in result.differing(request.differ, label)]
    answer["differ"] = [each.to_dict() for each in differ]
    table = compared_segments(result) if request.segments else None
    return {**answer, "segment_scores": table, "scales": _scales(first.values())}


def _correlate(request: schemas.CorrelateRequest, study_options: Mapping[str, Any]) -> Answer:
    judged = _judged(request)
    judged = judged.without(*request.without) if request.without else judged
    study = measure(judged, **study_options)
    handled_fields = {"rows", "metrics", "without", "bands", "matrix", "segments", "tests"}
    answer = correlate(study, **request.model_dump(exclude=handled_fields)).to_dict()
    answer |= {"matrix": None, "distributions": {}, "tests": [], "cells": None}
    if request.tests is not None:
        key = itemgetter("criterion", "level", "coefficient")
        keys = list(dict.fromkeys(map(key, answer["correlations"])))
        options = {"count": request.count, "seed": request.seed}
        answer["tests"], notes = metric_tests(study, request.tests, keys, **options)
        answer["notes"] += notes
    if request.segments:
        answer["cells"] = judged_cells(study, study.criteria(request.human))
    if request.matrix is not None:
        try:
            coefficients = matrix(study, human=request.human, **request.matrix.model_dump())
            answer["matrix"] = to_jsonable(vars(coefficients))
        except DataError as error:
            answer["notes"].append(f"there is no matrix: {error}")
    names = ("name", "scores", "places", "density")
    for criterion in study.criteria(request.human):
        try:
            by_metric = quality_bands(study, criterion, request.bands)
        except DataError as error:
            answer["notes"].append(f"there are no distributions by {criterion!r}: {error}")
            continue
        answer["distributions"][criterion] = {
            label: [{name: to_jsonable(getattr(band, name)) for name in names} for band in bands]
            for label, bands in by_metric.items()
        }
    return answer | {"scales": _scales(next(iter(study.scores.values())).values())}


def _judge(request: schemas.JudgeRequest) -> Answer:
    columns = request.model_dump(include={"position", "length", "system", "cluster"})
    present_columns = {role: cells for role, cells in columns.items() if cells is not None}
    table = RaterLabels.of(request.labels, items=request.items, **present_columns)
    handled_fields = {"labels", "items", *columns}
    return judge(table, **request.model_dump(exclude=handled_fields)).to_dict()


def _judged(request: schemas.JudgedBody) -> JudgedCorpus:
    segments = _column("segment", [row.segment for row in request.rows])
    for name in ("source", "document"):
        _column(name, [getattr(row, name) for row in request.rows])
    stored = request.stored if isinstance(request, schemas.CardRequest) else None
    rows = []
    for row, segment in zip(request.rows, segments or map(str, count()), strict=False):
        human, scores = (
            {key: math.nan if v is None else float(v) for key, v in cells.items()}
            for cells in (row.human, row.scores)
        )
        texts = row.candidate, tuple(_as_list(row.references))
        rows.append(
            JudgedRow(
                *(row.system, segment, *texts, human, row.source),
                stored={name: value for name, value in scores.items() if name == stored},
                document=row.document,
                spans=None
                if row.spans is None
                else tuple(Span(**span.model_dump()) for span in row.spans),
            )
        )
    return JudgedCorpus.from_rows(rows)


def _baseline_first(corpus: Corpus, baseline: str | None) -> Corpus:
    names = corpus.system_names
    if baseline is None or baseline == names[0]:
        return corpus
    if baseline not in names:
        known = ", ".join(names)
        raise OptionError(f"the baseline {baseline!r} is not one of the systems: {known}")
    return Corpus.from_rows(sorted(corpus.rows(), key=lambda row: row[2] != baseline))


def _column(name: str, values: list[str | None]) -> list[str] | None:
    """Return a column that all rows have, or None; raise an error if only some have it."""
    present = [value for value in values if value is not None]
    if present and len(present) < len(values):
        count = f"{len(present)} of {len(values)} rows have a {name}"
        raise DataError(f"{count}; give it for all rows, or for none")
    return present or None


def _as_list(references: schemas.References) -> list[str]:
    return [references] if isinstance(references, str) else references


def _scales(all_scores: Iterable[Scores]) -> Answer:
    return {
        scores.label: {"direction": scores.scale.direction, "range": list(scores.scale.limits)}
        for scores in all_scores
    }
