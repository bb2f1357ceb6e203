"""Table: named columns and rows of values, ready to be written in any ink."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Value = str | float | int | None


@dataclass(frozen=True)
class Column:
    """A heading, how many decimals its numbers get, and which end of them is best."""

    name: str
    digits: int = 4
    direction: Literal["higher", "lower"] | None = None

    @property
    def heading(self) -> str:
        """The name with an arrow towards the better end."""
        arrows = {"higher": " ↑", "lower": " ↓", None: ""}
        return self.name + arrows[self.direction]

    def show(self, value: Value) -> str:
        """The text of a value; nothing for a missing one."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return ""
        return f"{value:.{self.digits}f}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Table:
    """Columns, rows, and lines of text below them."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    footer: tuple[str, ...] = ()

    @property
    def headings(self) -> list[str]:
        """The column headings with their arrows."""
        return [column.heading for column in self.columns]

    def texts(self) -> list[list[str]]:
        """All values as text, row by row."""
        return [
            [column.show(value) for column, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def numeric(self, column: int) -> bool:
        """Whether a column holds numbers, which are set flush right."""
        return all(isinstance(row[column], int | float | None) for row in self.rows)

    def best(self) -> set[tuple[int, int]]:
        """The places (row, column) of the best values, as shown, where there is a choice."""
        places: set[tuple[int, int]] = set()
        shown = self.texts()
        for j, column in enumerate(self.columns):
            if column.direction is None:
                continue
            values = [(float(shown[i][j]), i) for i in range(len(self.rows)) if shown[i][j]]
            if len(values) < 2:
                continue
            top = (max if column.direction == "higher" else min)(value for value, _ in values)
            places |= {(i, j) for value, i in values if value == top}
        return places


def widths(headings: Sequence[str], texts: Sequence[Sequence[str]]) -> list[int]:
    """The number of characters the widest entry of each column takes."""
    return [max(map(len, entries)) for entries in zip(headings, *texts, strict=True)]
