"""What a drawing of a plan shows: labels, flows, and where the bands between tokens lie."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from nlgauge.core.plan import Floats, Plan

Kind = Literal["flow", "heatmap", "both"]

_LONGEST = 24
_FAINTEST = 1e-4  # of the strongest flow: thinner than a hair, and where rounding errors live
_FILL = 0.82  # of the room between two tokens, for the one with the most mass
_UNSHOWABLE = {"Cc", "Cs", "Cn", "Zl", "Zp"}  # would break lines, terminals or XML
_SPECIAL = {"[CLS]", "[SEP]", "[PAD]", "[MASK]", "[BOS]", "[EOS]"}
_SPECIAL |= {"<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<bos>", "<eos>", "<|endoftext|>"}


@dataclass(frozen=True)
class Flow:
    """Mass that goes from a candidate token to a reference token, and the cost of a unit of it."""

    candidate: int
    reference: int
    mass: float
    cost: float


@dataclass(frozen=True)
class Node:
    """A token in its column: the middle of its place, and the heights of its mass.

    ``own`` is the mass it was given, ``moved`` the mass that the plan moves.
    """

    label: str
    special: bool
    mass: float
    centre: float
    own: float
    moved: float


@dataclass(frozen=True)
class Band:
    """A flow and the (upper, lower) ends of its band at both columns."""

    flow: Flow
    left: tuple[float, float]
    right: tuple[float, float]


@dataclass(frozen=True)
class Scene:
    """Two columns of tokens, 0 at the top and 1 at the bottom, and the bands between them."""

    candidate: tuple[Node, ...]
    reference: tuple[Node, ...]
    bands: tuple[Band, ...]  # the strongest last, so that it is drawn on top


def flows(plan: Plan) -> tuple[Flow, ...]:
    """All flows that can be seen, the strongest first."""
    strongest = plan.top(1)
    floor = _FAINTEST * strongest[0][2] if strongest else 0.0
    return tuple(
        Flow(i, j, mass, float(plan.cost[i, j]))
        for i, j, mass in plan.top(plan.coupling.size)
        if mass >= floor
    )


def labels(plan: Plan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tokens of both sides, safe to show; numbers where the plan does not know its tokens."""
    rows, columns = plan.coupling.shape
    sides = ((plan.candidate_tokens, rows), (plan.reference_tokens, columns))
    first, second = (
        tuple(map(shown, tokens or map(str, range(1, count + 1)))) for tokens, count in sides
    )
    return first, second


def shown(token: str) -> str:
    """The token with a box for each character that cannot be shown."""
    safe = "".join("�" if unicodedata.category(c) in _UNSHOWABLE else c for c in token)
    return safe if safe.strip() else "␣"


def clipped(label: str, longest: int = _LONGEST) -> str:
    """The label, its end left out where it is long."""
    return label if len(label) <= longest else label[: longest - 1] + "…"


def is_special(token: str) -> bool:
    """Whether a token is one of the marks that models put around a text."""
    return token in _SPECIAL


def number(value: float) -> str:
    """Three decimals without the leading zero, as papers set them."""
    text = f"{value:.3f}"
    if float(text) == 0 and value > 0:
        return "<.001"
    return text[1:] if text.startswith("0.") else text


def caption(plan: Plan, flow: Flow) -> tuple[str, str, str, str]:
    """A flow in words: its two tokens, its mass of the candidate's, and its cost."""
    candidate, reference = labels(plan)
    share = f"{number(flow.mass)} of {number(float(plan.a[flow.candidate]))}"
    return candidate[flow.candidate], reference[flow.reference], share, number(flow.cost)


def totals(plan: Plan) -> str:
    """What the plan costs altogether, and how much it moves."""
    parts = [f"value {plan.value:.4f}", f"objective {plan.objective:.4f}", f"mass {plan.mass:.4f}"]
    return ", ".join(parts)


def dearest(plan: Plan) -> float:
    """The upper end of the colour scale, which starts at 0: the highest cost."""
    return float(plan.cost.max()) or 1.0


def stage(plan: Plan) -> Scene:
    """The places of all tokens and bands; a unit of mass is equally high everywhere."""
    candidate, reference = labels(plan)
    left, right = plan.marginal_a, plan.marginal_b
    tallest = max(
        len(candidate) * float(max(plan.a.max(), left.max())),
        len(reference) * float(max(plan.b.max(), right.max())),
    )
    unit = _FILL / tallest if tallest > 0 else 0.0
    first = _column(candidate, plan.a, left, unit)
    second = _column(reference, plan.b, right, unit)
    return Scene(first, second, _bands(flows(plan), first, second, unit))


def _column(names: Sequence[str], own: Floats, moved: Floats, unit: float) -> tuple[Node, ...]:
    room = 1 / len(names)
    return tuple(
        Node(
            name, is_special(name), float(own[i]), (i + 0.5) * room, own[i] * unit, moved[i] * unit
        )
        for i, name in enumerate(names)
    )


def _bands(
    seen: Sequence[Flow], first: Sequence[Node], second: Sequence[Node], unit: float
) -> tuple[Band, ...]:
    """Bands stacked at both ends in the order of their partners, so that few of them cross."""
    by_row = sorted(seen, key=lambda flow: (flow.candidate, flow.reference))
    by_column = sorted(seen, key=lambda flow: (flow.reference, flow.candidate))
    left = _stacked(((flow, first[flow.candidate]) for flow in by_row), unit)
    right = _stacked(((flow, second[flow.reference]) for flow in by_column), unit)
    return tuple(Band(flow, left[flow], right[flow]) for flow in reversed(seen))


def _stacked(placed: Iterable[tuple[Flow, Node]], unit: float) -> dict[Flow, tuple[float, float]]:
    ends: dict[Flow, tuple[float, float]] = {}
    last: Node | None = None
    at = 0.0
    for flow, node in placed:
        if node is not last:
            at, last = node.centre - node.moved / 2, node
        ends[flow] = (at, at + flow.mass * unit)
        at += flow.mass * unit
    return ends
