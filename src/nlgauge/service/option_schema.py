"""JSON schemas of the option values that requests may set; published and enforced."""

import math
from collections.abc import Mapping
from typing import Any

from nlgauge.core.options import Option
from nlgauge.service.settings import Settings

# Memory and time grow with these values; the defaults of all metrics are well below.
_LARGEST_INTEGER = 50
_LARGEST_FLOAT = 1e6
_LONGEST_TEXT = 32

_MODEL_HELP = "One of the models this server was started with."
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


def option_schema(known: Option, settings: Settings) -> dict[str, Any] | None:
    """Return the schema of an option; None if requests cannot set it, like names of files."""
    rule = known.server
    if rule == "fixed" or (rule is None and str in known.types and known.choices is None):
        return None
    schema: dict[str, Any] = {"description": known.help, "default": known.default}
    values = known.choices
    if rule == "model":
        schema["description"], values = _MODEL_HELP, settings.models
    elif isinstance(rule, Mapping):
        meanings = [f"{value}: {meaning}" for value, meaning in rule.items()]
        schema["description"], values = f"{'; '.join(meanings)}.", tuple(rule)
    elif isinstance(rule, tuple):
        values = rule
    if values is not None:
        return schema | {"enum": [*values, *[None] * (type(None) in known.types)]}
    kinds = [_TYPES[each] for each in known.types]
    schema["type"] = kinds[0] if len(kinds) == 1 else kinds
    if rule == "text":
        return schema | {"maxLength": _LONGEST_TEXT}
    return schema if bool in known.types else schema | _bounds(known)


def _bounds(known: Option) -> dict[str, float]:
    """Return finite bounds of a number: those of the metric within those of the server."""
    largest = _LARGEST_FLOAT if float in known.types else _LARGEST_INTEGER
    if isinstance(known.server, int | float):
        largest = known.server
    low, high = known.limits
    bounds = {"minimum": max(low, -largest), "maximum": min(high, largest)}
    return {name: bound for name, bound in bounds.items() if math.isfinite(bound)}


def violation(schema: Mapping[str, Any] | None, value: Any) -> str | None:
    """Return why a value of the right type does not match a schema; None if it does."""
    if schema is None:
        return "cannot be set on this server"
    if "enum" in schema and value not in schema["enum"]:
        accepted = ", ".join(map(str, schema["enum"]))
        return f"is {value!r:.80}; this server accepts {accepted}"
    if len(str(value)) > schema.get("maxLength", math.inf):
        return f"has more than {schema['maxLength']} characters"
    if "type" in schema and isinstance(value, int | float) and not isinstance(value, bool):
        low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
        if not low <= value <= high:
            return f"is {value:.6g}; this server accepts {low:,} to {high:,}"
    return None
