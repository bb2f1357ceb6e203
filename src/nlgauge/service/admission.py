"""Admission: which metrics, options and models a request may name.

No text of a request is ever opened as a file, downloaded or loaded: metrics declare the values of
options that requests may set (``option(server=...)``), and the server defines the models.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

from nlgauge.core.errors import NlgaugeError
from nlgauge.core.metric import Metric
from nlgauge.core.options import options_of, parse_options, refuse_unknown
from nlgauge.core.signature import Signature
from nlgauge.metrics import metric, metric_class, metric_names, resolve_name
from nlgauge.scoring import Scorer
from nlgauge.service.errors import ServiceError, log
from nlgauge.service.option_schema import option_schema, violation
from nlgauge.service.schemas import NamedMetric, Spec
from nlgauge.service.settings import Settings, library_model

_MAX_CACHED = 64

Specs = tuple[str | Metric, ...]


class Admitted(NamedTuple):
    """The spec that is passed to the library, and its metric."""

    spec: str | Metric
    metric: Metric


class Admission:
    """Checks the specs of requests, and caches their metrics and scorers."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._admitted: dict[str, Admitted] = {}
        self._scorers: dict[Specs, Scorer] = {}
        self.kinds = dict(_find_importable())
        self.default_model = library_model()
        if self.default_model not in settings.models:
            self.default_model = settings.models[0]

    def open_models(self) -> None:
        """Open every model of the server, with any metric that encodes tokens."""
        kind = next(kind for kind in self.kinds.values() if kind().needs.kind == "clouds")
        for name in self._settings.models:
            self.scorer((_with_model(kind(), name),))

    def admit(self, spec: Spec) -> Admitted:
        """Return the metric of a spec, or raise an error if it is not allowed."""
        if isinstance(spec, NamedMetric):
            return self._from_values(spec)
        admitted = self._admitted.get(spec)
        if admitted is None:
            admitted = self._from_text(spec.strip())
            with self._lock:
                _cache(self._admitted, spec, admitted)
        return admitted

    def prepare(self, specs: Sequence[Spec]) -> tuple[Specs, Scorer]:
        """Return the admitted specs and their scorer, with opened models."""
        admitted = tuple(self.admit(spec).spec for spec in specs)
        return admitted, self.scorer(admitted)

    def cached(self, specs: Sequence[Spec]) -> tuple[Specs, Scorer] | None:
        """Return the result of ``prepare`` if it is in the cache, else None."""
        known = [self._admitted.get(spec) for spec in specs if isinstance(spec, str)]
        admitted = tuple(each.spec for each in known if each is not None)
        scorer = self._scorers.get(admitted) if len(admitted) == len(specs) else None
        return None if scorer is None else (admitted, scorer)

    def scorer(self, specs: Specs) -> Scorer:
        """Return the scorer of admitted specs."""
        with self._lock:  # two threads must not load the same model
            scorer = self._scorers.get(specs)
            if scorer is None:
                scorer = Scorer(list(specs), runtime=self._settings.runtime)
                _cache(self._scorers, specs, scorer)
        return scorer

    def _from_text(self, spec: str) -> Admitted:
        kind = self._kind(spec.partition("|")[0].partition(":")[0].strip())
        known = options_of(kind)
        texts = {key: text for key, text in _options_in(spec) if key in known}
        self._check(kind, {key: known[key].parse(text) for key, text in texts.items()})
        return self._admit_built(spec, metric(spec))

    def _from_values(self, spec: NamedMetric) -> Admitted:
        kind = self._kind(spec.name)
        texts = {key: value for key, value in spec.options.items() if isinstance(value, str)}
        values = spec.options | parse_options(kind, texts, name=spec.name)
        self._check(kind, values)
        refuse_unknown(kind, {"allow_external"} & set(values), name=spec.name)
        built = metric(spec.name, **values)
        return self._admit_built(built.label(), built)

    def _kind(self, name: str) -> type[Metric]:
        name, _ = resolve_name(name)
        if name in self.kinds:
            return self.kinds[name]
        if name in metric_names():
            message = f"the metric {name!r} is not available on this server"
            raise ServiceError(422, "not_available", message)
        return metric_class(name)  # raises an error that lists the metrics

    def _admit_built(self, spec: str, built: Metric) -> Admitted:
        """Return the spec, or a metric with a model if the default model is not allowed."""
        self._check(type(built), vars(built))
        if self.default_model == library_model():
            return Admitted(spec, built)
        bound = _with_model(built, self.default_model)
        return Admitted(spec, built) if bound is built else Admitted(bound, bound)

    def _check(self, kind: type[Metric], values: Mapping[str, Any]) -> None:
        """Reject values before a metric is created with them, which might open a file."""
        for name, known in options_of(kind).items():
            value = values.get(name, known.default)
            known.check(value)
            if value == known.default:
                continue
            reason = violation(option_schema(known, self._settings), value)
            if reason is not None and known.server == "model":
                listed = ", ".join(self._settings.models)
                wrong = f"the model {value!r:.80} is not among those this server was started with"
                raise ServiceError(403, "model_not_allowed", f"{wrong}: {listed}")
            if reason is not None:
                raise ServiceError(403, "option_not_allowed", f"option {name} {reason}")


def _with_model(built: Metric, model: str) -> Metric:
    """Return the metric with the default model, if it has an unset option ``model``."""
    names = [name for name, known in options_of(type(built)).items() if known.server == "model"]
    changed = {name: model for name in names if getattr(built, name) is None}
    return dataclasses.replace(built, **changed) if changed else built


def _find_importable() -> Iterator[tuple[str, type[Metric]]]:
    """Return the offered metrics that can be imported; the log reports the others."""
    for name in sorted(metric_names()):
        try:
            kind = metric_class(name)
        except (NlgaugeError, ImportError) as error:
            log.warning("the metric %s is left out: %s", name, error)
        else:
            if kind.on_server:
                yield name, kind


def _options_in(spec: str) -> Iterator[tuple[str, str]]:
    """Return the options in the text of a spec or signature."""
    if "|" in spec:
        yield from Signature.parse(spec).keys
        return
    for piece in spec.partition(":")[2].split(","):
        key, _, text = piece.partition("=")
        yield key.strip(), text.strip()


def _cache(table: dict[Any, Any], key: object, value: object) -> None:
    """Add to a table that drops its oldest entries."""
    table[key] = value
    if len(table) > _MAX_CACHED:
        del table[next(iter(table))]
