"""Clouds, tokens and histograms as records of arrays, and back, bit by bit the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from nlgauge.core.cloud import Cloud, Floats, Tokens
from nlgauge.core.histogram import Histogram
from nlgauge.encode.cache.shards import KEY_BYTES, Array, Record

TOKEN_FIELDS = ("ids", "special", "words", "strings")
CLOUD_FIELDS = (*TOKEN_FIELDS, "weights", "remarks")
HISTOGRAM_FIELDS = ("log_probabilities", "ids", "remarks")


def text_key(text: str, masses: Floats | None = None) -> bytes:
    """The key of a text, or of a text with the masses of its tokens.

    It is a hash of the UTF-8 bytes; lone surrogates, which UTF-8 lacks, count as if it had them,
    so that texts are the same only if all their code points are.
    """
    content = hashlib.blake2b(_utf8(text), digest_size=KEY_BYTES)
    if masses is not None:
        # A hash of its own, so that no text can run into the bytes of the masses.
        content.update(hashlib.sha256(np.asarray(masses, np.float64).tobytes()).digest())
    return content.digest()


def layer_field(layer: int) -> str:
    """The name of a layer's points."""
    return f"layer.{layer}"


def of_value(value: Any) -> Array:
    """Bytes of a value that JSON can tell, as an array."""
    return np.frombuffer(_utf8(json.dumps(value, ensure_ascii=False)), dtype=np.uint8)


def to_value(array: Array) -> Any:
    """The value back from its bytes."""
    return json.loads(array.tobytes().decode("utf-8", "surrogatepass"))


def of_tokens(tokens: Tokens) -> dict[str, Array]:
    """The record of tokens."""
    return {
        "ids": np.asarray(tokens.ids, np.int64),
        "special": np.asarray(tokens.special, np.bool_),
        "words": np.asarray(tokens.words, np.int64),
        "strings": of_value(tokens.strings),
    }


def to_tokens(record: Record) -> Tokens:
    """The tokens of a record."""
    return Tokens(
        tuple(to_value(record["strings"])), record["ids"], record["special"], record["words"]
    )


def of_cloud(cloud: Cloud, layers: Sequence[int]) -> dict[str, Array]:
    """The record of a cloud whose points are those of these layers."""
    return {
        **of_tokens(cloud.tokens),
        "weights": np.asarray(cloud.weights, np.float64),
        "remarks": of_value(cloud.remarks),
        **{
            layer_field(layer): np.asarray(cloud.points[k], cloud.points.dtype)
            for k, layer in enumerate(layers)
        },
    }


def to_cloud(record: Record, layers: Sequence[int]) -> Cloud:
    """The cloud of these layers."""
    parts = [record[layer_field(layer)] for layer in layers]
    points = parts[0][None] if len(parts) == 1 else np.stack(parts)  # one layer: not even copied
    return Cloud(points, record["weights"], to_tokens(record), tuple(to_value(record["remarks"])))


def of_histogram(histogram: Histogram) -> dict[str, Array]:
    """The record of a histogram."""
    return {
        "log_probabilities": np.asarray(histogram.log_probabilities),
        "ids": np.asarray(histogram.ids, np.int64),
        "remarks": of_value(histogram.remarks),
    }


def to_histogram(record: Record) -> Histogram:
    """The histogram of a record."""
    return Histogram(record["log_probabilities"], record["ids"], tuple(to_value(record["remarks"])))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
