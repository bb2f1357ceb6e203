"""The answer of GET /v1/metrics: every metric with a JSON schema of its options."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from nlgauge.core.metric import Metric, PairMetric
from nlgauge.core.options import Option, options_of
from nlgauge.service.admission import Admission, is_offered, largest, server_values
from nlgauge.service.settings import Settings

_MODEL_HELP = "One of the models this server was started with."
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


def catalogue(admission: Admission, settings: Settings) -> dict[str, Any]:
    """All metrics, the models they may use, and the limits of requests."""
    return {
        "version": version("nlgauge"),
        "metrics": [_card(kind, settings) for kind in admission.kinds.values()],
        "models": list(settings.models),
        "default_model": admission.default_model,
        "limits": vars(settings.limits),
    }


def _card(kind: type[Metric], settings: Settings) -> dict[str, Any]:
    built = kind()
    offered = {name: known for name, known in options_of(kind).items() if is_offered(known)}
    aligns = issubclass(kind, PairMetric) and kind.align is not PairMetric.align
    return {
        "name": built.name,
        "summary": (kind.__doc__ or "").strip().split("\n")[0],
        "paper": built.paper,
        "direction": built.scale.direction,
        "range": list(built.scale.limits),
        "components": list(built.components),
        "aligns": aligns,
        "layered": aligns and "layers" in offered,
        "needs_model": built.needs.kind != "text",
        "options": {
            "type": "object",
            "additionalProperties": False,
            "properties": {name: _schema(known, settings) for name, known in offered.items()},
        },
    }


def _schema(known: Option, settings: Settings) -> dict[str, Any]:
    schema: dict[str, Any] = {"description": known.help, "default": known.default}
    if known.server == "model":
        schema["description"] = _MODEL_HELP
    elif isinstance(known.server, Mapping):
        meanings = [f"{value}: {meaning}" for value, meaning in known.server.items()]
        schema["description"] = f"{'; '.join(meanings)}."
    values = server_values(known, settings)
    if values is not None:
        return schema | {"enum": [*values, *[None] * (type(None) in known.types)]}
    kinds = [_TYPES[each] for each in known.types]
    schema["type"] = kinds[0] if len(kinds) == 1 else kinds
    if str not in known.types and bool not in known.types:
        high = largest(known) if known.high is None else known.high
        schema |= {} if known.low is None else {"minimum": known.low}
        schema |= {"maximum": high} if math.isfinite(high) else {}
    return schema
