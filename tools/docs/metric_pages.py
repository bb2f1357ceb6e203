"""mkdocs hook: generate a page for every metric from its docstring, options and pitfalls.

The commands on the pages run during the build, so their output and figures are current. An
embedding cache is used during the build, so each text is encoded once.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from snippets import run_command, workplace

from nlgauge.core.metric import Metric, PairMetric
from nlgauge.core.options import format_value, options_of
from nlgauge.metrics import metric_class, metric_names

PROJECT = Path(__file__).resolve().parents[2]
PITFALLS = Path(__file__).with_name("pitfalls.toml")
SECTION = "Metrics"
"""Navigation section of the generated pages."""

ONLY = "NLGAUGE_DOCS_EXAMPLES"
"""Environment variable: metrics whose examples are run, separated by commas; all if not set."""

_TEXTS = (
    "-c examples/fluent.txt examples/literal.txt examples/hasty.txt "
    "-r examples/reference.a.txt examples/reference.b.txt"
)
_PAIR = (
    "A guy with a red jacket is standing on a boat",
    "A man wearing a lifevest is sitting in a canoe",
)
_COSTS = {
    "text": "no model",
    "greedy": "one pass of the encoder over every distinct text, one matrix product per pair",
    "transport": "one pass of the encoder over every distinct text, one exact transport problem "
    "per pair",
    "clouds": "one pass of the encoder over every distinct text, many projections per pair",
    "histograms": "one pass of a masked language model for every token of every distinct text",
}


def on_config(config: Any) -> Any:
    """Add the pages to the navigation."""
    for entry in config.nav:
        if SECTION in entry:
            entry[SECTION] += [{name: f"metrics/{name}.md"} for name in metric_names()]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and their figures."""
    for path, content in generated().items():
        files.append(File.generated(config, path, content=content))
    return files


@cache
def generated() -> dict[str, str | bytes]:
    """Return all pages and figures by path."""
    found: dict[str, str | bytes] = {}
    shown = os.environ.get(ONLY)
    wanted = metric_names() if shown is None else shown.split(",")
    with workplace(PROJECT) as folder:
        os.environ["NLGAUGE_CACHE"] = str(folder / "embeddings")
        for name in metric_names():
            found |= _page(name, folder if name in wanted else None)
    found["metrics/index.md"] = _overview()
    return found


def _page(name: str, folder: Path | None) -> dict[str, str | bytes]:
    metric = metric_class(name)()
    lead, definition = _docstring(metric)
    title, _, summary = lead.partition(": ")
    example, figures = _example(metric, folder) if folder else ("Not run.", {})
    parts = [
        f"# {name}\n\n**{title}**: {summary}",
        _facts(metric),
        f"## Definition\n\n{definition}",
        f"## Pitfalls\n\n{_listed(_pitfalls().get(name, []))}",
        f"## Example\n\n{example}",
        f"## Options\n\n{_options(metric)}",
    ]
    return {f"metrics/{name}.md": "\n\n".join(parts) + "\n", **figures}


def _docstring(metric: Metric) -> tuple[str, str]:
    """Return the first line and the rest of the module's docstring, in Markdown."""
    text = inspect.cleandoc(sys.modules[type(metric).__module__].__doc__ or "")
    lead, _, rest = text.partition("\n")
    return _markdown(lead), _markdown(rest.strip("\n"))


def _markdown(text: str) -> str:
    """Return a docstring in Markdown: literals become code, indented formulas already are."""
    return "\n".join(
        line if line.startswith("    ") else _prose(line) for line in text.splitlines()
    )


def _prose(line: str) -> str:
    pieces = re.split(r"``(.+?)``", line)
    pieces[::2] = [_plain(piece) for piece in pieces[::2]]
    pieces[1::2] = [f"`{piece}`" for piece in pieces[1::2]]
    return "".join(pieces)


def _plain(text: str) -> str:
    """Return the text with Markdown markup escaped."""
    return re.sub(r"([*_\[\]\\])", r"\\\1", text.replace("<", "&lt;"))


