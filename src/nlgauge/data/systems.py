"""Readers of system outputs: at once into a corpus, or row by row as a stream."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from nlgauge.core.corpus import Corpus, refuse_duplicates
from nlgauge.core.errors import DataError, FileError, ShapeError, UsageError
from nlgauge.data import files
from nlgauge.data.columns import USUAL, Columns, Given
from nlgauge.data.input_ranges import InputRange, TableRange, TextRange
from nlgauge.data.text_rows import Rejected, Row, accept, to_corpus
from nlgauge.data.urls import Url

T = TypeVar("T")


def read_systems(
    candidates: Sequence[str],
    references: Sequence[str] = (),
    *,
    sources: str | None = None,
    wanted: str | None = None,
    columns: Given | Columns = None,
    header: bool = True,
) -> Corpus:
    """Return the corpus of all candidate files, each a system named after its file.

    Parameters
    ----------
    candidates
        Text files with a line for each segment, or tables, or folders of tables.
    references
        Text files, one for each set of references; tables have a column instead.
    sources
        A text file; tables have a column instead.
    wanted
        The format of the candidates: text, jsonl, json, tsv, csv or parquet; by default that of
        their names.
    columns
        Names of the columns of a table, such as ``{"candidate": "mt"}``; or
        ``{"systems": ["A", "B"]}`` if each of these columns has the outputs of one system.
    header
        Whether a TSV or CSV file names its columns; otherwise they are numbered from 1.

    Returns
    -------
    Corpus

    Raises
    ------
    FileError
        If a file is missing or malformed, or the numbers of lines differ.
    UsageError or OptionError
        If the arguments cannot be combined.
    """
    chosen = columns if isinstance(columns, Columns) else Columns.of(columns, header=header)
    return read_inputs(InputFiles(candidates, references, wanted, sources, chosen))[0]


def read_inputs(inputs: "InputFiles") -> tuple[Corpus, dict[str, str] | None]:
    """Return the corpus of all files, and the cluster of every segment if the files name them."""
    if inputs.texts().count("-") > 1:
        raise UsageError("only one file can be read from stdin (-)")
    if inputs.tabular:
        rows = accept(inputs.rows())
        corpus = to_corpus(rows)
        refuse_duplicates(corpus.systems, corpus.ids)
        labels = [row.cluster for row in rows if row.cluster is not None]
        return corpus, clusters_by_id(corpus.ids, labels) if labels else None
    references, sources = inputs.references, inputs.sources
    labels_file = [] if inputs.cluster is None else [inputs.cluster]
    others = [*references, *inputs.source_files, *labels_file]
    parallel = {path: files.read_lines(path) for path in others}
    sets = [parallel[path] for path in references]
    corpora = []
    for path, name in zip(inputs.candidates, inputs.names, strict=True):
        lines = files.read_lines(path)
        for other, texts in parallel.items():
            files.check_parallel(path, lines, f"{other} has", len(texts))
        inputs.check_rows(path, len(lines))
        groups, names = list(zip(*sets, strict=True)) or None, [name] * len(lines)
        source_texts = None if sources is None else parallel[sources]
        corpora.append(Corpus.of(lines, groups, systems=names, sources=source_texts))
    corpus = Corpus.join(corpora)
    if inputs.cluster is None:
        return corpus, None
    return corpus, clusters_by_id(corpora[0].ids, parallel[inputs.cluster])


def clusters_by_id(ids: Sequence[str], labels: Sequence[T]) -> dict[str, T]:
    """Return the cluster of every segment, which must be the same for all systems."""
    if len(labels) != len(ids):
        raise ShapeError(f"{len(ids)} segments but {len(labels)} clusters; give one for each")
    clusters: dict[str, T] = {}
    for name, label in zip(ids, labels, strict=True):
        if clusters.setdefault(name, label) != label:
            raise DataError(
                f"segment {name!r} is in cluster {clusters[name]!r} for one system and in "
                f"{label!r} for another; a segment has one cluster"
            )
    return clusters


@dataclass(frozen=True)
class InputFiles:
    """Files of candidates, and of references and sources if the candidates are lines of text."""

    candidates: Sequence[str]
    references: Sequence[str] = ()
    wanted: str | None = None
    sources: str | None = None
    columns: Columns = USUAL
    cluster: str | None = None
    """The column with the clusters of segments; for text files, a file with a line for each."""

    def __post_init__(self) -> None:
        if not self.candidates:
            raise UsageError("no candidates: name at least one file with -c")
        first = self.candidates[0]
        for path, times in Counter(self.candidates).items():
            if times > 1:
                raise UsageError(f"the candidates name {path!r} {times} times; name it once")
        tabular = {bool(self._tables(path)) for path in self.candidates}
        if len(tabular) == 2:
            raise UsageError("the candidates mix text files with tables; score them separately")
        self.columns.refuse(
            ("human", "scores", "document"), "these tables are read for their texts only"
        )
        given = {"-r": bool(self.references), "-s": self.sources is not None}
        what = {"-r": "references", "-s": "sources"}
        for flag in (name for name, present in given.items() if present and tabular == {True}):
            kind = "a folder, which is read as a table" if Path(first).is_dir() else "a table"
            raise UsageError(
                f"{first} is {kind} that has its {what[flag]} in a column; leave out {flag}, "
                "or pass text files with one candidate per line"
            )
        if tabular == {False} and self.columns:
            raise UsageError(
                f"{first} is read as text, which has no columns; name the format of a table with "
                "--input, or leave out --columns, --system-columns and --no-header"
            )
        if tabular == {False} and not self.references and self.sources is None:
            raise UsageError(
                f"{first} is read as text, one candidate per line, so references are needed: "
                "add -r FILE (or pass a .jsonl, .tsv or .csv table with a references column)"
            )

    @property
    def source_files(self) -> list[str]:
        """The file of sources, if there is one."""
        return [] if self.sources is None else [self.sources]

    def texts(self) -> list[str]:
        """Return all paths that the user named."""
        return [*self.candidates, *self.references, *self.source_files]

    def check_rereadable(self) -> None:
        """Raise an error if a file can be read only once."""
        for path in self.texts():
            place = Path(path)  # for a Url, a local path that does not exist
            if path == "-" or (place.exists() and not (place.is_file() or place.is_dir())):
                what = "stdin (-)" if path == "-" else f"{path!r} is a pipe or a device, which"
                once = "can be read only once, but a run that can be resumed reads it again"
                raise UsageError(f"{what} {once}; write it to a file first")

    @property
    def names(self) -> list[str]:
        """Names of systems: those of their files or folders, or paths if these are not unique.

        Logs of lm-evaluation-harness are named after their folder, which is that of a model.
        """
        stems = [Path(path).name.split(".")[0] or path for path in self.candidates]
        files = ["stdin" if stem == "-" else stem for stem in stems]
        folders = [Path(path).parent.name for path in self.candidates]
        logs = all(stem.startswith("samples_") for stem in stems)
        for names in (folders, files) if logs else (files,):
            if all(names) and len(set(names)) == len(names):
                return names
        return list(self.candidates)

    def paths(self) -> list[str]:
        """Return all files to read, including those in folders."""
        candidates = [file for path in self.candidates for file in self._tables(path) or [path]]
        return [*candidates, *self.references, *self.source_files]

    def rows(self) -> Iterator[Row | Rejected]:
        """Yield all rows in the order of the files; text files line by line for all systems."""
        counts: Counter[str] = Counter()
        for path, spans in self.ranges():
            before = counts.total()
            for span in spans:
                for _, row in span.rows(counts):
                    yield row
            self.check_rows(path, counts.total() - before)

    def ranges(self) -> list[tuple[str, list[InputRange]]]:
        """Return every candidate path with its tables, or the first with all text files."""
        systems = list(zip(self.candidates, self.names, strict=True))
        if not self.tabular:
            texts = TextRange(systems, self.references, self.source_files)
            return [(self.candidates[0], [texts])]
        return [
            (
                path,
                [
                    TableRange(*table, name, self.columns, self.cluster)
                    for table in self._tables(path).items()
                ],
            )
            for path, name in systems
        ]

    def check_rows(self, path: str, rows: int) -> None:
        """Raise an error if a candidate path has no rows, or no lines of text."""
        if not rows:
            raise FileError(f"file {path!r} has no {'rows' if self.tabular else 'lines'}")

    @property
    def tabular(self) -> bool:
        """Whether the candidates are tables and not text files."""
        return bool(self._tables(self.candidates[0]))

    def _tables(self, path: str) -> dict[str, str]:
        """Return the tables at a path with their formats: the file, or those in the folder."""
        listed = _files_in(path)
        hidden = (".", "_")  # prefixes of names that are not data
        inside = [file for file in listed or () if not Path(file).name.startswith(hidden)]
        inside = [path] if listed is None else inside
        forms = {file: files.format_of(file, wanted=self.wanted) for file in inside}
        tables = {file: form for file, form in forms.items() if form in files.TABULAR}
        if listed is not None and set(tables.values()) - {"json"}:  # .json files are metadata here
            tables = {file: form for file, form in tables.items() if form != "json"}
        if not tables and listed is not None:
            raise FileError(f"folder {path!r} has no table; names of tables end in {files.ENDINGS}")
        return tables

    def table_cells(self) -> Iterator[tuple[str, str, files.Cells]]:
        """Yield the system of its file, the location and the cells of every row of the tables."""
        for path, name in zip(self.candidates, self.names, strict=True):
            rows = 0
            for file, form in self._tables(path).items():
                for line, cells in files.read_cells(file, form, self.columns):
                    rows += 1
                    yield name, f"{file}, line {line}", cells
            self.check_rows(path, rows)


def _files_in(path: str) -> Sequence[str] | None:
    """Return the sorted files of a folder, or None if the path is not a folder."""
    if isinstance(path, Url):
        return path.files()
    with files.explain_errors(path):
        if not Path(path).is_dir():
            return None
        return [str(file) for file in sorted(Path(path).iterdir()) if file.is_file()]
