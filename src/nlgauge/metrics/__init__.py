"""The catalogue of metrics: each module of this package is a metric, named after its file.

Metrics are also found in the folders of the environment variable ``NLGAUGE_METRICS`` (for a metric
in development) and in the entry point group ``nlgauge.metrics`` (for a published one).
"""

import dataclasses
import difflib
import importlib
import importlib.util
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from importlib.metadata import entry_points
from inspect import isabstract
from pathlib import Path
from types import ModuleType
from typing import Any

from nlgauge.core.errors import NlgaugeError, OptionError, UnknownMetric, UsageError
from nlgauge.core.languages import language_code
from nlgauge.core.metric import Metric
from nlgauge.core.options import format_value, options_of, parse_options, refuse_unknown
from nlgauge.metrics._baseline import SHIPPED
from nlgauge.metrics._cloud_metric import CloudMetric as CloudMetric  # for authors of metrics
from nlgauge.metrics._signatures import read_signature

FOLDERS_VARIABLE = "NLGAUGE_METRICS"
# Names of options in bert-score, torchmetrics, evaluate and sacrebleu.
_ALIASES = {
    "model_type": ("model",),
    "model_name": ("model",),
    "model_name_or_path": ("model",),
    "num_layers": ("layer", "layers"),
    "layers": ("layer",),
    "layer": ("layers",),
    "lc": ("lowercase",),
    "n_gram": ("ngram", "order"),
}
# Trained metrics of other packages.
_TRAINED = ("bartscore", "bleurt", "comet", "cometkiwi", "metricx", "prism", "unite", "xcomet")


def metric_names() -> tuple[str, ...]:
    """Return the sorted names of all metrics, without importing them.

    Returns
    -------
    tuple of str
        Names of this package, of ``NLGAUGE_METRICS`` and of entry points.

    Examples
    --------
    >>> "chrf" in metric_names()
    True
    """
    return tuple(sorted(_sources()))


def metric_class(name: str) -> type[Metric]:
    """Return the class of a metric.

    Parameters
    ----------
    name
        One of :func:`metric_names`.

    Returns
    -------
    type of Metric
        A frozen dataclass whose fields are the options.

    Raises
    ------
    UnknownMetric
        If there is no metric of this name.

    Examples
    --------
    >>> metric_class("chrf").__name__
    'Chrf'
    """
    if name in _package_names():  # searching the other sources is slow
        return _find_class(_import_packaged(name))
    sources = _sources()
    if name not in sources:
        matches = difflib.get_close_matches(name, sources, 1, cutoff=0.5)
        hint = f"did you mean {matches[0]!r}? " if matches else ""
        if "," in name:
            hint = "separate metrics by spaces, as in -m bleu chrf; "
        if re.sub(r"[\W\d]|qe$", "", name.lower()) in _TRAINED:
            hint = "run its program with external (see nlgauge metrics external); "
        known = ", ".join(metric_names())
        raise UnknownMetric(f"there is no metric {name!r}; {hint}known: {known}")
    return _find_class(sources[name]())


def resolve_name(name: str) -> tuple[str, Mapping[str, str]]:
    """Return the metric's name and options for a common name such as BLEU, rougeL or chrF++."""
    if name in _package_names() or name in _sources():
        return name, {}
    plain = re.sub(r"[\s_-]", "", name.lower())
    names = {each.replace("_", ""): each for each in _package_names()}
    for each in (plain, plain.removesuffix("score")):
        if each in names:
            return names[each], {}
    aliases = ((each, metric_class(each).aliases) for each in sorted(_package_names()))
    return next(((each, table[plain]) for each, table in aliases if plain in table), (name, {}))


def metric(spec: str | Metric, /, *, allow_external: Sequence[str] = (), **options: Any) -> Metric:
    """Return the metric of a name, of ``name:option=value,...`` or of a signature.

    Signatures that sacrebleu prints are read, too.

    Parameters
    ----------
    spec
        A name, with or without options, a signature, or a metric, which is returned unchanged.
    allow_external
        Commands that a signature may run. The signature of a metric that runs any other program is
        rejected, because signatures may come from untrusted files.
    **options
        Options that replace those of ``spec``. ``tokenize`` may be a Python function that returns
        the list of words of a text.

    Returns
    -------
    Metric
        The metric, not yet bound to a model.

    Raises
    ------
    UnknownMetric
        If there is no metric of this name.
    OptionError
        If an option does not exist or has an invalid value.
    UsageError
        If a signature names a program that ``allow_external`` does not.

    Examples
    --------
    >>> metric("bertscore:layer=4", weights="idf").label()
    'bertscore:weights=idf,layer=4'
    """
    if isinstance(spec, Metric):
        if options:
            raise OptionError(f"options {sorted(options)} cannot be added to a built metric")
        return spec
    built = from_signature(spec, allow_external) if "|" in spec else _parse_spec(spec)
    translated = _translate(type(built), options)
    refuse_unknown(type(built), translated, name=built.name)
    known = options_of(type(built))
    converted = {key: known[key].convert(value) for key, value in translated.items()}
    return dataclasses.replace(built, **converted)


