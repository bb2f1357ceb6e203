"""nlgauge metrics: what can be measured, and how each metric is set."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from nlgauge.core.metric import Metric


class Format(StrEnum):
    """The inks of the list."""

    TEXT = "text"
    JSON = "json"


def metrics_command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these metrics.")
    ] = None,
    format: Annotated[Format, typer.Option("--format", "-f")] = Format.TEXT,
) -> None:
    """List the metrics: direction, range, options and paper."""
    import json

    from nlgauge.metrics import metric_class, metric_names

    built = [metric_class(name)() for name in names or metric_names()]
    if format is Format.JSON:
        print(json.dumps([_describe(metric) for metric in built], ensure_ascii=False, indent=2))
    else:
        print("\n\n".join(_explain(metric) for metric in built))


def _describe(metric: Metric) -> dict[str, Any]:
    from nlgauge.core.options import options_of

    return {
        "name": metric.name,
        "summary": _summary(metric),
        "direction": metric.scale.direction,
        "range": list(metric.scale.limits),
        "components": list(metric.components),
        "paper": metric.paper,
        "options": [
            {
                "name": option.name,
                "kind": option.kind,
                "default": option.default,
                "help": option.help,
            }
            for option in options_of(type(metric)).values()
        ],
    }


def _explain(metric: Metric) -> str:
    from nlgauge.core.options import format_value, options_of

    scale = metric.scale
    lines = [
        f"{metric.name} {scale.arrow} [{scale.low:g}, {scale.high:g}]  {_summary(metric)}",
        f"    {metric.paper}",
    ]
    known = options_of(type(metric)).values()
    room = max((len(option.name) for option in known), default=0)
    for option in known:
        default = format_value(option.default)
        lines.append(f"    {option.name:<{room}}  {option.help} ({option.kind}) [{default}]")
    return "\n".join(lines)


def _summary(metric: Metric) -> str:
    return (type(metric).__doc__ or "").strip().split("\n")[0]
