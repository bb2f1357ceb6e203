"""Texts of one language without candidates, on which baselines are fitted."""

from nlgauge.core.errors import FileError
from nlgauge.data import files


def read_texts(path: str) -> list[str]:
    """Return the lines of a text file, or the texts of a table's rows.

    A row's text is its column ``text`` or its first reference, as its references are paraphrases.
    """
    if files.format_of(path) not in files.TABULAR:
        return files.read_lines(path)
    texts = []
    for where, row in files.read_table(path):
        key = files.require_column(where, row, ("text", *files.COLUMNS["references"]))
        listed = row[key] if isinstance(row[key], list) else [row[key]]
        text = next((each for each in listed if each is not None), "")
        if not isinstance(text, str):
            raise FileError(f"{where}: {key} is {row[key]!r:.60}, not a text or a list of texts")
        texts.append(text)
    return texts
