"""One corpus from the files of several systems and their references."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import FileError, UsageError
from nlgauge.data.files import corpus_from_rows, format_of, read_lines, read_rows
from nlgauge.data.tables import TABULAR


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
    tabular = {bool(tables_of(path, wanted=wanted)) for path in candidates}
    if tabular == {True, False}:
        raise UsageError("the candidates mix text files with tables; score them separately")
    names = names_of(candidates)
    if tabular == {True}:
        if references:
            raise UsageError(
                f"{candidates[0]} is a table that holds its references in a column; leave out -r, "
                "or pass text files with one candidate per line"
            )
        return Corpus.join(
            [
                corpus_from_rows(path, _rows(path, wanted=wanted), system=name)
                for path, name in zip(candidates, names, strict=True)
            ]
        )
    return Corpus.join(_text_corpora(candidates, references, names))


def tables_of(path: str, *, wanted: str | None = None) -> list[str]:
    """The tables that a path names: itself, or those in the folder it is; none if it is text."""
    if not Path(path).is_dir():
        return [path] if format_of(path, wanted=wanted) in TABULAR else []
    inside = sorted(
        str(file)
        for file in Path(path).iterdir()
        if file.is_file() and not file.name.startswith((".", "_"))  # notes of tools, not data
    )
    tables = [file for file in inside if format_of(file, wanted=wanted) in TABULAR]
    if not tables:
        endings = ", ".join(f".{kind}" for kind in TABULAR)
        raise FileError(f"the folder {path!r} holds no table; their names end in {endings}")
    return tables


def _rows(path: str, *, wanted: str | None) -> list[dict[str, Any]]:
    files = tables_of(path, wanted=wanted)
    return [row for file in files for row in read_rows(file, format_of(file, wanted=wanted))]


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


def names_of(paths: Sequence[str]) -> list[str]:
    """Systems named after their files or folders, or by paths where names would be the same."""
    short = ["stdin" if path == "-" else Path(path).name.split(".")[0] or path for path in paths]
    return short if len(set(short)) == len(short) else list(paths)
