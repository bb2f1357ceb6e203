"""Segments on which two systems differ, their texts side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len, chop_cells

Row = Mapping[str, Any]

_NARROWEST = 24  # columns of a text that is still read with pleasure


def side_by_side(rows: Sequence[Row], *, width: int = 80, digits: int = 2) -> str:
    """A block for each segment: scores, the references, then baseline and system in two columns.

    A row says metric, segment, system, baseline, difference, value, baseline_value, candidate,
    baseline_candidate and references.
    """
    room = max((width - 3) // 2, _NARROWEST)
    return "\n\n".join("\n".join(_block(row, room, digits)) for row in rows)


def _block(row: Row, room: int, digits: int) -> Iterator[str]:
    yield f"segment {row['segment']}: {row['metric']} {row['difference']:+.{digits}f}"
    for text in row["references"]:
        lines = wrapped(text, 2 * room + 3 - 11)
        yield f"reference: {lines[0]}"
        yield from (f"           {line}" for line in lines[1:])
    left = [f"{row['baseline']} {row['baseline_value']:.{digits}f}"]
    right = [f"{row['system']} {row['value']:.{digits}f}"]
    left += wrapped(row["baseline_candidate"], room)
    right += wrapped(row["candidate"], room)
    for i in range(max(len(left), len(right))):
        one, other = (side[i] if i < len(side) else "" for side in (left, right))
        yield f"{one}{' ' * (room - cell_len(one))} │ {other}".rstrip()


def wrapped(text: str, room: int) -> list[str]:
    """The text in lines of at most ``room`` columns, words that are longer cut; never empty."""
    lines = [""]
    for word in text.split():
        pieces = chop_cells(word, room) if cell_len(word) > room else [word]
        for piece in pieces:
            joined = f"{lines[-1]} {piece}".strip()
            if cell_len(joined) <= room:
                lines[-1] = joined
            else:
                lines.append(piece)
    return lines
