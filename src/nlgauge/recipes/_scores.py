"""The metrics of a recipe's lines on judged texts, under the lines' names."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from nlgauge.core.errors import ModelError
from nlgauge.core.metric import Metric
from nlgauge.data.detection import read_judged
from nlgauge.data.judged import Judged
from nlgauge.metrics import metric as build_metric
from nlgauge.recipes._data import some_inputs
from nlgauge.recipes.recipe import Line, Setting
from nlgauge.scoring import Scorer
from nlgauge.study import Study, correlate, measure

EMBEDDED = "embedded (all-MiniLM-L6-v2, 6 layers)"


def measured(
    data: Judged | Path,
    lines: Sequence[Line],
    setting: Setting,
    *,
    stored: Sequence[str] = (),
) -> Study:
    """The judged texts scored in one pass with the metrics of the lines, under the lines' names.

    What cannot be opened though nobody named it (word vectors, a masked language model) is left
    out, and the study says so. ``stored`` names scores that came with the data.
    """
    judged = data if isinstance(data, Judged) else read_judged(data)
    asked, unopened = _opened(lines, setting)
    study = measure(
        some_inputs(judged, setting.inputs),
        list(asked.values()),
        scores=stored,
        runtime=setting.runtime,
        progress=setting.progress,
    )
    names = dict(zip(study.labels, [*asked, *study.stored], strict=True))
    board = {
        system: {names[label]: scores for label, scores in found.items()}
        for system, found in study.board.items()
    }
    renamed = [dataclasses.replace(each, name=names[each.name]) for each in study.measured]
    said = (*study.said, *unopened)
    return dataclasses.replace(study, measured=tuple(renamed), board=board, said=said)


def with_model(spec: str, model: str | None) -> Metric:
    """The metric of a spec, on the model if one is named and the spec does not name its own."""
    built = build_metric(spec)
    takes = getattr(built, "model", "") is None
    return build_metric(spec, model=model) if takes and model is not None else built


def models_of(study: Study) -> tuple[str, ...]:
    """The names of the models that the metrics of a study were served from."""
    first = next(iter(study.board.values()))
    models = [getattr(scores.metric, "model", None) for scores in first.values()]
    named = (EMBEDDED if name == "embedded" else str(name) for name in models if name)
    return tuple(dict.fromkeys(named))


def correlations(
    study: Study,
    criterion: str,
    coefficients: Sequence[str],
    *,
    level: str = "segment",
    times: float = 1.0,
) -> dict[tuple[str, str], float]:
    """The metrics' correlations with one criterion by line and coefficient, ``times`` a factor."""
    found = correlate(study, human=criterion, levels=level, coefficients=list(coefficients))
    return {
        (entry.metric, entry.correlation.coefficient): times * entry.correlation.value
        for entry in found.entries
    }


def bound(spec: str, setting: Setting) -> Metric:
    """The metric of a spec with the layers it takes of the model."""
    return next(iter(Scorer(with_model(spec, setting.model)).metrics.values()))


def _opened(
    lines: Sequence[Line], setting: Setting
) -> tuple[Mapping[str, Metric], tuple[str, ...]]:
    """The metrics that can be opened, by line, and sentences on the others."""
    asked: dict[str, Metric] = {}
    reasons: dict[str, list[str]] = {}
    for line in lines:
        if line.spec is None:
            continue
        chosen = with_model(line.spec, setting.model)
        unnamed = setting.model is None and chosen.needs.kind == "histograms"
        if unnamed or chosen.needs.model not in (None, setting.model):
            try:
                Scorer(chosen, runtime=setting.runtime)
            except ModelError as error:
                reasons.setdefault(str(error), []).append(line.name)
                continue
        asked[line.name] = chosen
    return asked, tuple(f"left out: {', '.join(who)} ({why})." for why, who in reasons.items())
