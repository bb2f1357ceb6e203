"""Lossless encoding of tokens, clouds and histograms as bytes.

A text has one record of several parts: the tokens, and the points of each layer.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Cloud, Tokens
from nlgauge.core.histogram import Histogram

Array = npt.NDArray[Any]

VERSION = "3"  # of the format of values; version 2 had no token offsets
CARD, TOKENS, HISTOGRAM = "card", "tokens", "histogram"
_LENGTHS = Struct("<QQ")  # of the tokens and of the weights
_HEADER = 64  # bytes for the type and the shape of an array


def text_key(text: str, masses: Floats | None = None) -> bytes:
    """Return the hash of a text, or of a text and the masses of its tokens.

    Lone surrogates are encoded like other code points, so that distinct texts differ.
    """
    content = hashlib.blake2b(_utf8(text), digest_size=16)
    if masses is not None:  # hashed separately, so that a text cannot be confused with masses
        content.update(hashlib.sha256(np.asarray(masses, np.float64).tobytes()).digest())
    return content.digest()


def layer_part(layer: int) -> str:
    """Return the name of the part with the points of a layer."""
    return f"layer.{layer}"


def pack_json(value: Any) -> bytes:
    """Return a JSON value as bytes."""
    return _utf8(json.dumps(value, ensure_ascii=False))


def unpack_json(content: bytes) -> Any:
    """Return the JSON value of bytes."""
    return json.loads(content.decode("utf-8", "surrogatepass"))


def pack_tokens(
    tokens: Tokens, weights: Sequence[float] | Floats = (), notes: Sequence[str] = ()
) -> bytes:
    """Return tokens as bytes, with the weights and notes of their cloud, if any."""
    return b"".join(
        [
            _LENGTHS.pack(len(tokens), len(weights)),
            np.asarray(tokens.ids, np.int64).tobytes(),
            np.asarray(tokens.words, np.int64).tobytes(),
            np.asarray(tokens.offsets, np.int64).tobytes(),
            np.asarray(weights, np.float64).tobytes(),
            np.asarray(tokens.special, np.bool_).tobytes(),
            pack_json([tokens.strings, notes]),
        ]
    )


def unpack_tokens(content: bytes) -> tuple[Tokens, Floats, tuple[str, ...]]:
    """Return tokens, weights and notes; the arrays are read-only views of the bytes."""
    count, weighted = _LENGTHS.unpack_from(content)
    numbers = np.frombuffer(content, np.int64, 4 * count, _LENGTHS.size)
    ids, words, *offsets = numbers.reshape(4, count)
    start = _LENGTHS.size + numbers.nbytes
    weights = np.frombuffer(content, np.float64, weighted, start)
    special = np.frombuffer(content, np.bool_, count, start + weights.nbytes)
    strings, notes = unpack_json(content[start + weights.nbytes + count :])
    tokens = Tokens(tuple(strings), ids, special, words, np.concatenate(offsets).reshape(-1, 2))
    return tokens, weights, tuple(notes)


def pack_cloud(cloud: Cloud, layers: Sequence[int]) -> dict[str, bytes]:
    """Return the parts of a cloud with points of ``layers``."""
    points = {layer_part(layer): _pack(cloud.points[k]) for k, layer in enumerate(layers)}
    return {TOKENS: pack_tokens(cloud.tokens, cloud.weights, cloud.notes), **points}


def unpack_cloud(record: Mapping[str, bytes], layers: Sequence[int]) -> Cloud:
    """Return the cloud of ``layers``."""
    tokens, weights, notes = unpack_tokens(record[TOKENS])
    points = [_unpack(record[layer_part(layer)])[0] for layer in layers]
    stacked = points[0][None] if len(points) == 1 else np.stack(points)  # one layer: no copy
    return Cloud(stacked, weights, tokens, notes)


def pack_histogram(histogram: Histogram) -> dict[str, bytes]:
    """Return the part of a histogram; it has only one."""
    details = pack_json([histogram.ids.tolist(), histogram.notes])
    return {HISTOGRAM: _pack(histogram.log_probabilities) + details}


def unpack_histogram(content: bytes) -> Histogram:
    """Return the histogram from bytes."""
    log_probabilities, details = _unpack(content)
    ids, notes = unpack_json(details)
    return Histogram(log_probabilities, np.array(ids, np.int64), tuple(notes))


def _pack(array: Array) -> bytes:
    """Return an array as bytes, preceded by its type and shape."""
    shape = " ".join(map(str, array.shape))
    return f"{array.dtype.str} {shape}".ljust(_HEADER).encode() + array.tobytes()


def _unpack(content: bytes) -> tuple[Array, bytes]:
    """Return an array, as a read-only view of the bytes, and the bytes that follow it."""
    dtype, *lengths = content[:_HEADER].split()
    shape = tuple(map(int, lengths))
    array = np.frombuffer(content, dtype.decode(), math.prod(shape), _HEADER).reshape(shape)
    return array, content[_HEADER + array.nbytes :]


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
