"""Layout of a drawing of a plan: labels, flows, and the bands between tokens."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from nlgauge.core.arrays import Floats
from nlgauge.core.plan import Plan
from nlgauge.figures.labels import printable, short_number

Kind = Literal["flow", "heatmap", "both"]

_MIN_SHARE = 1e-4  # share of the strongest flow; weaker flows are invisible or rounding errors
_FILL = 0.82  # share of a token's space that the bar of the heaviest token fills
_SPECIAL = {"[CLS]", "[SEP]", "[PAD]", "[MASK]", "[BOS]", "[EOS]"}
_SPECIAL |= {"<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<bos>", "<eos>", "<|endoftext|>"}


@dataclass(frozen=True)
class Flow:
    """Mass moved from a candidate token to a reference token, and its cost per unit."""

    candidate: int
    reference: int
    mass: float
    cost: float


@dataclass(frozen=True)
class Node:
    """A token in its column: its centre, and the heights of its own and its moved mass."""

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
class Layout:
    """Two columns of tokens, 0 at the top and 1 at the bottom, and the bands between them."""

    candidate: tuple[Node, ...]
    reference: tuple[Node, ...]
    bands: tuple[Band, ...]  # the strongest last, so that it is drawn on top


def visible_flows(plan: Plan) -> tuple[Flow, ...]:
    """Return the visible flows, strongest first."""
    strongest = plan.top(1)
    floor = _MIN_SHARE * strongest[0][2] if strongest else 0.0
    return tuple(
        Flow(i, j, mass, float(plan.cost[i, j]))
        for i, j, mass in plan.top(plan.coupling.size)
        if mass >= floor
    )


def labels(plan: Plan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the printable tokens of both sides; numbers if the plan has no tokens."""
    rows, columns = plan.coupling.shape
    sides = ((plan.candidate_tokens, rows), (plan.reference_tokens, columns))
    first, second = (
        tuple(map(printable, tokens or map(str, range(1, count + 1)))) for tokens, count in sides
    )
    return first, second


def is_special(token: str) -> bool:
    """Return whether a token is a special token that models add around a text."""
    return token in _SPECIAL


def number(value: float) -> str:
    """Format a number with three decimals and without the leading zero."""
    return "<.001" if 0 < value < 0.0005 else short_number(value)


def caption(plan: Plan, flow: Flow) -> tuple[str, str, str, str]:
    """Return the two tokens of a flow, its share of the candidate's mass, and its cost."""
    candidate, reference = labels(plan)
    share = f"{number(flow.mass)} of {number(float(plan.a[flow.candidate]))}"
    return candidate[flow.candidate], reference[flow.reference], share, number(flow.cost)


def summary(plan: Plan) -> str:
    """Return the total cost of the plan and the mass it moves."""
    return f"value {plan.value:.4f}, objective {plan.objective:.4f}, mass {plan.mass:.4f}"


def highest_cost(plan: Plan) -> float:
    """Return the upper end of the colour scale, which starts at 0."""
    return float(plan.cost.max()) or 1.0


def layout(plan: Plan) -> Layout:
    """Return the positions of all tokens and bands, with the same height per unit of mass."""
    candidate, reference = labels(plan)
    moved_candidate, moved_reference = plan.marginal_a, plan.marginal_b
    tallest = max(
        len(candidate) * float(max(plan.a.max(), moved_candidate.max())),
        len(reference) * float(max(plan.b.max(), moved_reference.max())),
    )
    unit = _FILL / tallest if tallest > 0 else 0.0
    first = _column(candidate, plan.a, moved_candidate, unit)
    second = _column(reference, plan.b, moved_reference, unit)
    flows = visible_flows(plan)
    starts = _stack(flows, first, "candidate", unit)
    ends = _stack(flows, second, "reference", unit)
    return Layout(first, second, tuple(Band(x, starts[x], ends[x]) for x in reversed(flows)))


def _column(names: Sequence[str], masses: Floats, moved: Floats, unit: float) -> tuple[Node, ...]:
    return tuple(
        Node(name, is_special(name), mass, (i + 0.5) / len(names), mass * unit, part * unit)
        for i, (name, mass, part) in enumerate(zip(names, masses.tolist(), moved, strict=True))
    )


def _stack(
    flows: Iterable[Flow], nodes: Sequence[Node], side: str, unit: float
) -> dict[Flow, tuple[float, float]]:
    """Return the ends of bands, sorted at each node so that few bands cross."""
    tops = [node.centre - node.moved / 2 for node in nodes]
    ends = {}
    for flow in sorted(flows, key=lambda flow: (flow.candidate, flow.reference)):
        at = getattr(flow, side)
        ends[flow] = tops[at], tops[at] + flow.mass * unit
        tops[at] += flow.mass * unit
    return ends
