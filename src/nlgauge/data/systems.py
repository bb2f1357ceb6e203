"""The outputs of systems: read at once into a corpus, or row by row as a stream."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, FileError, UsageError
from nlgauge.data import files


def read_systems(
    candidates: Sequence[str], references: Sequence[str], *, wanted: str | None = None
) -> Corpus:
    """Return the corpus of all candidate files, each a system named after its file.

    Text files need ``references``, one file per set; tables hold them in a column. ``wanted``
    overrides the format of their names.
    """
    if [*candidates, *references].count("-") > 1:
        raise UsageError("only one file can be read from stdin (-)")
    inputs = InputFiles(candidates, references, wanted)
    if not references:
        return corpus_of(inputs.rows())
    sets = [files.read_lines(path) for path in references]
    corpora = []
    for path, name in zip(candidates, inputs.names, strict=True):
        lines = files.read_lines(path)
        for reference, texts in zip(references, sets, strict=True):
            files.check_parallel(path, lines, f"{reference} has", len(texts))
        corpora.append(Corpus.of(lines, list(zip(*sets, strict=True)), systems=[name] * len(lines)))
    return Corpus.join(corpora)


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate with its references, and its place in the files."""

    place: str
    system: str
    id: str
    candidate: str
    references: tuple[str, ...]
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that cannot be scored: its place and the reason."""

    place: str
    reason: str


@dataclass(frozen=True)
class InputFiles:
    """Files of candidates, and of references if the candidates are lines of text."""

    candidates: Sequence[str]
    references: Sequence[str] = ()
    wanted: str | None = None

    def __post_init__(self) -> None:
        if not self.candidates:
            raise UsageError("no candidates: name at least one file with -c")
        first = self.candidates[0]
        tabular = {bool(self._tables(path)) for path in self.candidates}
        if len(tabular) == 2:
            raise UsageError("the candidates mix text files with tables; score them separately")
        if tabular == {True} and self.references:
            raise UsageError(
                f"{first} is a table that holds its references in a column; leave out -r, "
                "or pass text files with one candidate per line"
            )
        if tabular == {False} and not self.references:
            raise UsageError(
                f"{first} is read as text, one candidate per line, so references are needed: "
                "add -r FILE (or pass a .jsonl, .tsv or .csv table with a references column)"
            )

    def check_rereadable(self) -> None:
        """Raise if a file can be read only once."""
        for path in (*self.candidates, *self.references):
            place = Path(path)
            if path == "-" or (place.exists() and not (place.is_file() or place.is_dir())):
                what = "stdin (-)" if path == "-" else f"{path!r} is a pipe or a device, which"
                once = "can be read only once, but a run that can be resumed reads it again"
                raise UsageError(f"{what} {once}; write it to a file first")

    @property
    def names(self) -> list[str]:
        """Systems named after their files or folders, or by paths if these names are not unique."""
        stems = [Path(path).name.split(".")[0] or path for path in self.candidates]
        short = ["stdin" if stem == "-" else stem for stem in stems]
        return short if len(set(short)) == len(short) else list(self.candidates)

    def paths(self) -> list[str]:
        """Every file that is read, including those in folders."""
        candidates = [file for path in self.candidates for file in self._tables(path) or [path]]
        return [*candidates, *self.references]

    def rows(self) -> Iterator[Row | Rejected]:
        """Yield all rows in the order of the files; text files line by line for all systems."""
        return self._stream_text() if self.references else self._stream_tables()

    def _tables(self, path: str) -> dict[str, str]:
        """The tables that a path names and their formats: itself or those in the folder."""
        inside = [path]
        if Path(path).is_dir():
            found = sorted(Path(path).iterdir())  # names with . or _ are not data
            inside = [str(f) for f in found if f.is_file() and not f.name.startswith((".", "_"))]
        forms = {file: files.format_of(file, wanted=self.wanted) for file in inside}
        tables = {file: form for file, form in forms.items() if form in files.TABULAR}
        if not tables and Path(path).is_dir():
            raise FileError(f"folder {path!r} holds no table; their names end in {files.ENDINGS}")
        return tables

    def _stream_tables(self) -> Iterator[Row | Rejected]:
        counts: Counter[str] = Counter()
        for path, name in zip(self.candidates, self.names, strict=True):
            before = counts.total()
            for file, form in self._tables(path).items():
                lines = files.read_cells(file, form)
                table = ((f"{file}, line {line}", cells) for line, cells in lines)
                yield from table_rows(table, name, counts)
            if counts.total() == before:
                raise FileError(f"file {path!r} holds no rows")

    def _stream_text(self) -> Iterator[Row | Rejected]:
        paths = [*self.candidates, *self.references]
        systems = list(zip(self.candidates, self.names, strict=True))
        for number, lines in enumerate(zip_longest(*map(files.lines_of, paths))):
            if None in lines:
                shorter = paths[lines.index(None)]
                longer = next(p for p, line in zip(paths, lines, strict=True) if line is not None)
                ended = f"{shorter} ends after {number} lines, but {longer} goes on"
                raise FileError(f"{ended}; line i of one belongs to line i of the other")
            texts = [_text_or_error(line) for line in lines]
            group = texts[len(systems) :]
            named = zip(self.references, group, strict=True)
            wrong = [(Path(path).name, text) for path, text in named if isinstance(text, FileError)]
            for (path, name), text in zip(systems, texts, strict=False):
                place = f"{path}, line {number + 1}"
                if isinstance(text, FileError):
                    yield Rejected(place, str(text))
                elif wrong:
                    yield Rejected(place, "its reference in {} is {}".format(*wrong[0]))
                else:
                    yield _validated_row(place, name, str(number), text, group)


def file_digest(path: str) -> dict[str, str | int]:
    """Return the name without folders, the size and the SHA-256 of a file as stored."""
    try:
        with Path(path).open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
            return {"name": Path(path).name, "bytes": content.tell(), "sha256": digest}
    except OSError as error:
        raise FileError(f"file {path!r} cannot be read: {error.strerror}") from error


def table_rows(
    table: Iterable[tuple[str, files.Cells]],
    system: str,
    counts: Counter[str],
    chosen: Mapping[str, str] | None = None,
) -> Iterator[Row | Rejected]:
    """Yield the rows of one table, given as places and cells.

    The columns of the first row that has candidate and references hold for all rows, those in
    ``chosen`` in any case. ``system`` names rows without a system of their own; ``counts`` holds
    the numbers of rows of each system so far, which are the ids of rows without one.
    """
    keys: dict[str, str] = {}
    for place, cells in table:
        name = system
        try:
            if isinstance(cells, str):
                raise FileError(cells)
            keys = keys or {**_find_columns(cells), **(chosen or {})}
            name = str(cells.get(keys.get("system", ""), system))
            found = {kind: files.find_cell("the row", cells, key) for kind, key in keys.items()}
            texts = found["candidate"], found["references"]
            source = found.get("source", "")  # a text, like the id and the system
            source = None if "source" not in keys else "" if source is None else str(source)
            identity = str(found.get("id", counts[name]))
            row: Row | Rejected = _validated_row(place, name, identity, *texts, source)
        except DataError as error:
            row = Rejected(place, str(error))
        counts[name] += 1
        yield row


def corpus_of(rows: Iterable[Row | Rejected]) -> Corpus:
    """Return the corpus of all rows; a rejected row is an error."""
    kept = []
    for row in rows:
        if isinstance(row, Rejected):
            raise FileError(f"{row.place}: {row.reason}")
        kept.append(row)
    sources = [row.source for row in kept if row.source is not None]
    return Corpus.of(
        [row.candidate for row in kept],
        [row.references for row in kept],
        systems=[row.system for row in kept],
        ids=[row.id for row in kept],
        sources=sources if len(sources) == len(kept) else None,
    )


def _find_columns(cells: Mapping[Any, Any]) -> dict[str, Any]:
    for kind in ("candidate", "references"):
        files.require_column("the row", cells, files.COLUMNS[kind])
    found = {kind: files.find_column(cells, names) for kind, names in files.COLUMNS.items()}
    return {kind: key for kind, key in found.items() if key is not None}


def _validated_row(
    place: str,
    system: str,
    identity: str,
    candidate: Any,
    references: Any,
    source: str | None = None,
) -> Row | Rejected:
    """The row, or the reason for which ``Corpus.of`` refuses it."""
    group = references if isinstance(references, list) else [references]
    texts = [system, identity, candidate, source or "", *group]
    if group and all(isinstance(text, str) and text.isascii() for text in texts):
        group = tuple(group)  # valid, and cheaper to check
    else:
        names: Any = {"systems": [system], "ids": [identity], "sources": source and [source]}
        try:
            group = Corpus.of([candidate], [references], **names).references[0]
        except DataError as error:
            return Rejected(place, str(error).replace("[0]", "", 1))
    return Row(place, system, identity, candidate, group, source)


def _text_or_error(line: bytes) -> str | FileError:
    try:
        return files.decode(line)
    except FileError as error:
        return error
