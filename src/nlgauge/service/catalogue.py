"""The response of GET /v1/metrics: every metric with a JSON schema of its options."""

from importlib.metadata import version
from typing import Any

from nlgauge.core.metric import Metric, PairMetric
from nlgauge.core.options import options_of
from nlgauge.service.admission import Admission
from nlgauge.service.option_schema import option_schema
from nlgauge.service.settings import Settings


def catalogue(admission: Admission, settings: Settings) -> dict[str, Any]:
    """Return all metrics, the models they may use, and the limits of requests."""
    return {
        "version": version("nlgauge"),
        "metrics": [_card(kind, settings) for kind in admission.kinds.values()],
        "models": list(settings.models),
        "default_model": admission.default_model,
        "limits": vars(settings.limits),
    }


def _card(kind: type[Metric], settings: Settings) -> dict[str, Any]:
    built = kind()
    schemas = ((name, option_schema(each, settings)) for name, each in options_of(kind).items())
    offered = {name: schema for name, schema in schemas if schema is not None}
    aligns = issubclass(kind, PairMetric) and kind.align is not PairMetric.align
    return {
        "name": built.name,
        "title": built.title,
        "summary": (kind.__doc__ or "").strip().split("\n")[0],
        "paper": built.paper,
        "direction": built.scale.direction,
        "range": list(built.scale.limits),
        "components": list(built.components),
        "aligns": aligns,
        "layered": aligns and "layers" in offered,
        "needs_model": built.needs.kind != "text",
        "options": {"type": "object", "additionalProperties": False, "properties": offered},
    }
