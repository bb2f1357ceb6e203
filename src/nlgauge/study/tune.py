"""Layers of a model, chosen on one part of the judgements, against the default on the other.

A metric of one layer tries each of them; one that joins layers tries every run of neighbours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from nlgauge.core.errors import OptionError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.core.metric import Metric
from nlgauge.inputs import Spec, bind_metric
from nlgauge.metrics import metric as build_metric
from nlgauge.metrics._cloud_metric import CloudMetric
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress
from nlgauge.stats import Correlation, Interval, bootstrap_difference, correlate
from nlgauge.stats.coefficients import choose_coefficient
from nlgauge.stats.levels import choose_level
from nlgauge.stats.selection import Axis, take
from nlgauge.study.option_ranges import Value
from nlgauge.study.study import Source, StudyResult, measure
from nlgauge.study.sweep import OptionSweep, Values, read_options, select, split_judged, variants


@dataclass(frozen=True, eq=False)
class LayerOption:
    """A metric with its default layers, and all variants to try."""

    name: str
    option: str
    default: str
    """The default layers, as 4 or 3+4+6."""
    metric: Metric
    variants: Mapping[Values, Metric]

    @property
    def values(self) -> Values:
        """The layers, or runs of layers, to try."""
        return tuple(value for (value,) in self.variants)


@dataclass(frozen=True, eq=False)
class TunedLayers:
    """The best layers for a criterion, and their gain over the default on the test part."""

    layered: LayerOption
    swept: OptionSweep
    default_tested: Correlation
    gain: Interval

    @property
    def chosen(self) -> Value:
        """The layer, or the first and last of a run of layers."""
        return self.swept.chosen[self.layered.option]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, None for what is undefined."""
        content = self.swept.to_dict()
        tried = content.pop("tried")
        return {
            **content,
            "option": self.layered.option,
            "default": self.layered.default,
            "chosen": self.chosen,
            "default_test": to_jsonable(self.default_tested.value),
            "gain": to_jsonable(self.gain.value),
            **self.gain.to_dict(),
            "tried": tried,
        }


class LayerTuning(StudyResult[TunedLayers]):
    """The best layers by metric and criterion, with signatures of the chosen and the default."""

    entries_key: ClassVar[str] = "layers"


def tune_layers(
    data: Source,
    metrics: Spec | Sequence[Spec],
    *,
    human: str | Sequence[str] | None = None,
    level: str = "segment",
    coefficient: str = "pearson",
    fraction: float = 0.5,
    seed: int = 0,
    axis: Axis = "inputs",
    longest: int | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> LayerTuning:
    """Return the layers that agree best with people on a part of the data, tested on the other.

    All metrics and layers are scored in one pass, so that texts are encoded once.

    Parameters
    ----------
    data, human, level, coefficient, fraction, seed, axis, runtime, progress : as in `sweep`
    metrics : str, Metric or sequence of them
    longest : int, most layers of a run, for metrics that join layers
    resamples, confidence : of the bootstrap interval of the gain over the default layers

    Returns
    -------
    LayerTuning

    Raises
    ------
    OptionError
        For metrics without layers and models with one layer.
    """
    choose_level(level)
    choose_coefficient(coefficient)
    specs = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    layered = [_layered(spec, longest, runtime) for spec in specs]
    every = [each for one in layered for each in (one.metric, *one.variants.values())]
    study = measure(data, every, runtime=runtime, progress=progress)
    entries = []
    for criterion in study.criteria(human):
        grid = study.grid(criterion)
        parts = split_judged(study, criterion, axis, fraction, seed)
        for one in layered:
            labels = {values: metric.label() for values, metric in one.variants.items()}
            tried = one.name, {one.option: one.values}, labels, criterion, parts
            swept = select(study, *tried, level, coefficient, axis)
            matrices = grid.metric(swept.label), grid.metric(one.metric.label()), grid.human
            chosen, default, people = (take(matrix, parts.test, axis) for matrix in matrices)
            compared = chosen, default, people, level, coefficient
            gain = bootstrap_difference(
                *compared, count=resamples, confidence=confidence, seed=seed
            )
            tested = correlate(default, people, level, coefficient)
            entries.append(TunedLayers(one, swept, tested, gain))
    labels_kept = {entry.swept.label for entry in entries} | {one.metric.label() for one in layered}
    kept = study.only(labels_kept)
    notes = (*kept.notes, *(note for entry in entries for note in entry.swept.notes()))
    return LayerTuning(tuple(entries), notes, kept.signatures)


def _layered(spec: Spec, longest: int | None, runtime: Runtime) -> LayerOption:
    base = build_metric(spec)
    if not isinstance(base, CloudMetric):
        raise OptionError(f"{base.name} has no layers to tune; see nlgauge metrics {base.name}")
    task = bind_metric(base, runtime)
    depth = task.encoder.card.depth if task.encoder else 0
    if depth < 1:
        raise OptionError(
            f"{base.name} has no layers to tune: the model {task.metric.needs.model} has only one"
        )
    option = base.layer_option
    values = list(range(depth + 1)) if option == "layer" else _runs(depth, longest)
    name, default = spec if isinstance(spec, str) else base.label(), getattr(task.metric, option)
    tried = variants(base, read_options({option: values}))
    return LayerOption(name, option, str(default), base, tried)


def _runs(depth: int, longest: int | None) -> Sequence[Value]:
    """Return runs of neighbouring layers, without the embeddings below the first layer."""
    most = depth if longest is None else longest
    if most < 1:
        raise OptionError(f"longest={longest}: a run of layers holds at least 1")
    return [
        first if first == last else f"{first}-{last}"
        for first in range(1, depth + 1)
        for last in range(first, min(depth, first + most - 1) + 1)
    ]
