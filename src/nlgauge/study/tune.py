"""Layers of a model tried out: chosen on one part of the judgements, and held against the default
on the other.

A metric that compares one layer tries each of them; one that joins several tries every run of
neighbours. Only the chosen layers and the default meet the test part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nlgauge.core.errors import OptionError
from nlgauge.core.metric import Metric
from nlgauge.inputs import Spec, bind_metric
from nlgauge.metrics import metric as build_metric
from nlgauge.metrics._cloud_metric import CloudMetric
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress
from nlgauge.stats import Correlation, Interval, Split, bootstrap_difference, correlate
from nlgauge.stats.coefficients import choose_coefficient
from nlgauge.stats.levels import choose_level
from nlgauge.stats.selection import Axis, take
from nlgauge.study.option_ranges import Value
from nlgauge.study.study import Source, Study, measure
from nlgauge.study.sweep import (
    Swept,
    choose,
    only,
    parts_of,
    plain,
    read_options,
    signatures_of,
    undefined,
    variants,
)


@dataclass(frozen=True, eq=False)
class Layered:
    """A metric with the layers it takes by default, and all that are to be tried."""

    named: str
    option: str
    default: str
    """The layers it takes by itself, as 4 or 3+4+6."""
    metric: Metric
    tried: Mapping[tuple[Value, ...], Metric]

    @property
    def values(self) -> tuple[Value, ...]:
        """The layers, or runs of layers, to be tried."""
        return tuple(value for (value,) in self.tried)


@dataclass(frozen=True, eq=False)
class TunedLayers:
    """Which layers suit a criterion, and how they do against the default on the test part."""

    layered: Layered
    swept: Swept
    default_tested: Correlation
    gain: Interval
    """Of the chosen layers over the default, both on the test part."""

    @property
    def chosen(self) -> Value:
        """The layer, or the first and last of a run of them."""
        return self.swept.chosen[self.layered.option]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, None for what is undefined."""
        content = self.swept.to_dict()
        tried = content.pop("tried")
        return {
            **content,
            "option": self.layered.option,
            "default": self.layered.default,
            "chosen": self.chosen,
            "default_test": plain(self.default_tested.value),
            "gain": plain(self.gain.value),
            **self.gain.to_dict(),
            "tried": tried,
        }


@dataclass(frozen=True, eq=False)
class LayerTuning:
    """The layers of every metric for each criterion, and what was said on the way."""

    entries: tuple[TunedLayers, ...]
    remarks: tuple[str, ...]
    signatures: Mapping[str, str]
    """Of the metrics with the chosen layers, and with their default ones, by label."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "layers": [entry.to_dict() for entry in self.entries],
            "signatures": dict(self.signatures),
            "notes": list(self.remarks),
        }


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
    """The layers that agree best with people on a part of the data, tested on the other.

    For metrics that join layers, runs of at most ``longest`` are tried. The gain over the default
    layers is measured on the test part, with a bootstrap interval over its inputs. All metrics and
    layers are scored in one pass, so that texts are encoded once. See ``sweep`` for the rest.
    """
    choose_level(level)
    choose_coefficient(coefficient)
    specs = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    layered = [_layered(spec, longest, runtime) for spec in specs]
    study = measure(
        *(data, [each for one in layered for each in (one.metric, *one.tried.values())]),
        runtime=runtime,
        progress=progress,
    )
    entries = []
    for criterion in study.criteria(human):
        parts = parts_of(study, study.grid(criterion), axis, fraction, seed)
        for one in layered:
            labels = {values: metric.label() for values, metric in one.tried.items()}
            swept = choose(
                *(study, one.named, {one.option: one.values}, labels, criterion),
                parts=parts,
                level=level,
                coefficient=coefficient,
                axis=axis,
            )
            how = {"count": resamples, "confidence": confidence, "seed": seed}
            entries.append(_held_against_default(study, one, swept, parts, axis, how))
    winners = {entry.swept.label for entry in entries}
    kept = only(study, winners | {one.metric.label() for one in layered})
    remarks = (*kept.remarks(), *undefined([entry.swept for entry in entries]))
    return LayerTuning(tuple(entries), remarks, signatures_of(kept))


def _layered(spec: Spec, longest: int | None, runtime: Runtime) -> Layered:
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
    values = _each(depth) if option == "layer" else _runs(depth, longest)
    return Layered(
        spec if isinstance(spec, str) else base.label(),
        option,
        str(getattr(task.metric, option)),
        base,
        variants(base, read_options({option: values})),
    )


def _each(depth: int) -> list[Value]:
    return list(range(depth + 1))


def _runs(depth: int, longest: int | None) -> list[Value]:
    """Runs of neighbouring layers; the embeddings below the first layer are not among them."""
    most = depth if longest is None else longest
    if most < 1:
        raise OptionError(f"longest={longest}: a run of layers holds at least 1")
    return [
        first if first == last else f"{first}-{last}"
        for first in range(1, depth + 1)
        for last in range(first, min(depth, first + most - 1) + 1)
    ]


def _held_against_default(
    study: Study, one: Layered, swept: Swept, parts: Split, axis: Axis, how: Mapping[str, Any]
) -> TunedLayers:
    grid = study.grid(swept.criterion)
    chosen, default, people = (
        take(matrix, parts.test, axis)
        for matrix in (grid.metric(swept.label), grid.metric(one.metric.label()), grid.human)
    )
    level, coefficient = swept.found.tested.level, swept.found.tested.coefficient
    tested = correlate(default, people, level, coefficient)
    gain = bootstrap_difference(chosen, default, people, level, coefficient, **how)
    return TunedLayers(one, swept, tested, gain)
