"""Options of a metric tried out: chosen on one part of the judgements, tested on the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isfinite
from typing import Any

import numpy as np

from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.metric import Metric
from nlgauge.core.options import format_value, options_of, refuse_unknown
from nlgauge.inputs import Spec
from nlgauge.metrics import metric as build_metric
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress
from nlgauge.stats import Grid, Split, Sweep, Tried, split
from nlgauge.stats import sweep as sweep_matrices
from nlgauge.stats.coefficients import choose_coefficient
from nlgauge.stats.levels import choose_level
from nlgauge.stats.selection import Axis
from nlgauge.study.option_ranges import MOST, Value, read_values
from nlgauge.study.study import Source, Study, measure


@dataclass(frozen=True, eq=False)
class Swept:
    """What became of the options for one criterion: every value tuned, one of them tested."""

    metric: str
    options: Mapping[str, tuple[Value, ...]]
    criterion: str
    found: Sweep
    """Its values are tuples, one entry for each option."""
    label: str
    """Of the metric with the chosen values."""

    @property
    def chosen(self) -> dict[str, Value]:
        """The value of every option that was chosen."""
        return self._named(self.found.chosen)

    def tried(self) -> list[dict[str, Any]]:
        """Every combination with its number on the tuning part, and the chosen one's test."""
        rows = []
        for each in self.found.tried:
            test = self.found.tested.value if each is self.found.chosen else None
            numbers = {"tune": plain(each.tuned.value), "test": plain(test)}
            rows.append({**_json(self._named(each)), **numbers})
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Plain values, None for what is undefined."""
        found = self.found
        return {
            "metric": self.metric,
            "criterion": self.criterion,
            "level": found.tested.level,
            "coefficient": found.tested.coefficient,
            "chosen": _json(self.chosen),
            "tune": plain(found.chosen.tuned.value),
            "test": plain(found.tested.value),
            "tuned_on": found.tuned_on,
            "tested_on": found.tested_on,
            "tried": self.tried(),
        }

    def _named(self, tried: Tried) -> dict[str, Value]:
        values = tried.value if isinstance(tried.value, tuple) else (tried.value,)
        return dict(zip(self.options, values, strict=True))


@dataclass(frozen=True, eq=False)
class Sweeps:
    """A sweep for each criterion, and what was said on the way."""

    entries: tuple[Swept, ...]
    remarks: tuple[str, ...]
    signatures: Mapping[str, str]
    """Of the chosen metrics, by label."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "sweeps": [entry.to_dict() for entry in self.entries],
            "signatures": dict(self.signatures),
            "notes": list(self.remarks),
        }


