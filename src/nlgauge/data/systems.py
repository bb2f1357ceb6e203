"""One corpus from the files of several systems and their references."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import FileError, UsageError
from nlgauge.data.files import TABULAR, corpus_from_rows, format_of, read_lines, read_rows


def read_systems(
    candidates: Sequence[str], references: Sequence[str], *, wanted: str | None = None
) -> Corpus:
    """The corpus of all candidate files, each a system named after its file.

    Text files hold a segment per line and need ``references``, one file per set. Tables (TSV, CSV,
    JSON Lines) bring their references, and may bring systems, in columns.
    """
    if not candidates:
        raise UsageError("no candidates: name at least one file with -c")
    if [*candidates, *references].count("-") > 1:
        raise UsageError("only one file can be read from stdin (-)")
    tabular = {format_of(path, wanted=wanted) in TABULAR for path in candidates}
    if tabular == {True, False}:
        raise UsageError("the candidates mix text files with tables; score them separately")
    names = _names(candidates)
    if tabular == {True}:
        if references:
            raise UsageError(
                f"{candidates[0]} is a table that holds its references in a column; leave out -r, "
                "or pass text files with one candidate per line"
            )
        parts = [
            corpus_from_rows(path, read_rows(path, format_of(path, wanted=wanted)), system=names[i])
            for i, path in enumerate(candidates)
        ]
        return Corpus.join(parts)
    return Corpus.join(_text_corpora(candidates, references, names))


def _text_corpora(
    candidates: Sequence[str], references: Sequence[str], names: Sequence[str]
) -> list[Corpus]:
    if not references:
        raise UsageError(
            f"{candidates[0]} is read as text, one candidate per line, so references are needed: "
            "add -r FILE (or pass a .jsonl, .tsv or .csv table with a references column)"
        )
    sets = [read_lines(path) for path in references]
    corpora = []
    for path, name in zip(candidates, names, strict=True):
        lines = read_lines(path)
        for reference, texts in zip(references, sets, strict=True):
            if len(texts) != len(lines):
                raise FileError(
                    f"{path} has {len(lines)} lines, but {reference} has {len(texts)}; "
                    "line i of one belongs to line i of the other"
                )
        corpora.append(Corpus.of(lines, list(zip(*sets, strict=True)), systems=[name] * len(lines)))
    return corpora


def _names(paths: Sequence[str]) -> list[str]:
    """File names without folder and ending, or whole paths where those would be the same."""
    short = ["stdin" if path == "-" else Path(path).name.split(".")[0] or path for path in paths]
    return short if len(set(short)) == len(short) else list(paths)
