"""Tuning of a metric's options on one part of the judgements, and their test on the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isfinite, prod
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.core.metric import Metric
from nlgauge.core.options import format_value, options_of, refuse_unknown
from nlgauge.inputs import Spec, bind_metric
from nlgauge.metrics import metric as build_metric
from nlgauge.metrics._cloud_metric import CloudMetric
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress
from nlgauge.stats import Correlation, Interval, bootstrap_difference, correlate
from nlgauge.stats.levels import choose_level
from nlgauge.stats.named_coefficients import choose_coefficient
from nlgauge.stats.selection import Axis, Split, Sweep, Trial, split, sweep, take
from nlgauge.study.option_ranges import MOST, Value, read_values
from nlgauge.study.study import Source, Study, StudyResult, measure

Values = tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class OptionSweep:
    """The options of a metric for one criterion: all values, and the test of the chosen one."""

    metric: str
    options: Mapping[str, Values]
    criterion: str
    found: Sweep
    """Its values are tuples, one entry per option."""
    label: str
    """Label of the metric with the chosen values."""

    @property
    def chosen(self) -> dict[str, Value]:
        """The chosen value of every option."""
        return self._name_values(self.found.chosen)

    def tried(self) -> list[dict[str, Any]]:
        """Return every combination with its tuning correlation, and the chosen one's test."""
        tested = to_jsonable(self.found.tested.value)
        return [
            {
                **_json(self._name_values(trial)),
                "tune": to_jsonable(trial.tuned.value),
                "test": tested if trial is self.found.chosen else None,
            }
            for trial in self.found.tried
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, None for what is undefined."""
        sweep = self.found
        return {
            "metric": self.metric,
            "criterion": self.criterion,
            "level": sweep.tested.level,
            "coefficient": sweep.tested.coefficient,
            "chosen": _json(self.chosen),
            "tune": to_jsonable(sweep.chosen.tuned.value),
            "test": to_jsonable(sweep.tested.value),
            "tuned_on": sweep.tuned_on,
            "tested_on": sweep.tested_on,
            "tried": self.tried(),
        }

    def notes(self) -> list[str]:
        """Return sentences on undefined correlations."""
        tried, untested = self.found.tried, self.found.tested.reason
        undefined = [trial.tuned.reason for trial in tried if not isfinite(trial.tuned.value)]
        lines = []
        if undefined:
            share = f"{len(undefined)} of {len(tried)} values are undefined on the tuning part"
            lines.append(f"{self.criterion}: {share} ({undefined[0]}) and were not chosen.")
        if untested:
            lines.append(f"{self.criterion}: undefined on the test part: {untested}.")
        return lines

    def _name_values(self, trial: Trial) -> dict[str, Value]:
        values = trial.value if isinstance(trial.value, tuple) else (trial.value,)
        return dict(zip(self.options, values, strict=True))


@dataclass(frozen=True, eq=False)
class TunedOptions:
    """Options chosen for one criterion, and their gain over the defaults on the test part."""

    swept: OptionSweep
    default: Mapping[str, str]
    """The default of every option, including defaults of the model."""
    default_tested: Correlation
    gain: Interval

    @property
    def chosen(self) -> dict[str, Value]:
        """The chosen value of every option."""
        return self.swept.chosen

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, None for what is undefined."""
        content = self.swept.to_dict()
        tried = content.pop("tried")
        return {
            **content,
            "default": dict(self.default),
            "default_test": to_jsonable(self.default_tested.value),
            "gain": to_jsonable(self.gain.value),
            **self.gain.to_dict(),
            "tried": tried,
        }


class Tuning(StudyResult[TunedOptions]):
    """The options chosen for each criterion, with signatures of the chosen and the default."""

    entries_key: ClassVar[str] = "tuned"


def tune(
    data: Source,
    metric: Spec,
    options: Mapping[str, str | Sequence[Value]] | None = None,
    *,
    human: str | Sequence[str] | None = None,
    level: str = "segment",
    coefficient: str = "pearson",
    fraction: float = 0.5,
    seed: int = 0,
    axis: Axis = "inputs",
    resamples: int = 1000,
    confidence: float = 0.95,
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> Tuning:
    """Return options of a metric, chosen on a part of the data and tested on the other.

    All combinations of values are scored in one pass, so that texts are encoded once.

    Parameters
    ----------
    data, runtime, progress : as in `measure`
    metric : str or Metric
    options : mapping of names to values, or to ranges such as ``0..6``, ``.1,1,10`` and, for
        layers, ``all`` (each layer), ``runs`` (all runs of consecutive layers) and ``runs:3`` (runs
        of at most 3); by default, the layers of metrics that have a model
    human, level, coefficient : as in `correlate`
    fraction, seed : share of the inputs or systems (`axis`) for choosing, and its seed
    resamples, confidence : of the bootstrap interval of the gain over the default values

    Returns
    -------
    Tuning

    Raises
    ------
    OptionError or DataError
        For options that the metric does not have; for data that cannot be split.

    Examples
    --------
    >>> from nlgauge.core.corpus import Corpus
    >>> from nlgauge.data import JudgedCorpus
    >>> corpus = Corpus.of(["a b", "a c", "d", "a b d", "b", "c"], ["a b"] * 6)
    >>> judged = JudgedCorpus(corpus, {"da": [5, 2, 1, 4, 3, 1]}, ())
    >>> tune(judged, "chrf", {"char_order": [1, 2]}).entries[0].chosen
    {'char_order': 1}
    """
    if choose_level(level) == "document":
        raise OptionError("tune splits segments or systems; use another level than 'document'.")
    choose_coefficient(coefficient)
    base = build_metric(metric)
    bound = bind_metric(base, runtime)
    depth = bound.encoder.card.depth if bound.encoder else 0
    values = read_options(_with_layers(base, options or {}, depth))
    metrics = variants(base, values)
    labels = {each: variant.label() for each, variant in metrics.items()}
    distinct = {each.label(): each for each in (base, *metrics.values())}
    study = measure(data, list(distinct.values()), runtime=runtime, progress=progress)
    name = metric if isinstance(metric, str) else base.label()
    default = {option: format_value(getattr(bound.metric, option)) for option in values}
    entries = []
    for criterion in study.criteria(human):
        parts = split_judged(study, criterion, axis, fraction, seed)
        swept = select(study, name, values, labels, criterion, parts, level, coefficient, axis)
        grid = study.grid(criterion)
        matrices = grid.metric(swept.label), grid.metric(base.label()), grid.human
        chosen, usual, people = (take(matrix, parts.test, axis) for matrix in matrices)
        if people.shape[1] < 2:
            raise DataError(
                "the test part has 1 input, but the interval of the gain needs 2; use more data or "
                "a smaller fraction (--fraction)."
            )
        compared = chosen, usual, people, level, coefficient
        gain = bootstrap_difference(*compared, count=resamples, confidence=confidence, seed=seed)
        tested = correlate(usual, people, level, coefficient)
        entries.append(TunedOptions(swept, default, tested, gain))
    reported = study.only({base.label(), *(entry.swept.label for entry in entries)})
    notes = (*reported.notes, *(note for entry in entries for note in entry.swept.notes()))
    return Tuning(tuple(entries), notes, reported.signatures)


def _with_layers(
    base: Metric, options: Mapping[str, str | Sequence[Value]], depth: int
) -> dict[str, str | Sequence[Value]]:
    """Return the options with ``all`` and ``runs`` of layers written out."""
    expanded = dict(options)
    if not expanded and isinstance(base, CloudMetric):
        expanded = {base.layer_option: "all" if base.layer_option == "layer" else "runs"}
    for name, values in expanded.items():
        if name in ("layer", "layers") and isinstance(values, str):
            kind, _, longest = values.partition(":")
            if kind not in ("all", "runs"):
                continue
            if depth < 1:
                raise OptionError(f"{base.name} has no layers to choose from: its model has one")
            if values == "all":
                expanded[name] = range(depth + 1)
            elif name == "layer":
                raise OptionError(f"{base.name} uses one layer: layer={values} is not possible")
            else:
                expanded[name] = _runs(depth, longest)
    return expanded


def _runs(depth: int, longest: str) -> Sequence[Value]:
    """Return runs of consecutive layers, without the embeddings below the first layer."""
    if longest and not (longest.isdecimal() and int(longest) >= 1):
        raise OptionError(f"layers=runs:{longest}: write the most layers of a run, as in runs:3")
    limit = int(longest or depth)
    return [
        first if first == last else f"{first}-{last}"
        for first in range(1, depth + 1)
        for last in range(first, min(depth, first + limit - 1) + 1)
    ]


def select(
    study: Study,
    name: str,
    options: Mapping[str, Values],
    labels: Mapping[Values, str],
    criterion: str,
    parts: Split,
    level: str,
    coefficient: str,
    axis: Axis = "inputs",
) -> OptionSweep:
    """Return the sweep over metrics of a study; ``labels`` are theirs, by values of the options."""
    grid = study.grid(criterion)
    scores = {values: grid.metric(label) for values, label in labels.items()}
    tried: tuple[Any, ...] = (", ".join(options), list(labels), scores, grid.human, parts)
    swept = sweep(*tried, level=level, coefficient=coefficient, axis=axis)
    label = next(label for values, label in labels.items() if values == swept.chosen.value)
    return OptionSweep(name, options, criterion, swept, label)


def read_options(options: Mapping[str, str | Sequence[Value]]) -> dict[str, Values]:
    """Return the values of the options; OptionError for too few or too many values."""
    if not options:
        raise OptionError("no options are to be tried; name some, as in temperature=.5..3")
    read = {
        name: read_values(values) if isinstance(values, str) else tuple(values)
        for name, values in options.items()
    }
    for name, values in read.items():
        if len(values) < 2:
            tried = f"option {name!r} is to be tried in {len(values)} value"
            raise OptionError(f"{tried}; name 2 or more, as in {name}=1,2 or {name}=0..6")
    combinations = prod(len(values) for values in read.values())
    if combinations > MOST:
        raise OptionError(f"{combinations:,} combinations are too many; try at most {MOST:,}")
    return read


def variants(spec: Spec, options: Mapping[str, Values]) -> dict[Values, Metric]:
    """Return the metric with every combination of values."""
    base = build_metric(spec)
    refuse_unknown(type(base), options, name=base.name)
    known = options_of(type(base))
    for name in options:
        if getattr(base, name) != known[name].default:
            value = format_value(getattr(base, name))
            raise OptionError(f"{name}={value} is set in the metric and tuned as well; use one")
    by_values = {}
    for values in product(*options.values()):
        pairs = zip(options, values, strict=True)
        parsed = {name: known[name].parse(format_value(value)) for name, value in pairs}
        by_values[values] = replace(base, **parsed)
    return by_values


def split_judged(study: Study, criterion: str, axis: Axis, fraction: float, seed: int) -> Split:
    """Return the judged inputs or systems in two parts; inputs with one source stay together."""
    judged = np.isfinite(study.judgements.matrix(criterion))
    index = np.flatnonzero(judged.any(axis=1 if axis == "systems" else 0))
    groups: list[object] = list(index)
    if axis == "inputs":
        corpus, segments = study.corpus, study.judgements.segments
        texts = dict(zip(corpus.ids, corpus.sources or corpus.ids, strict=True))
        groups = [texts[segments[i]] or segments[i] for i in index]
    if len(set(groups)) < 2:
        raise DataError(
            f"{len(index)} judged {axis} of {len(set(groups))} kind cannot be split into a tuning "
            f"and a test part; split {'systems' if axis == 'inputs' else 'inputs'} instead."
        )
    parts = split(len(index), fraction, seed, groups)
    return Split(index[parts.tune], index[parts.test], parts.groups)


def _json(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return values for JSON: an infinite number becomes a string."""
    return {
        name: str(value) if isinstance(value, float) and not isfinite(value) else value
        for name, value in values.items()
    }
