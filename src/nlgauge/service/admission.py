"""The gate: which metrics, options and models a request may name.

Nothing a request says is ever opened, fetched or loaded. An option that takes any text could name
a file, so it keeps its default unless it is known to be harmless; this holds for metrics of other
packages, too. Models are those named when the server was started.
"""

from __future__ import annotations

import dataclasses
import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, NamedTuple

from nlgauge.core.errors import NlgaugeError
from nlgauge.core.metric import Metric
from nlgauge.core.options import Option, options_of, parse_options
from nlgauge.core.signature import Signature
from nlgauge.metrics import metric, metric_class, metric_names
from nlgauge.scoring import Scorer
from nlgauge.service.errors import Fault, log
from nlgauge.service.schemas import NamedMetric, Spec
from nlgauge.service.settings import Settings, library_model

LAYERS = frozenset({"layer", "layers"})
_LONGEST_LAYERS = 32
FIXED = frozenset({"precision", "long_text"})  # another value would load the model once more
HARMLESS_TEXTS = {("meteor", "synonyms"): ("auto", "none")}
FETCHING = {("bleu", "tokenize"): frozenset({"spm", "flores101", "flores200", "spBLEU-1K"})}

# These run programs, or other metrics that the gate would not see.
ABSENT = frozenset({"external", "ensemble"})

# Memory and time grow with these; the defaults of all metrics lie well below.
_LARGEST_INTEGER = 50
_LARGEST_INTEGERS = {"ngram": 1000, "directions": 10_000, "seed": 2**32 - 1, "longest": 400}
_LARGEST_FLOAT = 1e6
UNBOUNDED = frozenset({"penalty_candidate", "penalty_reference"})
_KEPT = 64

Specs = tuple[str | Metric, ...]


class Ready(NamedTuple):
    """Admitted specs, their scorer, and whether its scores depend on tables of a corpus."""

    specs: Specs
    scorer: Scorer
    learns: bool


@dataclasses.dataclass(frozen=True)
class Admitted:
    """What the library is handed for a spec, and the metric that it describes."""

    spec: str | Metric
    metric: Metric


