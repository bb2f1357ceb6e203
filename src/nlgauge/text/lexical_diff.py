"""The words of a text that differ from its references, and their factors in error prediction."""

import unicodedata
from collections.abc import Sequence

import numpy as np

from nlgauge.core.arrays import Bools, Floats
from nlgauge.text.edits import lcs_positions
from nlgauge.text.tokenize import find_words

_DIFFERS, _PUNCTUATION = 2.0, 0.5


def differing_words(text: str, references: Sequence[str]) -> Bools:
    """Return which words of ``text`` are in no longest common subsequence with a reference.

    Examples
    --------
    >>> differing_words("a dog sat", ["a cat sat", "the dog"]).tolist()
    [False, False, False]
    >>> differing_words("a dog sat", ["a cat sat"]).tolist()
    [False, True, False]
    """
    words = [word.string for word in find_words(text)]
    differs = np.ones(len(words), dtype=bool)
    for reference in references:
        differs[lcs_positions(words, [word.string for word in find_words(reference)])] = False
    return differs


def error_factors(text: str, references: Sequence[str]) -> Floats:
    """Return the factors of the costs of the words of ``text`` for the prediction of errors.

    It is 2 for words that differ from all references and 1 for others, and half of that for
    punctuation marks.

    Examples
    --------
    >>> error_factors("a dog sat!", ["a cat sat."]).tolist()
    [1.0, 2.0, 1.0, 1.0]
    >>> error_factors("a dog sat.", ["a cat sat."]).tolist()
    [1.0, 2.0, 1.0, 0.5]
    """
    strings = (word.string for word in find_words(text))
    marks = [unicodedata.category(string[0]).startswith("P") for string in strings]
    factors = np.where(differing_words(text, references), _DIFFERS, 1.0)
    return np.asarray(factors * np.where(np.array(marks, dtype=bool), _PUNCTUATION, 1.0))
