"""nlgauge metrics: the list of metrics, and the options of named metrics."""

from math import inf
from typing import TYPE_CHECKING, Any

from nlgauge.cli.arguments import TEXT_OR_JSON, TextOrJson, argument
from nlgauge.cli.completion import complete_metric

if TYPE_CHECKING:
    from nlgauge.core.metric import Metric

_REQUIRED = {
    "text": "texts only",
    "clouds": "an encoder model",
    "histograms": "a masked language model",
}


def metrics_command(
    names: list[str] | None = argument(
        None,
        "NAME",
        "Metrics to describe, with their options.",
        autocompletion=complete_metric,
    ),
    format: TextOrJson = TEXT_OR_JSON,
) -> None:
    """List the metrics, or describe the named ones.

    Examples:

    nlgauge metrics

    nlgauge metrics bertscore chrf

    The list has a line for each metric: its name for -m, its title in tables, direction and
    requirements. For named metrics, range, components, options with defaults and paper are added.
    """
    import json

    from nlgauge.metrics import metric_class, metric_names, resolve_name

    chosen = [resolve_name(name)[0] for name in names or metric_names()]
    described = [_describe(metric_class(name)()) for name in chosen]
    if format == "json":
        print(json.dumps(described, ensure_ascii=False, indent=2))
    elif names:
        print("\n\n".join(map(_to_text, described)))
    else:
        print(_list(described))


def _list(described: list[dict[str, Any]]) -> str:
    """Return a line for each metric."""
    from nlgauge.report.formats import text
    from nlgauge.report.table import Column, Table

    rows = tuple(
        (each["name"], each["title"], f"{each['direction']} is better", each["requires"])
        for each in described
    )
    columns = map(Column, ("name", "title", "direction", "requires"))
    return text(Table(tuple(columns), rows, ("options of a metric: nlgauge metrics NAME",)))


def _describe(metric: "Metric") -> dict[str, Any]:
    from nlgauge.core.options import options_of

    fields = ("name", "kind", "default", "help")
    return {
        "name": metric.name,
        "title": metric.title,
        "summary": (type(metric).__doc__ or "").strip().split("\n")[0],
        "direction": metric.scale.direction,
        "range": list(metric.scale.limits),
        "components": list(metric.components),
        "requires": metric.requires or _REQUIRED[metric.needs.kind],
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
    lines = [f"{metric['name']} {arrow} {limits}  {metric['summary']}"]
    about = (
        *(metric["title"], f"{metric['direction']} is better"),
        *(f"components: {', '.join(metric['components'])}", f"requires {metric['requires']}"),
    )
    lines += [f"    {'; '.join(about)}", *(f"    {paper}" for paper in [metric["paper"]] if paper)]
    width = max((len(option["name"]) for option in metric["options"]), default=0)
    for option in metric["options"]:
        default = f"({option['kind']}) [{format_value(option['default'])}]"
        lines.append(f"    {option['name']:<{width}}  {option['help']} {default}")
    return "\n".join(lines)
