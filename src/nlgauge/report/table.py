"""Table: named columns and rows of values, independent of the output format."""

import math
from dataclasses import dataclass
from typing import Literal

from nlgauge.core.printable import printable

Value = str | float | int | None


@dataclass(frozen=True)
class Column:
    """A column's name, the decimals of its numbers, and the direction of better values.

    CSV and TSV have the name as key; the other formats show the title, if there is one.
    """

    name: str
    digits: int = 4
    direction: Literal["higher", "lower"] | None = None
    title: str = ""

    @property
    def heading(self) -> str:
        """The printable title with an arrow towards better values."""
        return (
            printable(self.title or self.name)
            + {"higher": " ↑", "lower": " ↓", None: ""}[self.direction]
        )

    def show(self, value: Value) -> str:
        """Return the printable text of a value; empty for a missing one."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return ""
        return f"{value:.{self.digits}f}" if isinstance(value, float) else printable(str(value))


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

    @property
    def notes(self) -> list[str]:
        """The printable lines below the table."""
        return [printable(line) for line in self.footer]

    def texts(self) -> list[list[str]]:
        """Return all values as text, row by row."""
        return [
            [column.show(value) for column, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def numeric(self, column: int) -> bool:
        """Return whether a column contains numbers, which are right-aligned."""
        return all(isinstance(row[column], int | float | None) for row in self.rows)

    def best(self) -> set[tuple[int, int]]:
        """Return the (row, column) of the best values as shown, if a column has at least two."""
        places: set[tuple[int, int]] = set()
        texts = self.texts()
        for j, column in enumerate(self.columns):
            values = [
                (float(row[j]), i) for i, row in enumerate(texts) if column.direction and row[j]
            ]
            if len(values) > 1:
                top = (max if column.direction == "higher" else min)(values)[0]
                places |= {(i, j) for value, i in values if value == top}
        return places
