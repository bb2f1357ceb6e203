"""Texts for themselves: one language, no candidates, as baselines are fitted on."""

from __future__ import annotations

from typing import Any

from nlgauge.core.errors import FileError
from nlgauge.data.files import COLUMNS, find_column, format_of, read_lines, read_numbered_rows
from nlgauge.data.tables import TABULAR

_TEXT = ("text", *COLUMNS["references"])


def read_unpaired(path: str) -> list[str]:
    """The lines of a text file, or the column ``text`` or first reference of a table's rows.

    References of one row say the same, so that only the first of them is taken.
    """
    kind = format_of(path)
    if kind not in TABULAR:
        return read_lines(path)
    texts = []
    for line, row in read_numbered_rows(path, kind):
        key = find_column(row, _TEXT)
        if key is None:
            raise FileError(
                f"{path}, line {line}: no text (a column {', '.join(_TEXT)}); "
                f"it has {', '.join(map(repr, row))}"
            )
        texts.append(_first(row[key], f"{path}, line {line}: {key}"))
    return texts


def _first(value: Any, place: str) -> str:
    listed = value if isinstance(value, list) else [value]
    text = next((each for each in listed if each is not None), "")
    if not isinstance(text, str):
        raise FileError(f"{place} must be a text or a list of texts, not {value!r:.60}")
    return text
