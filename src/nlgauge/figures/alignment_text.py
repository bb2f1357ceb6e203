"""Alignments in plain text: a line for each flow, and a grid of shades."""

import regex
from rich.cells import cell_len

from nlgauge.core.plan import Plan
from nlgauge.figures.alignment_layout import Kind, caption, labels, summary, visible_flows
from nlgauge.figures.labels import printable, shorten

_SHADES = "░▒▓█"
_MAX_HEADING = 12  # characters of a column's heading


def alignment_text(
    plan: Plan,
    kind: Kind = "both",
    *,
    width: int = 80,
    title: str | None = None,
    signature: str | None = None,
) -> str:
    """Return the flows, the grid if it fits ``width``, and the totals."""
    parts = [printable(title)] if title else []
    if kind != "heatmap":
        parts.append("\n".join(_list(plan)))
    if kind != "flow":
        parts.append("\n".join(_grid(plan, width)))
    parts.append("\n".join([summary(plan), *([printable(signature)] if signature else [])]))
    return "\n\n".join(parts)


def _list(plan: Plan) -> list[str]:
    """Return flows by candidate token, strongest first.

    All flows of an exact plan are listed, which are fewer than its tokens. An entropic plan has a
    flow for every pair; only as many as there are tokens are listed.
    """
    flows = visible_flows(plan)
    if not flows:
        return ["nothing is moved"]
    listed = sorted(flows[: sum(plan.coupling.shape)], key=lambda flow: flow.candidate)
    rows = [caption(plan, flow) for flow in listed]
    left, right = (max(cell_len(shorten(row[side])) for row in rows) for side in (0, 1))
    width = max(len(row[2]) for row in rows)
    lines = [
        f"{_pad(candidate, left, flush_right=True)} → {_pad(reference, right)}"
        f"  {share:>{width}}, cost {cost}"
        for candidate, reference, share, cost in rows
    ]
    if len(flows) > len(listed):
        lines.append(f"and {len(flows) - len(listed):,} weaker flows")
    return lines


def _grid(plan: Plan, width: int) -> list[str]:
    candidate, reference = labels(plan)
    indent = max(cell_len(shorten(label)) for label in candidate)
    needed = indent + 1 + 2 * len(reference)
    if needed > width:
        return [f"(the grid needs {needed} columns, but there are {width}: write a file with -o)"]
    flows = visible_flows(plan)
    share = {(flow.candidate, flow.reference): flow.mass / flows[0].mass for flow in flows}
    headings = [regex.findall(r"\X", shorten(name, _MAX_HEADING)) for name in reference]
    tallest = max(map(len, headings))
    upright = zip(*([" "] * (tallest - len(each)) + each for each in headings), strict=True)
    lines = [
        " " * (indent + 1) + "".join(_pad(letter, 2) for letter in row).rstrip() for row in upright
    ]
    for i, label in enumerate(candidate):
        shades = "".join(_shade(share.get((i, j), 0.0)) for j in range(len(reference)))
        lines.append(f"{_pad(label, indent, flush_right=True)} {shades}".rstrip())
    return lines


def _shade(share: float) -> str:
    return _SHADES[min(int(share * len(_SHADES)), len(_SHADES) - 1)] * 2 if share > 0 else "· "


def _pad(label: str, width: int, *, flush_right: bool = False) -> str:
    """Return the label padded to ``width`` columns, where some characters take two."""
    text = shorten(label)
    spaces = " " * (width - cell_len(text))
    return spaces + text if flush_right else text + spaces
