"""What tests of the cache share: an encoder that counts, caches as new processes see them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from conftest import example
from nlgauge.core.cloud import Cloud, Tokens
from nlgauge.encode.cache.cached_models import CachedEncoder, model_identity
from nlgauge.encode.cache.database import FILE_NAME, EmbeddingCache
from nlgauge.encode.hashing import HashingEncoder
from nlgauge.encode.run_options import RunOptions

ODD = ["", " ", "😀 👩‍👩‍👧 e\u0301", "שלום עולם", "\ud83d\ude00 alone", "a\x00b", "dog " * 300]
TEXTS = [*example("reference.a"), *ODD]


class Counting(HashingEncoder):
    """An encoder that remembers what it was asked to compute."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: list[tuple[str, tuple[int, ...]]] = []
        self.tokenized: list[str] = []

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        self.tokenized += texts
        return super().tokenize(texts)

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        self.encoded += [(text, tuple(layers)) for text in texts]
        return [*map(_one, super().encode(texts, layers))]


def _one(cloud: Cloud) -> Cloud:
    notes = ("long, and said so",) if len(cloud) > 100 else ()
    return Cloud(cloud.points, cloud.weights, cloud.tokens, notes)


def cached(folder: Path, **options: str) -> tuple[CachedEncoder, Counting]:
    """An encoder on a cache that knows nothing of earlier ones, as in a new process."""
    behind = Counting()
    known = model_identity("hashing", RunOptions(**options))
    return CachedEncoder("hashing", lambda: behind, known, EmbeddingCache(folder)), behind


def assert_same(clouds: Sequence[Cloud], others: Sequence[Cloud]) -> None:
    for left, right in zip(clouds, others, strict=True):
        for a, b in (
            (left.points, right.points),
            (left.weights, right.weights),
            (left.tokens.ids, right.tokens.ids),
            (left.tokens.special, right.tokens.special),
            (left.tokens.words, right.tokens.words),
        ):
            assert a.dtype == b.dtype
            assert a.shape == b.shape
            assert a.tobytes() == b.tobytes()
        assert left.tokens.strings == right.tokens.strings
        assert left.notes == right.notes


def query(folder: Path, statement: str) -> list[tuple]:
    """The rows that a statement returns on the file of a cache."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection, connection:
        return connection.execute(statement).fetchall()


def spoil_contents(folder: Path, where: str = "1") -> None:
    """Change a bit in the middle of the content of records, as a failing disk does."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection, connection:
        found = f"SELECT id, bytes FROM content WHERE {where}"
        for number, content in connection.execute(found).fetchall():
            spoilt = bytearray(content)
            spoilt[len(spoilt) // 2] ^= 1
            connection.execute("UPDATE content SET bytes = ? WHERE id = ?", (bytes(spoilt), number))
