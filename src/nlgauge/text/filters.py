"""Token filters and masses of a text."""

import string
import unicodedata

import numpy as np

from nlgauge.core.arrays import Bools, Floats, Ints
from nlgauge.core.cloud import Cloud, Tokens
from nlgauge.core.requirements import Weighting
from nlgauge.text.idf import IdfTable

_WORD_STARTS, _WORD_END = "▁Ġ", "</w>"  # marks of SentencePiece and byte-level BPE
_PIECE_MARKS = ("##", *_WORD_STARTS, _WORD_END)


def weigh(cloud: Cloud, weighting: Weighting, table: IdfTable | None) -> Cloud:
    """Return the cloud without filtered tokens, with the masses of ``weighting``."""
    masses = _unfiltered_masses(cloud.tokens, weighting, table)
    mask = _select_tokens(cloud.tokens, weighting)
    content = mask & ~cloud.tokens.special
    void = weighting.void == "content" and not (masses[content] > 0).any()
    unknown = cloud.tokens.unknown
    # Unknown words have no word vectors, so published code does not compare them.
    if unknown.any() and (weighting.unknown == "string" or not cloud.points[:, unknown].any()):
        cloud = cloud.separate_unknown()
        void |= not (content & ~unknown).any()
    if void:
        masses = np.zeros(len(masses))
    return cloud.keep(mask, masses)


def _select_tokens(tokens: Tokens, weighting: Weighting) -> Bools:
    """Return which tokens remain, including those without mass."""
    mask = np.ones(len(tokens), dtype=bool)
    if weighting.special == "drop":
        mask &= ~tokens.special
    first = np.diff(tokens.words, prepend=-1) != 0  # pieces of their words
    if weighting.subwords == "first":
        mask &= tokens.special | first
    if weighting.punctuation != "keep":
        ascii_only = weighting.punctuation == "drop_ascii"
        mask &= ~np.array([_is_punctuation(s, ascii_only) for s in tokens.strings], dtype=bool)
    if weighting.stopwords:
        bare = (s.lstrip(_WORD_STARTS).removesuffix(_WORD_END).lower() for s in tokens.strings)
        stopped = np.array([s in weighting.stopwords for s in bare], dtype=bool)
        mask &= tokens.special | ~(first & stopped)
    return mask


def masses(tokens: Tokens, weighting: Weighting, table: IdfTable | None) -> Floats:
    """Return the mass of every token, with sum 1 and 0 for filtered tokens."""
    unfiltered = _unfiltered_masses(tokens, weighting, table)
    shares = np.where(_select_tokens(tokens, weighting), unfiltered, 0.0)
    total = shares.sum()
    return shares / total if total > 0 else shares


def counted_ids(tokens: Tokens, weighting: Weighting) -> Ints:
    """Return the ids for idf weights; published code has one id for all unknown tokens."""
    return np.maximum(tokens.ids, -1) if weighting.unknown == "model" else tokens.ids


def _unfiltered_masses(tokens: Tokens, weighting: Weighting, table: IdfTable | None) -> Floats:
    plus_one = weighting.scheme == "idf_plus_one"
    ids = counted_ids(tokens, weighting)
    weights = 1.0 if table is None else table.weights(ids, plus_one=plus_one)
    return np.where(tokens.special & (weighting.special == "silent"), 0.0, weights)


def _is_punctuation(token: str, ascii_only: bool) -> bool:
    if ascii_only:  # MoverScore's code drops single characters only
        return len(token) == 1 and token in string.punctuation
    for mark in _PIECE_MARKS:
        token = token.removeprefix(mark).removesuffix(mark)
    return bool(token) and all(unicodedata.category(c).startswith("P") for c in token)
