"""Which tokens of a text take part in a comparison, and with what mass."""

from __future__ import annotations

import string
import unicodedata

import numpy as np

from nlgauge.core.cloud import Bools, Cloud, Floats, Tokens
from nlgauge.core.requirements import Weighting
from nlgauge.text.idf import IdfTable

_PIECE_MARKS = ("##", "▁", "Ġ", "</w>")


def weigh(cloud: Cloud, weighting: Weighting, table: IdfTable | None) -> Cloud:
    """The cloud with filtered tokens removed and the mass shared as ``weighting`` says."""
    masses = _scheme(cloud.tokens, weighting, table)
    kept = taking_part(cloud.tokens, weighting)
    if weighting.void == "content" and not np.any(masses[kept & ~cloud.tokens.special] > 0):
        masses = np.zeros(len(masses))
    return cloud.keep(kept, masses)


def taking_part(tokens: Tokens, weighting: Weighting) -> Bools:
    """Which tokens stay, be it only as partners of others."""
    kept = np.ones(len(tokens), dtype=bool)
    if weighting.special == "drop":
        kept &= ~tokens.special
    if weighting.subwords == "first":
        kept &= tokens.special | _first_pieces(tokens)
    if weighting.punctuation != "keep":
        ascii_only = weighting.punctuation == "drop_ascii"
        kept &= ~np.array([_punctuation(s, ascii_only) for s in tokens.strings], dtype=bool)
    if weighting.stopwords:
        stopped = np.array([s.lower() in weighting.stopwords for s in tokens.strings], dtype=bool)
        kept &= tokens.special | ~stopped
    return kept


def masses(tokens: Tokens, weighting: Weighting, table: IdfTable | None) -> Floats:
    """The mass of every token, scaled to sum to 1, and 0 for those that are filtered out."""
    shares = np.where(taking_part(tokens, weighting), _scheme(tokens, weighting, table), 0.0)
    total = shares.sum()
    return shares / total if total > 0 else shares


def _scheme(tokens: Tokens, weighting: Weighting, table: IdfTable | None) -> Floats:
    masses: Floats = np.ones(len(tokens))
    if table is not None:
        masses = table.weights(tokens.ids, plus_one=weighting.scheme == "idf_plus_one")
    if weighting.special == "silent":
        masses = np.where(tokens.special, 0.0, masses)
    return masses


def _first_pieces(tokens: Tokens) -> Bools:
    previous = np.concatenate([[-1], tokens.words[:-1]])
    return np.asarray(tokens.words != previous)


def _punctuation(token: str, ascii_only: bool) -> bool:
    if ascii_only:  # exactly what MoverScore's code drops: one character of string.punctuation
        return len(token) == 1 and token in string.punctuation
    for mark in _PIECE_MARKS:
        token = token.removeprefix(mark).removesuffix(mark)
    return bool(token) and all(unicodedata.category(c).startswith("P") for c in token)