def sweep(
    data: Source,
    metric: Spec,
    options: Mapping[str, str | Sequence[Value]],
    *,
    human: str | Sequence[str] | None = None,
    level: str = "segment",
    coefficient: str = "pearson",
    fraction: float = 0.5,
    seed: int = 0,
    axis: Axis = "inputs",
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> Sweeps:
    """One or two options of a metric, chosen on a part of the data and tested on the other.

    ``options`` maps names to values, or to words such as ``0..6`` and ``.1,1,10`` (see
    ``ranges``). Two options are tried in all combinations. A random ``fraction`` of the inputs, or
    of the systems (``axis``), is for choosing; the rest is seen once, by the chosen value.
    All values are scored in one pass, so that texts are encoded once.
    """
    choose_level(level)
    choose_coefficient(coefficient)
    tried = read_options(options)
    metrics = variants(metric, tried)
    study = measure(
        *(data, list(metrics.values())),
        runtime=runtime,
        progress=progress,
    )
    labels = dict(zip(metrics, study.labels, strict=True))
    named = metric if isinstance(metric, str) else metric.label()
    entries = [
        choose(
            *(study, named, tried, labels, criterion),
            parts=parts_of(study, study.grid(criterion), axis, fraction, seed),
            level=level,
            coefficient=coefficient,
            axis=axis,
        )
        for criterion in study.criteria(human)
    ]
    kept = only(study, {entry.label for entry in entries})
    return Sweeps(tuple(entries), (*kept.remarks(), *undefined(entries)), signatures_of(kept))


def choose(
    study: Study,
    named: str,
    tried: Mapping[str, tuple[Value, ...]],
    labels: Mapping[tuple[Value, ...], str],
    criterion: str,
    *,
    parts: Split,
    level: str,
    coefficient: str,
    axis: Axis,
) -> Swept:
    """The values of the options that suit a criterion, of a study that has scored them all.

    ``labels`` maps combinations of values to the metrics of the study that have them.
    """
    grid = study.grid(criterion)
    found = sweep_matrices(
        *(", ".join(tried), list(labels)),
        {values: grid.metric(label) for values, label in labels.items()},
        *(grid.human, parts),
        level=level,
        coefficient=coefficient,
        axis=axis,
    )
    label = next(labels[values] for values in labels if values == found.chosen.value)
    return Swept(named, tried, criterion, found, label)


def only(study: Study, labels: Collection[str]) -> Study:
    """The study of these metrics: what a thousand losers note would drown what they have."""
    return replace(study, measured=tuple(each for each in study.measured if each.name in labels))


def signatures_of(study: Study) -> dict[str, str]:
    """How the metrics of the study were made, by label."""
    made = study.signatures
    return {label: made[label] for label in study.labels}


def read_options(options: Mapping[str, str | Sequence[Value]]) -> dict[str, tuple[Value, ...]]:
    """The values of every option to be tried; one or two options, in not too many combinations."""
    if not 1 <= len(options) <= 2:
        raise OptionError(
            f"{len(options)} options are to be tried; name one (a curve) or two (a surface), as in "
            "temperature=.5..3"
        )
    read = {
        name: read_values(values) if isinstance(values, str) else tuple(values)
        for name, values in options.items()
    }
    for name, values in read.items():
        if len(values) < 2:
            raise OptionError(
                f"option {name!r} is to be tried in {len(values)} value; name 2 or more, as in "
                f"{name}=1,2 or {name}=0..6"
            )
    combinations = int(np.prod([len(values) for values in read.values()]))
    if combinations > MOST:
        raise OptionError(f"{combinations:,} combinations are too many; try at most {MOST:,}")
    return read


def variants(
    spec: Spec, options: Mapping[str, tuple[Value, ...]]
) -> dict[tuple[Value, ...], Metric]:
    """The metric with every combination of values; what it does not take is refused here."""
    base = build_metric(spec)
    refuse_unknown(type(base), options, name=base.name)
    known = options_of(type(base))
    for name in options:
        value = getattr(base, name)
        if value != known[name].default:
            raise OptionError(
                f"{name}={format_value(value)} is set in the metric and swept as well; name it once"
            )
    return {
        values: replace(
            base,
            **{
                name: known[name].parse(format_value(value))
                for name, value in zip(options, values, strict=True)
            },
        )
        for values in product(*options.values())
    }


def parts_of(study: Study, grid: Grid, axis: Axis, fraction: float, seed: int) -> Split:
    """The judged inputs or systems in two parts; inputs with one source text stay together."""
    judged = np.isfinite(grid.human)
    if axis == "systems":
        index = np.flatnonzero(judged.any(axis=1))
        groups: list[object] = list(index)
    else:
        index = np.flatnonzero(judged.any(axis=0))
        corpus = study.corpus
        texts = dict(zip(corpus.ids, corpus.sources or corpus.ids, strict=True))
        groups = [texts[grid.segments[i]] or grid.segments[i] for i in index]
    if len(set(groups)) < 2:
        raise DataError(
            f"{len(index)} judged {axis} of {len(set(groups))} kind cannot be split into a tuning "
            f"and a test part; split {'systems' if axis == 'inputs' else 'inputs'} instead."
        )
    parts = split(len(index), fraction, seed, groups)
    return Split(index[parts.tune], index[parts.test], parts.groups)


def undefined(entries: Sequence[Swept]) -> list[str]:
    """What can be said of values that gave no number, in sentences."""
    lines = []
    for entry in entries:
        lost = [each for each in entry.found.tried if not isfinite(each.tuned.value)]
        if lost:
            lines.append(
                f"{entry.criterion}: {len(lost)} of {len(entry.found.tried)} values are undefined "
                f"on the tuning part ({lost[0].tuned.reason}) and were not chosen."
            )
        if entry.found.tested.reason:
            lines.append(
                f"{entry.criterion}: the test part gives no number: {entry.found.tested.reason}."
            )
    return lines


def plain(value: float | None) -> float | None:
    """The number, or None where JSON has none for it."""
    return value if value is not None and isfinite(value) else None


def _json(named: Mapping[str, Value]) -> dict[str, Value]:
    """Values that JSON has: an infinite price becomes a word."""
    return {
        name: str(value) if isinstance(value, float) and not isfinite(value) else value
        for name, value in named.items()
    }
