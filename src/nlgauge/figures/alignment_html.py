"""Alignments as a self-contained web page: bands as SVG, the grid as a table; no scripts."""

from collections.abc import Sequence
from html import escape

from rich.cells import cell_len

from nlgauge.core.plan import Plan
from nlgauge.figures import alignment_layout as layout
from nlgauge.figures.alignment_layout import Band, Flow, Kind, Node, is_special, labels, number
from nlgauge.figures.colours import is_dark, ramp
from nlgauge.figures.labels import printable, shorten
from nlgauge.figures.web_page import fill_page

_COLOUR_STEPS = 16
_LETTER_WIDTH = 8.2
_BAR_WIDTH = 9.0  # of a token
_BAND_LENGTH = 300.0


def page(
    plan: Plan, kind: Kind = "both", *, title: str | None = None, signature: str | None = None
) -> str:
    """Return the page as text; tooltips give mass and cost."""
    drawings = {"flow": _flow, "heatmap": _heatmap}
    steps = range(_COLOUR_STEPS)
    return fill_page(
        "alignment.html",
        heading=_text(title or "Alignment"),
        light=_colours(ramp(_COLOUR_STEPS)),
        # Low costs have light colours on a dark background.
        dark=_colours(ramp(_COLOUR_STEPS, start=0.25)[::-1]),
        steps="\n".join(
            f".c{k} {{ fill: var(--c{k}); background: var(--c{k}); color: var(--t{k}); }}"
            for k in steps
        ),
        summary=_text(layout.summary(plan)),
        signature=f'<p class="signature">{_text(signature)}</p>' if signature else "",
        swatches="".join(f'<i class="c{k}"></i>' for k in steps),
        highest=escape(number(layout.highest_cost(plan))),
        drawings="\n".join(drawings[name](plan) for name in drawings if kind in (name, "both")),
    )


def _colours(colours: Sequence[str]) -> str:
    """Return CSS variables for each step and for text on it."""
    return " ".join(
        f"--c{k}: {colour}; --t{k}: {'#fff' if is_dark(colour) else '#000'};"
        for k, colour in enumerate(colours)
    )


def _text(content: str) -> str:
    return escape(printable(content))


def _step(plan: Plan, cost: float) -> int:
    return min(max(int(cost / layout.highest_cost(plan) * _COLOUR_STEPS), 0), _COLOUR_STEPS - 1)


def _flow(plan: Plan) -> str:
    places = layout.layout(plan)
    columns = (places.candidate, places.reference)
    widths = (max(cell_len(shorten(node.label)) for node in side) for side in columns)
    left, right = (max(wide, len("candidate")) * _LETTER_WIDTH + _BAR_WIDTH + 10 for wide in widths)
    tokens = max(len(places.candidate), len(places.reference))
    top, height = 28.0, tokens * (22.0 if tokens > 30 else 30.0)
    wide, high = left + _BAND_LENGTH + right, top + height
    size = f'width="{wide:.0f}" height="{high:.0f}" viewBox="0 0 {wide:.0f} {high:.0f}"'
    start, end = left, left + _BAND_LENGTH
    lines = [
        f'<svg {size} role="img" aria-label="bands between matched tokens">',
        f'<text class="heading" x="{start:.1f}" y="16" text-anchor="end">candidate</text>',
        f'<text class="heading" x="{end:.1f}" y="16">reference</text>',
        f'<g transform="translate(0 {top:g})">',
        *_bands(plan, places, start, height),
        *(_node(node, start - _BAR_WIDTH, -1, height) for node in places.candidate),
        *(_node(node, end, 1, height) for node in places.reference),
        "</g>",
        "</svg>",
    ]
    return "<section>" + "\n".join(lines) + "</section>"


def _bands(plan: Plan, places: layout.Layout, start: float, height: float) -> list[str]:
    strongest = max((band.flow.mass for band in places.bands), default=1.0)
    lines = []
    for band in places.bands:
        opacity = 0.6 + 0.3 * band.flow.mass / strongest
        looks = f'class="band c{_step(plan, band.flow.cost)}" opacity="{opacity:.2f}"'
        title = f"<title>{_caption(plan, band.flow)}</title>"
        lines.append(f'<path {looks} d="{_outline(band, start, height)}">{title}</path>')
    return lines


def _outline(band: Band, start: float, height: float) -> str:
    """Return the path of a band, at least 0.4 pixels high."""
    middle, end = start + _BAND_LENGTH / 2, start + _BAND_LENGTH
    (a, b), (c, d) = ((top * height, bottom * height) for top, bottom in (band.left, band.right))
    b, d = max(b, a + 0.4), max(d, c + 0.4)
    upper = f"M{start:.1f} {a:.2f}C{middle:.1f} {a:.2f} {middle:.1f} {c:.2f} {end:.1f} {c:.2f}"
    lower = f"V{d:.2f}C{middle:.1f} {d:.2f} {middle:.1f} {b:.2f} {start:.1f} {b:.2f}Z"
    return upper + lower


def _node(node: Node, x: float, outwards: int, height: float) -> str:
    """Return a token's label and bar: the outline shows its mass, the filled part is moved."""
    middle = node.centre * height
    bars = "".join(
        f'<rect class="{name}" x="{x:.1f}" y="{middle - size * height / 2:.2f}" '
        f'width="{_BAR_WIDTH:g}" height="{size * height:.2f}" />'
        for name, size in (("bar", node.moved), ("own", node.own))
    )
    at = x - 6 if outwards < 0 else x + _BAR_WIDTH + 6
    anchor = "end" if outwards < 0 else "start"
    kind = ' class="special"' if node.special else ""
    label = f'<text{kind} x="{at:.1f}" y="{middle + 5:.1f}" text-anchor="{anchor}">'
    title = f"<title>{_text(node.label)}: mass {escape(number(node.mass))}</title>"
    return f"<g>{title}{bars}{label}{_text(shorten(node.label))}</text></g>"


def _heatmap(plan: Plan) -> str:
    candidate, reference = labels(plan)
    moved = {(flow.candidate, flow.reference): flow for flow in layout.visible_flows(plan)}
    small = ' class="small"' if max(plan.cost.shape) > 30 else ""
    heads = "".join(_heading(label, "col") for label in reference)
    lines = [
        f"<section><table{small}>",
        f'<thead><tr><th class="corner">candidate / reference</th>{heads}</tr></thead>',
        "<tbody>",
    ]
    for i, label in enumerate(candidate):
        cells = (_cell(plan, i, j, moved.get((i, j))) for j in range(len(reference)))
        lines.append(f"<tr>{_heading(label, 'row')}{''.join(cells)}</tr>")
    return "\n".join([*lines, "</tbody>", "</table></section>"])


def _heading(label: str, scope: str) -> str:
    kind = ' class="special"' if is_special(label) else ""
    text = _text(shorten(label))
    inside = f"<span>{text}</span>" if scope == "col" else text
    return f'<th scope="{scope}"{kind} title="{_text(label)}">{inside}</th>'


def _cell(plan: Plan, i: int, j: int, flow: Flow | None) -> str:
    title = _caption(plan, flow or Flow(i, j, 0.0, float(plan.cost[i, j])))
    mass = f"<b>{escape(number(flow.mass))}</b>" if flow else ""
    return f'<td class="c{_step(plan, plan.cost[i, j])}" title="{title}">{mass}</td>'


def _caption(plan: Plan, flow: Flow) -> str:
    candidate, reference, share, cost = layout.caption(plan, flow)
    return escape(f"{candidate} → {reference}: {share}, cost {cost}")
