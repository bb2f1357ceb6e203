"""Our numbers beside the published ones, as a table and one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from nlgauge.recipes.recipe import Line
from nlgauge.report.table import Column, Table, Value

Numbers = Mapping[tuple[str, str], float]
"""By the name of a line and the heading of a column."""


def beside(
    lines: Sequence[Line],
    heads: Mapping[str, str],
    ours: Numbers,
    published: Numbers,
    *,
    digits: int,
    footer: Sequence[str] = (),
) -> Table:
    """Our numbers beside the published ones; ``heads`` are columns and how their headings read.

    A line that has numbers on one side only is empty on the other, one that has none is left out;
    so are published columns where the paper has no number at all.
    """
    printed = {
        head for head in heads if any((line.published or "", head) in published for line in lines)
    }
    columns = [Column("metric"), Column("in the paper")]
    for head, heading in heads.items():
        columns.append(Column(heading, digits, "higher"))
        columns += [Column("published", digits)] if head in printed else []
    rows: list[tuple[Value, ...]] = []
    for line in lines:
        cells: list[Value] = [_named(line, heads, ours), line.published or ""]
        for head in heads:
            cells.append(ours.get((line.name, head)))
            cells += [published.get((line.published or "", head))] if head in printed else []
        if any(cell is not None for cell in cells[2:]):
            rows.append(tuple(cells))
    return Table(tuple(columns), tuple(rows), tuple(footer))


def entries(
    lines: Sequence[Line], heads: Sequence[str], ours: Numbers, published: Numbers, **about: str
) -> Iterator[dict[str, Any]]:
    """The numbers of ``beside`` one by one as plain values, each with what they are about."""
    for line in lines:
        for head in heads:
            yield {
                **about,
                "metric": _named(line, heads, ours) or None,
                "in_the_paper": line.published,
                "coefficient": head,
                "ours": plain(ours.get((line.name, head))),
                "published": published.get((line.published or "", head)),
            }


def plain(value: float | None) -> float | None:
    """The number, or None where it is undefined."""
    return float(value) if value is not None and isfinite(value) else None


def typed(rows: Mapping[str, str], heads: Sequence[str]) -> dict[tuple[str, str], float]:
    """The numbers of a table typed line by line, a dash for a number that is not printed."""
    return {
        (row, head): float(number)
        for row, line in rows.items()
        for head, number in zip(heads, line.split(), strict=True)
        if number != "-"
    }


def _named(line: Line, heads: Sequence[str] | Mapping[str, str], ours: Numbers) -> str:
    return line.name if any((line.name, head) in ours for head in heads) else ""
