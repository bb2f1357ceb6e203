"""The catalogue: what GET /v1/metrics tells, a JSON schema for the options of every metric."""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import Any

from nlgauge.core.metric import Metric, PairMetric
from nlgauge.core.options import Option
from nlgauge.service.admission import FETCHING, HARMLESS_TEXTS, LAYERS, Gate, largest
from nlgauge.service.settings import Settings

# Where the library's help speaks of files and folders, which stay closed to requests.
_HELP = {("meteor", "synonyms"): "auto: those of the server's WordNet, if any; none: no synonyms."}
_MODEL_HELP = "One of the models this server was started with."
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


def catalogue(gate: Gate, settings: Settings) -> dict[str, Any]:
    """All metrics, the models they may use, and what a request may bring."""
    return {
        "version": version("nlgauge"),
        "metrics": [_card(kind, gate, settings) for kind in gate.kinds.values()],
        "models": list(settings.models),
        "default_model": gate.default_model,
        "limits": vars(settings.limits),
    }


def _card(kind: type[Metric], gate: Gate, settings: Settings) -> dict[str, Any]:
    built = kind()
    offered = gate.offered(kind)
    return {
        "name": built.name,
        "summary": (kind.__doc__ or "").strip().split("\n")[0],
        "paper": built.paper,
        "direction": built.scale.direction,
        "range": list(built.scale.limits),
        "components": list(built.components),
        "aligns": aligns(built),
        "layered": aligns(built) and "layers" in offered,
        "needs_model": built.needs.kind != "text",
        "options": {
            "type": "object",
            "additionalProperties": False,
            "properties": {name: _option(kind, known, settings) for name, known in offered.items()},
        },
    }


def aligns(metric: Metric) -> bool:
    """Whether a metric can say which token it matched with which."""
    return isinstance(metric, PairMetric) and type(metric).align is not PairMetric.align


def _option(kind: type[Metric], known: Option, settings: Settings) -> dict[str, Any]:
    helped = _HELP.get((kind.name, known.name), known.help)
    schema: dict[str, Any] = {"description": helped, "default": known.default}
    names: list[str | None] = []
    if known.name == "model":
        schema["description"] = _MODEL_HELP
        names = list(settings.models)
    elif known.choices is not None:
        fetched = FETCHING.get((kind.name, known.name), frozenset())
        names = [name for name in known.choices if name not in fetched]
    elif (kind.name, known.name) in HARMLESS_TEXTS:
        names = list(HARMLESS_TEXTS[kind.name, known.name])
    if names:
        return schema | {"enum": names + [None] * (type(None) in known.types)}
    kinds = [_TYPES[each] for each in known.types]
    schema["type"] = kinds[0] if len(kinds) == 1 else kinds
    if known.name not in LAYERS and bool not in known.types:
        schema |= _bounds(known)
    return schema


def _bounds(known: Option) -> dict[str, float]:
    most = largest(known) if known.high is None else known.high
    bounds = {} if known.low is None else {"minimum": known.low}
    return bounds | ({"maximum": most} if math.isfinite(most) else {})
