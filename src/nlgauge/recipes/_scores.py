"""The data of a recipe, and its metrics' scores and correlations under the names of table rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from nlgauge.core.errors import FileError, ModelError
from nlgauge.core.metric import Metric
from nlgauge.data.detection import read_judged
from nlgauge.data.judged import JudgedCorpus
from nlgauge.metrics import metric as build_metric
from nlgauge.recipes.recipe import Numbers, Settings, TableRow, with_model_name
from nlgauge.scoring import Scorer
from nlgauge.study import Study, correlate, measure

EMBEDDED = "embedded (all-MiniLM-L6-v2, 6 layers)"


def find(data: Path, wanted: Mapping[str, str]) -> tuple[dict[str, Path], tuple[str, ...]]:
    """Return the files and folders in a folder, by part, and a sentence about missing ones.

    A file may also be gzipped (name.gz). If there is none at all, FileError is raised.
    """
    if not data.is_dir():
        raise FileError(f"there is no folder {str(data)!r} to look for data in")
    paths: dict[str, Path] = {}
    for part, name in wanted.items():
        for path in (data / name, data / f"{name}.gz"):
            if path.exists():
                paths.setdefault(part, path)
    missing = ", ".join(name for part, name in wanted.items() if part not in paths)
    if not paths:
        raise FileError(f"{data} has none of the files looked for, gzipped or not: {missing}")
    note = f"Missing in the data folder (with and without .gz), so left out: {missing}."
    return paths, (note,) if missing else ()


def some_inputs(judged: JudgedCorpus, count: int | None) -> JudgedCorpus:
    """Return at most ``count`` inputs, evenly spaced, each with all its systems."""
    inputs = list(dict.fromkeys(judged.corpus.ids))
    if count is None or count >= len(inputs):
        return judged
    sample = {inputs[i * len(inputs) // count] for i in range(count)}
    keep = [row for row, name in enumerate(judged.corpus.ids) if name in sample]
    size = f"{count:,} of {len(inputs):,} inputs, {len(keep):,} of {len(judged):,} rows"
    return judged.take(keep, f"a sample, evenly spaced: {size}.")


def score_rows(
    data: JudgedCorpus | Path,
    rows: Sequence[TableRow],
    settings: Settings,
    *,
    stored: Sequence[str] = (),
) -> Study:
    """Return the study of the rows' metrics and of stored scores, labelled by the rows' names.

    Metrics without a fixed model and layers are also scored with other models, and labelled by
    `with_model_name`. Metrics whose default model cannot be opened are left out with a note.
    """
    judged = data if isinstance(data, JudgedCorpus) else read_judged(data)
    metrics, notes = _open_metrics(rows, settings)
    for row, model in product(rows, settings.other_models):
        if row.spec and _takes_any_encoder(build_metric(row.spec)):
            metrics[with_model_name(row.name, model)] = with_model(row.spec, model)
    run: dict[str, Any] = {"runtime": settings.runtime, "progress": settings.progress}
    sample, built = some_inputs(judged, settings.inputs), list(metrics.values())
    study = measure(sample, built, scores=stored, **run)
    names = dict(zip(study.labels, [*metrics, *study.stored], strict=True))
    renamed = {
        system: {names[label]: scores for label, scores in by_label.items()}
        for system, by_label in study.scores.items()
    }
    labelled = tuple(replace(metric, name=names[metric.name]) for metric in study.metrics)
    return replace(study, metrics=labelled, scores=renamed, data_notes=(*study.data_notes, *notes))


def _takes_any_encoder(metric: Metric) -> bool:
    """Return whether a metric has an encoder, and neither it nor its layers are fixed."""
    return getattr(metric, "model", "") is None and getattr(metric, "leaves_layers_open", False)


def _open_metrics(
    rows: Sequence[TableRow], settings: Settings
) -> tuple[dict[str, Metric], tuple[str, ...]]:
    """Return the metrics that can be opened, by row, and sentences about the others."""
    metrics: dict[str, Metric] = {}
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.spec is None:
            continue
        metric = with_model(row.spec, settings.model)
        unnamed = settings.model is None and metric.needs.kind == "histograms"
        if unnamed or metric.needs.model not in (None, settings.model):
            try:
                Scorer(metric, runtime=settings.runtime)
            except ModelError as error:
                reasons.setdefault(str(error), []).append(row.name)
                continue
        metrics[row.name] = metric
    left_out = (f"left out: {', '.join(names)} ({why})." for why, names in reasons.items())
    return metrics, tuple(left_out)


def with_model(spec: str, model: str | None) -> Metric:
    """Return the metric of a spec, with the given model unless the spec names one."""
    built = build_metric(spec)
    is_unset = getattr(built, "model", "") is None
    return build_metric(spec, model=model) if is_unset and model is not None else built


def bind_layers(spec: str, settings: Settings) -> Metric:
    """Return the metric of a spec with the layers of the model that it uses."""
    return next(iter(Scorer(with_model(spec, settings.model)).metrics.values()))


def models_of(study: Study) -> tuple[str, ...]:
    """Return the names of the models of a study's metrics."""
    models = [getattr(scores.metric, "model", None) for scores in study.first_scores.values()]
    names = (EMBEDDED if name == "embedded" else str(name) for name in models if name)
    return tuple(dict.fromkeys(names))


def correlations(
    study: Study,
    criterion: str,
    coefficients: Sequence[str],
    *,
    level: str = "segment",
    factor: float = 1.0,
) -> Numbers:
    """Return correlations with one criterion by row and coefficient, times a factor."""
    result = correlate(study, human=criterion, levels=level, coefficients=list(coefficients))
    return {
        (entry.metric, entry.correlation.coefficient): factor * entry.correlation.value
        for entry in result.entries
    }
