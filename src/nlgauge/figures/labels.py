"""Text of labels: printable, short, and numbers as papers write them."""

import re
import unicodedata

_UNPRINTABLE = {"Cc", "Cs", "Cn", "Zl", "Zp"}  # would break lines, terminals or XML


def printable(text: str) -> str:
    """Return the text with a box for each character that cannot be shown."""
    safe = "".join("�" if unicodedata.category(c) in _UNPRINTABLE else c for c in text)
    return safe if safe.strip() else "␣"


def shorten(label: str, longest: int = 24) -> str:
    """Return the label, cut with an ellipsis if it is long."""
    return label if len(label) <= longest else label[: longest - 1] + "…"


def tick_label(value: float | str) -> str:
    """Return the label of an option's value."""
    return printable(value) if isinstance(value, str) else f"{value:g}"


def short_number(value: float, spec: str = ".3f") -> str:
    """Return the number without its leading zero."""
    return re.sub(r"^(-?)0\.", r"\1.", format(value, spec))
