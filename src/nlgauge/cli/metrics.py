"""nlgauge metrics: the list of metrics and their options."""

from math import inf
from typing import TYPE_CHECKING, Any

from nlgauge.cli.arguments import TEXT_OR_JSON, TextOrJson, argument

if TYPE_CHECKING:
    from nlgauge.core.metric import Metric


def metrics_command(
    names: list[str] | None = argument(None, "[NAME]...", "Metrics to list."),
    format: TextOrJson = TEXT_OR_JSON,
) -> None:
    """List metrics: direction, range, options and paper."""
    import json

    from nlgauge.metrics import metric_class, metric_names

    described = [_describe(metric_class(name)()) for name in names or metric_names()]
    if format == "json":
        print(json.dumps(described, ensure_ascii=False, indent=2))
    else:
        print("\n\n".join(map(_to_text, described)))


def _describe(metric: "Metric") -> dict[str, Any]:
    from nlgauge.core.options import options_of

    fields = ("name", "kind", "default", "help")
    return {
        "name": metric.name,
        "summary": (type(metric).__doc__ or "").strip().split("\n")[0],
        "direction": metric.scale.direction,
        "range": list(metric.scale.limits),
        "components": list(metric.components),
        "paper": metric.paper,
        "options": [
            {field: getattr(option, field) for field in fields}
            for option in options_of(type(metric)).values()
        ],
    }


def _to_text(metric: dict[str, Any]) -> str:
    from nlgauge.core.options import format_value

    arrow = {"higher": "↑", "lower": "↓"}[metric["direction"]]
    low, high = metric["range"]
    limits = f"[{-inf if low is None else low:g}, {inf if high is None else high:g}]"
    lines = [f"{metric['name']} {arrow} {limits}  {metric['summary']}", f"    {metric['paper']}"]
    width = max((len(option["name"]) for option in metric["options"]), default=0)
    for option in metric["options"]:
        default = f"({option['kind']}) [{format_value(option['default'])}]"
        lines.append(f"    {option['name']:<{width}}  {option['help']} {default}")
    return "\n".join(lines)
