"""Tables on the terminal."""

from collections.abc import Iterable, Mapping

from nlgauge.report.formats import text
from nlgauge.report.table import Column, Table, Value


def print_table(decimals: Mapping[str, int], rows: Iterable[tuple[Value, ...]]) -> None:
    """Print rows under headings with numbers of decimals."""
    columns = tuple(Column(heading, digits) for heading, digits in decimals.items())
    print(text(Table(columns, tuple(rows))), end="\n\n", flush=True)
