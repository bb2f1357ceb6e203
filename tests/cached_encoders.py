"""Encoders with an embedding cache: a counting encoder, comparison of clouds, damaged records."""

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

UNUSUAL = ["", " ", "😀 👩‍👩‍👧 e\u0301", "שלום עולם", "\ud83d\ude00 alone", "a\x00b", "dog " * 300]
TEXTS = [*example("reference.a"), *UNUSUAL]


class CountingEncoder(HashingEncoder):
    """A hashing encoder that records the texts it encodes and tokenizes."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: list[tuple[str, tuple[int, ...]]] = []
        self.tokenized: list[str] = []

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        self.tokenized += texts
        return super().tokenize(texts)

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        self.encoded += [(text, tuple(layers)) for text in texts]
        return [*map(_note_if_long, super().encode(texts, layers))]


def _note_if_long(cloud: Cloud) -> Cloud:
    notes = ("a long text",) if len(cloud) > 100 else ()
    return Cloud(cloud.points, cloud.weights, cloud.tokens, notes)


def cached_encoder(folder: Path, **options: str) -> tuple[CachedEncoder, CountingEncoder]:
    """Return an encoder with a newly opened cache, and the counting encoder behind it."""
    counting = CountingEncoder()
    identity = model_identity("hashing", RunOptions(**options))
    return CachedEncoder("hashing", lambda: counting, identity, EmbeddingCache(folder)), counting


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
    """Return the rows of an SQL statement on the database of a cache."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection, connection:
        return connection.execute(statement).fetchall()


def corrupt_records(folder: Path, where: str = "1") -> None:
    """Flip a bit in the middle of the content of records, as a failing disk does."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection, connection:
        found = f"SELECT id, bytes FROM content WHERE {where}"
        for number, content in connection.execute(found).fetchall():
            changed = bytearray(content)
            changed[len(changed) // 2] ^= 1
            connection.execute(
                "UPDATE content SET bytes = ? WHERE id = ?", (bytes(changed), number)
            )