def metric_in(language: str, spec: str | Metric) -> Metric:
    """Return the metric of a spec, with the language's options that the spec does not set."""
    language_code(language)  # raises an error if it is not a language
    if isinstance(spec, Metric) or "|" in spec:
        raise OptionError(
            f"lang={language} cannot change a built metric or a signature, which set all options; "
            "leave it out, or name the metric as name:option=value"
        )
    return _parse_spec(spec, language)


def _translate(kind: type[Metric], options: Mapping[str, Any]) -> dict[str, Any]:
    """Replace the option names of other libraries by those of the metric."""
    known = options_of(kind)
    translated: dict[str, Any] = {}
    for key, value in options.items():
        if key in known:
            translated[key] = value
        elif key == "lang" and ("model" in known or kind.language_options):
            model = {"model": f"lang:{value}"} if "model" in known else {}
            translated = {**_language_options(kind, value), **model, **translated}
        elif key == "idf" and "weights" in known:
            translated["weights"] = "idf" if _is_true(value) else "uniform"
        elif key == "rescale_with_baseline" and "baseline" in known:
            translated["baseline"] = SHIPPED if _is_true(value) else None
        else:
            names = [name for name in _ALIASES.get(key, ()) if name in known]
            translated[names[0] if names else key] = value
    return translated


def _is_true(value: Any) -> bool:
    return str(value).lower() in ("yes", "true", "on", "1")


def _language_options(kind: type[Metric], language: str) -> dict[str, str | bool]:
    lang = {"lang": language_code(language)} if "lang" in options_of(kind) else {}
    return {**lang, **kind.options_for(language)}


def _parse_spec(spec: str, language: str | None = None) -> Metric:
    written, _, options_text = spec.strip().partition(":")
    name, preset = resolve_name(written)
    kind = metric_class(name)
    defaults = {} if language is None else _language_options(kind, language)
    values = {**defaults, **preset, **_translate(kind, _split_options(spec, options_text))}
    texts = {key: v if isinstance(v, str) else format_value(v) for key, v in values.items()}
    return kind(**parse_options(kind, texts, name=name))


def from_signature(text: str, allow_external: Sequence[str] = ()) -> Metric:
    """Return the metric of a signature, which may only run the allowed commands."""
    signature = read_signature(text)
    kind = metric_class(signature.name)
    try:
        built = kind.rebuild(dict(signature.keys))
    except NlgaugeError:
        raise
    except KeyError as error:
        raise UsageError(f"signature {text!r} lacks the key {error}; quote all of it") from None
    except ValueError as error:
        raise UsageError(f"signature {text!r} cannot be read: {error}") from None
    for command in built.programs:
        if command not in allow_external:
            raise UsageError(
                f"the signature would run the program {command!r}; if you trust it, allow exactly "
                "this command with --allow-external (in Python: allow_external=[...])"
            )
    return built


def _split_options(spec: str, options_text: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    for part in filter(None, map(str.strip, options_text.split(","))):
        key, equals, value = map(str.strip, part.partition("="))
        if not equals:
            raise OptionError(f"metric {spec!r}: {part!r} is not of the form option=value")
        if key in texts:
            raise OptionError(f"metric {spec!r}: option {key!r} is given twice")
        texts[key] = value
    return texts


def _sources() -> dict[str, Callable[[], Any]]:
    """Return import functions by metric name; the metrics of this package take precedence."""
    points = entry_points(group="nlgauge.metrics")
    loaders: dict[str, Callable[[], Any]] = {point.name: point.load for point in points}
    for folder in filter(None, os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep)):
        for path in sorted(Path(folder).glob("[!_]*.py")):
            if path.is_file():  # reading a pipe would block
                loaders[path.stem] = partial(_import_file, path)
    return loaders | {name: partial(_import_packaged, name) for name in _package_names()}


@lru_cache
def _package_names() -> frozenset[str]:
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return frozenset(name for name in names if not name.startswith("_"))


def _import_packaged(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")


@lru_cache
def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UnknownMetric(f"{path} cannot be imported as a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look up their module by name
    try:
        spec.loader.exec_module(module)
    except NlgaugeError:
        raise
    except Exception as error:
        raise UnknownMetric(f"the metric file {path} fails on import: {error!r}") from error
    return module


def _find_class(source: Any) -> type[Metric]:
    """Return the metric class that an entry point names or a module defines."""
    if isinstance(source, type) and issubclass(source, Metric):
        return source
    classes = (value for value in vars(source).values() if isinstance(value, type))
    local_classes = (kind for kind in classes if kind.__module__ == source.__name__)
    defined = [kind for kind in local_classes if issubclass(kind, Metric) and not isabstract(kind)]
    if len(defined) != 1:
        names = ", ".join(kind.__name__ for kind in defined) or "none"
        raise UnknownMetric(
            f"{source.__name__} must define exactly one metric class, but it defines {names}"
        )
    return defined[0]
