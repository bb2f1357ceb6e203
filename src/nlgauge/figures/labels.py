"""Text of labels: printable characters, limited length, and number formats of papers."""

import re

from rich.cells import cell_len, set_cell_size

from nlgauge.core.printable import printable as visible


def printable(text: str) -> str:
    """Return the text with escapes for invisible characters, and a placeholder if blank."""
    return visible(text) if text.strip() else "␣"


def heading(text: str) -> str:
    """Return the name of an axis, cut if it does not fit on a page."""
    return shorten(printable(text), 80)


def short_label(name: str) -> str:
    """Return a name, cut if it does not fit beside an axis."""
    return shorten(printable(name))


def legend_label(name: str) -> str:
    """Return a short label; matplotlib would omit one that starts with an underscore."""
    return re.sub("^_", " _", short_label(name))


def shorten(label: str, longest: int = 24) -> str:
    """Return the label, cut with an ellipsis if it is wider than ``longest`` Latin letters."""
    if cell_len(label) <= longest:
        return label
    cut = set_cell_size(label, longest - 1)
    return (cut if label.startswith(cut) else cut[:-1]) + "…"  # a wide letter may not fit


def tick_label(value: float | str) -> str:
    """Return the label of an option's value."""
    return short_label(value) if isinstance(value, str) else f"{value:g}"


def short_number(value: float, spec: str = ".3f") -> str:
    """Return the number without its leading zero."""
    return re.sub(r"^(-?)0\.", r"\1.", format(value, spec))