def _facts(metric: Metric) -> str:
    scale = metric.scale
    best = "unbounded" if scale.limits[scale.direction == "higher"] is None else f"{scale.best:g}"
    low, high = ("∞" if end is None else f"{end:g}" for end in scale.limits)
    rows = {
        "Direction": f"{scale.direction} is better {scale.arrow}",
        "Range": f"{low} to {high}",
        "Best value": best,
        "Score of an empty text": f"{scale.void:g}",
        "Components": ", ".join(f"`{part}`" for part in metric.components),
        "Symmetric": "yes" if metric.symmetric else "no",
        "Model": _model(metric),
        "Cost": _COSTS[_class(metric)],
        "Paper": metric.paper or "none",
    }
    return "| | |\n|---|---|\n" + "\n".join(f"| {key} | {value} |" for key, value in rows.items())


def _model(metric: Metric) -> str:
    if metric.needs.kind == "histograms":
        return "a masked language model; default: the embedded one"
    if metric.needs.kind == "clouds":
        return "an encoder; default: the embedded MiniLM"
    return "those of its members" if hasattr(metric, "metrics") else "none"


def _class(metric: Metric) -> str:
    from nlgauge.metrics._greedy import GreedyMetric
    from nlgauge.metrics._transport import TransportMetric

    if isinstance(metric, GreedyMetric):
        return "greedy"
    return "transport" if isinstance(metric, TransportMetric) else metric.needs.kind


@cache
def _pitfalls() -> dict[str, list[str]]:
    return tomllib.loads(PITFALLS.read_text("utf-8"))


def _listed(sentences: list[str]) -> str:
    return "\n".join(f"* {sentence}" for sentence in sentences) or "None known."


def _example(metric: Metric, folder: Path) -> tuple[str, dict[str, str | bytes]]:
    """Return the commands of a page with their output, and the figures they write."""
    typed = f"nlgauge score {_TEXTS} -m {metric.name}"
    outcome = run_command(shlex.split(typed))
    broken = typed.replace(" -r ", " \\\n      -r ")
    words = [f"```console\n$ {broken}\n{outcome.stderr if outcome.code else outcome.stdout}\n```"]
    figures: dict[str, str | bytes] = {}
    for drawing in _drawings(metric) if not outcome.code else ():
        if run_command([*shlex.split(drawing.command), "-q"]).code:
            continue
        name = f"{metric.name}.{drawing.file}"
        figures[f"metrics/{name}"] = Path(folder, drawing.file).read_bytes()
        words += [f"![{drawing.caption}]({name})", f"{drawing.caption}: `{drawing.command}`"]
    return "\n\n".join(words), figures


@dataclass(frozen=True)
class _Drawing:
    caption: str
    file: str
    command: str


def _drawings(metric: Metric) -> Iterator[_Drawing]:
    yield _Drawing(
        "Scores of the example outputs by their invented ratings",
        "quality.svg",
        f"nlgauge correlate examples/judged.jsonl --distributions quality.svg -m {metric.name}",
    )
    if isinstance(metric, PairMetric) and type(metric).align is not PairMetric.align:
        candidate, reference = map(shlex.quote, _PAIR)
        yield _Drawing(
            "Token alignment",
            "plan.svg",
            f"nlgauge show -m {metric.name} -o plan.svg -c {candidate} -r {reference}",
        )


def _options(metric: Metric) -> str:
    known = options_of(type(metric)).values()
    head = "| option | values | default | meaning |\n|---|---|---|---|\n"
    rows = [
        f"| `{option.name}` | {_plain(option.kind).replace('|', 'or')} | "
        f"`{format_value(option.default)}` | {_plain(option.help)} |"
        for option in known
    ]
    return (
        f"Options follow the name of the metric: `-m {metric.name}:option=value,option=value`.\n\n"
        + head
        + "\n".join(rows)
    )


def _overview() -> str:
    rows = []
    for name in metric_names():
        metric = metric_class(name)()
        lead = _docstring(metric)[0].partition(": ")[2]
        low, high = ("∞" if end is None else f"{end:g}" for end in metric.scale.limits)
        model = {"text": "none", "clouds": "encoder", "histograms": "masked LM"}
        rows.append(
            f"| [{name}]({name}.md) | {metric.scale.arrow} | {low} to {high} | "
            f"{model[metric.needs.kind]} | {lead} |"
        )
    head = "| metric | better | range | model | description |\n|---|---|---|---|---|\n"
    return (
        "# All metrics\n\nThe pages are generated from the source file of each metric. "
        "[Choosing a metric](../choosing.md) compares the metrics.\n\n"
        + head
        + "\n".join(rows)
        + "\n"
    )