class Gate:
    """Admits the specs of requests, and keeps what it made of the last ones."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._making = Lock()
        self._admitted: OrderedDict[str, Admitted] = OrderedDict()
        self._ready: OrderedDict[Specs, Ready] = OrderedDict()
        self.kinds = dict(_importable())
        self.default_model = library_model()
        if self.default_model not in settings.models:
            self.default_model = settings.models[0]

    def admit(self, spec: Spec) -> Admitted:
        """The metric of a spec, or a refusal."""
        if isinstance(spec, NamedMetric):
            return self._named(spec)
        found = self._admitted.get(spec)
        if found is None:
            found = self._spelled(spec.strip())
            with self._making:
                _keep(self._admitted, spec, found)
        return found

    def prepare(self, specs: Sequence[Spec]) -> Ready:
        """The admitted specs and their scorer, made and its models opened if need be."""
        return self._make(tuple(self.admit(spec).spec for spec in specs))

    def at_hand(self, specs: Sequence[Spec]) -> Ready | None:
        """The same where nothing has to be made, which takes no time; else None."""
        found = [self._admitted.get(spec) for spec in specs if isinstance(spec, str)]
        admitted = tuple(each.spec for each in found if each is not None)
        return self._ready.get(admitted) if len(admitted) == len(specs) else None

    def scorer(self, specs: Specs) -> Scorer:
        """A scorer of admitted specs, made once."""
        return self._make(specs).scorer

    def _make(self, specs: Specs) -> Ready:
        with self._making:  # two threads must not load the same model
            found = self._ready.get(specs)
            if found is None:
                scorer = Scorer(
                    list(specs),
                    runtime=self._settings.runtime,
                )
                found = Ready(specs, scorer, scorer.needs_tables)
                _keep(self._ready, specs, found)
        return found

    def offered(self, kind: type[Metric]) -> dict[str, Option]:
        """The options of a metric that requests may set."""
        return {
            name: known
            for name, known in options_of(kind).items()
            if name not in FIXED and (not _takes_any_text(known) or _is_known(kind, name))
        }

    def _spelled(self, spec: str) -> Admitted:
        name = spec.partition("|")[0].partition(":")[0].strip()
        kind = self._kind(name)
        for key, text in _pieces(spec):  # before anything is built, which might open a file
            known = options_of(kind).get(key)
            if known is not None:
                self._check(kind, known, known.parse(text))
        return self._bound(spec, self._checked(metric(spec)))

    def _named(self, spec: NamedMetric) -> Admitted:
        kind = self._kind(spec.name)
        texts = {key: value for key, value in spec.options.items() if isinstance(value, str)}
        values = {key: value for key, value in spec.options.items() if key not in texts}
        values |= parse_options(kind, texts, name=spec.name)
        for key, value in values.items():
            known = options_of(kind).get(key)
            if known is not None:
                known.check(value)
                self._check(kind, known, value)
        built = self._checked(metric(spec.name, **values))
        return self._bound(built.label(), built)

    def _kind(self, name: str) -> type[Metric]:
        if name in self.kinds:
            return self.kinds[name]
        if name in metric_names():
            raise Fault(422, "not_available", f"the metric {name!r} cannot be used on this server")
        return metric_class(name)  # which says what there is instead

    def _checked(self, built: Metric) -> Metric:
        for name, known in options_of(type(built)).items():
            self._check(type(built), known, getattr(built, name))
        return built

    def _bound(self, spec: str, built: Metric) -> Admitted:
        """The spec as it is, or with a model where the library would take one not allowed."""
        named = getattr(built, "model", self.default_model)
        if named is None and self.default_model != library_model():
            bound: Any = dataclasses.replace(built, **{"model": self.default_model})
            return Admitted(bound, bound)
        return Admitted(spec, built)

    def _check(self, kind: type[Metric], known: Option, value: Any) -> None:
        if value == known.default:
            return
        if known.name == "model":
            self._check_model(value)
        elif known.name in LAYERS:
            _refuse_if(len(str(value)) > _LONGEST_LAYERS, known, "is too long a list of layers")
        elif _takes_any_text(known):
            allowed = HARMLESS_TEXTS.get((kind.name, known.name), ())
            _refuse_if(value not in allowed, known, "could name a file, and files stay closed here")
        elif known.name in FIXED:
            _refuse_if(True, known, f"is {known.default!r} on this server")
        elif isinstance(value, str):
            fetched = FETCHING.get((kind.name, known.name), frozenset())
            _refuse_if(value in fetched, known, f"of {value!r} would be fetched from elsewhere")
        elif not isinstance(value, bool) and isinstance(value, int | float):
            most = largest(known)
            if abs(value) > most:
                raise Fault(
                    *(403, "option_not_allowed"),
                    f"option {known.name}={value:.6g}: this server takes at most {most:,}",
                )

    def _check_model(self, value: Any) -> None:
        if value is not None and value not in self._settings.models:
            raise Fault(
                *(403, "model_not_allowed"),
                f"the model {value!r:.80} is not among those this server was started with: "
                f"{', '.join(self._settings.models)}",
            )


def largest(known: Option) -> float:
    """The largest number that this server takes for an option."""
    if known.name in UNBOUNDED:
        return math.inf
    if float in known.types:
        return _LARGEST_FLOAT
    return _LARGEST_INTEGERS.get(known.name, _LARGEST_INTEGER)


def _importable() -> Iterator[tuple[str, type[Metric]]]:
    """The metrics that may be used and can be imported; why others cannot is said in the log."""
    for name in sorted(set(metric_names()) - ABSENT):
        try:
            yield name, metric_class(name)
        except (NlgaugeError, ImportError) as error:
            log.warning("the metric %s is left out: %s", name, error)


def _pieces(spec: str) -> Iterator[tuple[str, str]]:
    """The options that a spec spells, in either of its forms."""
    if "|" in spec:
        yield from Signature.parse(spec).keys
        return
    for piece in spec.partition(":")[2].split(","):
        key, _, text = piece.partition("=")
        yield key.strip(), text.strip()


def _takes_any_text(known: Option) -> bool:
    return str in known.types and known.choices is None


def _is_known(kind: type[Metric], name: str) -> bool:
    return name == "model" or name in LAYERS or (kind.name, name) in HARMLESS_TEXTS


def _refuse_if(wrong: bool, known: Option, why: str) -> None:
    if wrong:
        raise Fault(403, "option_not_allowed", f"option {known.name} {why}")


def _keep(table: OrderedDict[Any, Any], key: object, value: object) -> None:
    """Add to a table that forgets the oldest."""
    table[key] = value
    while len(table) > _KEPT:
        table.popitem(last=False)
