"""Baseline: the mean score of unrelated texts, used to rescale a metric."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from nlgauge.core.errors import OptionError
from nlgauge.core.jsonable import unique_keys
from nlgauge.core.metric import Metric
from nlgauge.core.requirements import ModelCard

BASELINE_OPTIONS = ("layer", "ngram", "weights", "alpha", "temperature", "compat")
"""The options that, with the model, determine the score of unrelated texts."""
_DEFAULTS = {"ngram": "1", "temperature": "0"}  # for files written before these options existed


@dataclass(frozen=True)
class Baseline:
    """The mean of every component over unrelated pairs, with the settings of the fit."""

    metric: str
    model: str
    model_sha: str
    settings: Mapping[str, str]
    """Values of the options in BASELINE_OPTIONS."""
    mean: Mapping[str, float]
    standard_error: Mapping[str, float]
    pairs: int
    texts: int
    seed: int
    notes: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the content of the file that the option ``baseline`` reads."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Baseline":
        """Parse the content of a file; raise ValueError, KeyError or TypeError if it is invalid."""
        content = json.loads(text, object_pairs_hook=unique_keys)
        fields: dict[str, Any] = {n: str(content[n]) for n in ("metric", "model", "model_sha")}
        fields |= {name: int(content[name]) for name in ("pairs", "texts", "seed")}
        for name in ("mean", "standard_error"):
            fields[name] = {key: float(value) for key, value in content[name].items()}
        options = {**_DEFAULTS, **content["settings"]}
        settings = {name: str(options[name]) for name in BASELINE_OPTIONS}
        return cls(**fields, settings=settings, notes=tuple(map(str, content["notes"])))

    def values_for(self, metric: Metric, card: ModelCard, path: str) -> tuple[float, ...]:
        """Return the baseline of every component, if it was fitted for this metric and model."""
        if self.metric != metric.name:
            raise OptionError(f"baseline file {path!r} is for {self.metric}, not {metric.name}")
        other = self.differing(metric, card)
        if other:
            fitted = ", ".join(f"{key}={theirs}" for key, (theirs, _) in other.items())
            required = ", ".join(f"{key}={ours}" for key, (_, ours) in other.items())
            raise OptionError(
                f"baseline file {path!r} was fitted with {fitted}, but the metric has {required}; "
                f"{fitting_advice(metric)}"
            )
        missing = [name for name in metric.components if name not in self.mean]
        if missing:
            raise OptionError(f"baseline file {path!r} has no mean of {', '.join(missing)}")
        return tuple(self.mean[name] for name in metric.components)

    def differing(self, metric: Metric, card: ModelCard) -> dict[str, tuple[str, str]]:
        """Return the settings that differ as {name: (value of the baseline, of the metric)}."""
        options = metric.describe()
        ours = {"model": f"{card.name} ({card.digest})"}
        ours |= {key: options[key] for key in BASELINE_OPTIONS}
        theirs = {"model": f"{self.model} ({self.model_sha})", **self.settings}
        if self.model_sha == card.digest:  # a model may have several names
            theirs["model"] = ours["model"]
        return {key: (theirs[key], ours[key]) for key in ours if ours[key] != theirs[key]}


def fitting_advice(metric: Metric) -> str:
    """Return how to fit a baseline for a metric, as the end of an error message."""
    without: dict[str, Any] = {"baseline": None}
    unscaled = replace(metric, **without).label()
    return f"fit one for it: nlgauge rescale fit TEXTS -m {unscaled} -o FILE"
