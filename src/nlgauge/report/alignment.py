"""A plan in plain text: a line for each flow, and a grid of shades where it fits."""

from __future__ import annotations

from collections.abc import Sequence

import regex
from rich.cells import cell_len

from nlgauge.core.plan import Plan
from nlgauge.figures.alignment_layout import Kind, caption, clipped, flows, labels, shown, totals

_SHADES = "░▒▓█"
_NOTHING = "·"
_TALLEST = 12  # letters of a column's heading


def alignment(
    plan: Plan,
    kind: Kind = "both",
    *,
    width: int = 80,
    title: str | None = None,
    signature: str | None = None,
) -> str:
    """The flows, the grid and the totals; a grid wider than ``width`` is left out and said so."""
    parts = [shown(title)] if title else []
    if kind != "heatmap":
        parts.append("\n".join(_list(plan)))
    if kind != "flow":
        parts.append("\n".join(_grid(plan, width)))
    parts.append("\n".join([totals(plan), *([signature] if signature else [])]))
    return "\n\n".join(parts)


def _list(plan: Plan) -> list[str]:
    """The flows by candidate token, the strongest of each first.

    An exact plan has fewer flows than tokens, so all are listed; of an entropic one, which moves a
    little from everywhere to everywhere, only as many as there are tokens.
    """
    every = flows(plan)
    if not every:
        return ["nothing is moved"]
    kept = sorted(every[: sum(plan.coupling.shape)], key=lambda flow: flow.candidate)
    rows = [caption(plan, flow) for flow in kept]
    left, right = (max(cell_len(clipped(row[side])) for row in rows) for side in (0, 1))
    room = max(len(row[2]) for row in rows)
    lines = [
        f"{_padded(candidate, left, flush_right=True)} → {_padded(reference, right)}"
        f"  {share:>{room}}, cost {cost}"
        for candidate, reference, share, cost in rows
    ]
    if len(every) > len(kept):
        lines.append(f"and {len(every) - len(kept):,} weaker flows")
    return lines


def _grid(plan: Plan, width: int) -> list[str]:
    candidate, reference = labels(plan)
    left = max(cell_len(clipped(label)) for label in candidate)
    needed = left + 1 + 2 * len(reference)
    if needed > width:
        return [f"(a grid needs {needed} columns, here are {width}: write it to a file with -o)"]
    strongest = max((mass for _, _, mass in plan.top(1)), default=1.0)
    seen = {(flow.candidate, flow.reference): flow.mass / strongest for flow in flows(plan)}
    lines = [" " * (left + 1) + row for row in _standing(reference)]
    for i, label in enumerate(candidate):
        shades = "".join(_shade(seen.get((i, j), 0.0)) for j in range(len(reference)))
        lines.append(f"{_padded(label, left, flush_right=True)} {shades}".rstrip())
    return lines


def _shade(share: float) -> str:
    if share <= 0:
        return _NOTHING + " "
    return _SHADES[min(int(share * len(_SHADES)), len(_SHADES) - 1)] * 2


def _standing(names: Sequence[str]) -> list[str]:
    """Headings written downwards, each two columns wide and ending on the same line."""
    columns = [regex.findall(r"\X", clipped(name, _TALLEST)) for name in names]
    tallest = max(map(len, columns))
    padded = [[" "] * (tallest - len(letters)) + letters for letters in columns]
    rows = zip(*padded, strict=True)
    return ["".join(_padded(letter, 2) for letter in row).rstrip() for row in rows]


def _padded(label: str, room: int, *, flush_right: bool = False) -> str:
    """The label with spaces up to ``room`` columns of a terminal, where some letters take two."""
    text = clipped(label)
    spaces = " " * (room - cell_len(text))
    return spaces + text if flush_right else text + spaces
