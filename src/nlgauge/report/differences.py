"""Segments on which two systems differ, their texts side by side."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from rich.cells import cell_len, chop_cells

from nlgauge.core.printable import printable

Row = Mapping[str, Any]

_MIN_WIDTH = 24  # columns of a readable text


def side_by_side(rows: Sequence[Row], *, width: int = 80, digits: int = 2) -> str:
    """Return a block for each segment: scores, references, then the two texts in columns.

    A row has metric, segment, system, baseline, difference, value, baseline_value, candidate,
    baseline_candidate and references.
    """
    half = max((width - 3) // 2, _MIN_WIDTH)
    return "\n\n".join("\n".join(_block(row, half, digits)) for row in rows)


def _block(row: Row, half: int, digits: int) -> Iterator[str]:
    yield printable(f"segment {row['segment']}: {row['metric']} {row['difference']:+.{digits}f}")
    for text in row["references"]:
        lines = wrapped(text, 2 * half + 3 - 11)
        yield f"reference: {lines[0]}"
        yield from (f"           {line}" for line in lines[1:])
    baseline, system = wrapped(row["baseline_candidate"], half), wrapped(row["candidate"], half)
    baseline.insert(0, printable(f"{row['baseline']} {row['baseline_value']:.{digits}f}"))
    system.insert(0, printable(f"{row['system']} {row['value']:.{digits}f}"))
    for one, other in zip_longest(baseline, system, fillvalue=""):
        yield f"{one}{' ' * (half - cell_len(one))} │ {other}".rstrip()


def wrapped(text: str, width: int) -> list[str]:
    """Return printable lines of at most ``width`` columns, at least one; longer words are cut."""
    lines = [""]
    for word in map(printable, text.split()):
        for piece in chop_cells(word, width) if cell_len(word) > width else [word]:
            joined = f"{lines[-1]} {piece}".strip()
            if cell_len(joined) <= width:
                lines[-1] = joined
            else:
                lines.append(piece)
    return lines
