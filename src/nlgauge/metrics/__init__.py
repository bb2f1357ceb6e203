"""The catalogue: every file of this folder is a metric, found by its name.

Other places are searched in the same way: folders named in the environment variable
``NLGAUGE_METRICS`` (for a metric you are writing) and the entry point group ``nlgauge.metrics``
(for a metric you publish).
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from nlgauge.core.errors import NlgaugeError, OptionError, UnknownMetric, UsageError
from nlgauge.core.languages import language_code
from nlgauge.core.metric import Metric
from nlgauge.core.options import format_value, options_of, parse_options, refuse_unknown
from nlgauge.core.signature import Signature
from nlgauge.metrics._cloud_metric import CloudMetric as CloudMetric  # for authors of metrics

FOLDERS_VARIABLE = "NLGAUGE_METRICS"


def metric_names() -> tuple[str, ...]:
    """The names of all metrics, sorted, without importing any of them."""
    return tuple(sorted(_places()))


def metric_class(name: str) -> type[Metric]:
    """The metric of that name, imported now; an unknown name is answered with the nearest."""
    if name in _own_names():  # the others are all searched for anew, which takes a while
        return _from_package(name)
    places = _places()
    if name not in places:
        near = difflib.get_close_matches(name, places, 1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        known = ", ".join(sorted(places))
        raise UnknownMetric(f"there is no metric {name!r}; {hint}known: {known}")
    return places[name]()


def metric(spec: str | Metric, **options: Any) -> Metric:
    """The metric that a name, ``name:option=value,...`` or a signature describes.

    Keyword options go on top: ``metric("bertscore:layer=4", weights="idf")``.
    """
    if isinstance(spec, Metric):
        if options:
            raise OptionError(f"options {sorted(options)} cannot be added to a built metric")
        return spec
    built = _rebuilt(spec) if "|" in spec else _spelled(spec)
    ours = _in_our_words(type(built), options)
    refuse_unknown(type(built), ours, name=built.name)
    return dataclasses.replace(built, **ours)


def metric_in(language: str, spec: str | Metric) -> Metric:
    """The metric of a spec with the options that suit a language, unless the spec sets them."""
    language_code(language)  # refuses what is none
    if isinstance(spec, Metric) or "|" in spec:
        raise OptionError(
            f"lang={language} cannot change a metric that is built or a signature, which set all "
            "options; leave it out, or name the metric as name:option=value"
        )
    return _spelled(spec, language)


# What bert-score, torchmetrics, evaluate and sacrebleu call options that we have.
_ELSEWHERE = {
    "model_type": ("model",),
    "model_name": ("model",),
    "model_name_or_path": ("model",),
    "num_layers": ("layer", "layers"),
    "lc": ("lowercase",),
    "n_gram": ("ngram", "order"),
}


def _in_our_words(kind: type[Metric], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with the names that other libraries use for them translated."""
    known = options_of(kind)
    ours: dict[str, Any] = {}
    for key, value in options.items():
        if key in known:
            ours[key] = value
        elif key == "lang" and ("model" in known or kind.language_options):
            model = {"model": f"lang:{value}"} if "model" in known else {}
            ours = {**_suited(kind, value), **model, **ours}
        elif key == "idf" and "weights" in known:
            yes = str(value).lower() in ("yes", "true", "on", "1")
            ours["weights"] = "idf" if yes else "uniform"
        else:
            names = [name for name in _ELSEWHERE.get(key, ()) if name in known]
            ours[names[0] if names else key] = value
    return ours


def _suited(kind: type[Metric], language: str) -> dict[str, str | bool]:
    """The options that suit a language; a metric that asks for the language is told it."""
    told = {"lang": language_code(language)} if "lang" in options_of(kind) else {}
    return {**told, **kind.options_for(language)}


def _spelled(spec: str, language: str | None = None) -> Metric:
    """The metric of ``name:option=value,...``, with what suits a language below its options."""
    name, _, rest = spec.strip().partition(":")
    kind = metric_class(name)
    suits = {} if language is None else _suited(kind, language)
    values = {**suits, **_in_our_words(kind, _split_options(spec, rest))}
    texts = {key: v if isinstance(v, str) else format_value(v) for key, v in values.items()}
    return kind(**parse_options(kind, texts, name=name))


def _rebuilt(spec: str) -> Metric:
    """The metric of a signature, whoever wrote it."""
    signature = Signature.parse(spec)
    kind = metric_class(signature.name)
    try:
        return kind.rebuild(dict(signature.keys))
    except NlgaugeError:
        raise
    except KeyError as error:
        raise UsageError(f"signature {spec!r} lacks the key {error}; quote all of it") from None
    except ValueError as error:
        raise UsageError(f"signature {spec!r} cannot be read: {error}") from None


def _split_options(spec: str, rest: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    for piece in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = piece.partition("=")
        if not equals:
            raise OptionError(f"metric {spec!r}: {piece!r} is not of the form option=value")
        if key.strip() in texts:
            raise OptionError(f"metric {spec!r}: option {key.strip()!r} is given twice")
        texts[key.strip()] = value.strip()
    return texts


def _places() -> dict[str, Callable[[], type[Metric]]]:
    """Where each metric would be imported from; our own files win over others of their name."""
    found: dict[str, Callable[[], type[Metric]]] = {}
    for point in entry_points(group="nlgauge.metrics"):
        found[point.name] = partial(_from_entry_point, point)
    for folder in filter(None, os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep)):
        for path in sorted(Path(folder).glob("[!_]*.py")):
            found[path.stem] = partial(_from_file, path)
    return found | {name: partial(_from_package, name) for name in _own_names()}


@lru_cache
def _own_names() -> frozenset[str]:
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return frozenset(name for name in names if not name.startswith("_"))


def _from_package(name: str) -> type[Metric]:
    return _only_metric(importlib.import_module(f"{__name__}.{name}"))


def _from_file(path: Path) -> type[Metric]:
    return _only_metric(_import_file(path))


def _from_entry_point(point: EntryPoint) -> type[Metric]:
    return _only_metric(point.load())


@lru_cache
def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UnknownMetric(f"{path} cannot be imported as a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look their module up by name
    try:
        spec.loader.exec_module(module)
    except NlgaugeError:
        raise
    except Exception as error:
        raise UnknownMetric(f"the metric file {path} fails on import: {error!r}") from error
    return module


def _only_metric(source: Any) -> type[Metric]:
    """The metric class an entry point names or a module defines."""
    if isinstance(source, type) and issubclass(source, Metric):
        return source
    defined = [
        value
        for value in vars(source).values()
        if isinstance(value, type)
        and issubclass(value, Metric)
        and value.__module__ == source.__name__
        and not getattr(value, "__abstractmethods__", None)
    ]
    if len(defined) != 1:
        names = ", ".join(kind.__name__ for kind in defined) or "none"
        raise UnknownMetric(
            f"{source.__name__} must define exactly one metric class, but it defines {names}"
        )
    return defined[0]
