"""The outputs of systems: read at once into a corpus, or row by row as a stream."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
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
    sets = [files.read_lines(path) for path in references]
    corpora = []
    for path, name in zip(candidates, inputs.names, strict=True):
        if not references:
            corpora.append(files.corpus_from_rows(path, inputs.table_rows(path), system=name))
            continue
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

    def table_rows(self, path: str) -> list[dict[str, Any]]:
        """Return the rows of a table, or of all tables in a folder."""
        tables = [files.read_table(file, form) for file, form in self._tables(path).items()]
        return [row for table in tables for _, row in table]

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
            for file, form in self._tables(path).items():
                for line, cells in files.read_cells(file, form):
                    yield _table_row(f"{file}, line {line}", cells, name, counts)

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


def _table_row(place: str, cells: files.Cells, system: str, counts: Counter[str]) -> Row | Rejected:
    if isinstance(cells, str):
        counts[system] += 1
        return Rejected(place, cells)
    keys = _columns(tuple(cells))
    named = str(cells[keys["system"]]) if "system" in keys else system
    position = counts[named]
    counts[named] += 1
    for wanted in ("candidate", "references"):
        if wanted not in keys:
            return Rejected(place, files.missing_column("the row", cells, files.COLUMNS[wanted]))
    identity = str(cells[keys["id"]]) if "id" in keys else str(position)
    texts = cells[keys["candidate"]], cells[keys["references"]]
    return _validated_row(place, named, identity, *texts)


@lru_cache(maxsize=64)
def _columns(names: tuple[str, ...]) -> dict[str, str]:
    """The column of each kind; most rows of a table have the same ones."""
    found = {kind: files.find_column(names, accepted) for kind, accepted in files.COLUMNS.items()}
    return {kind: name for kind, name in found.items() if name is not None}


def _validated_row(
    place: str, system: str, identity: str, candidate: Any, references: Any
) -> Row | Rejected:
    """The row, or the reason for which ``Corpus.of`` refuses it."""
    group = references if isinstance(references, list) else [references]
    texts = [system, identity, candidate, *group]
    if group and all(isinstance(text, str) and text.isascii() for text in texts):
        return Row(place, system, identity, candidate, tuple(group))  # valid, and cheaper to check
    try:
        one = Corpus.of([candidate], [references], systems=[system], ids=[identity])
    except DataError as error:
        return Rejected(place, str(error))
    return Row(place, system, identity, one.candidates[0], one.references[0])


def _text_or_error(line: bytes) -> str | FileError:
    try:
        return files.decode(line)
    except FileError as error:
        return error
