"""The words of a text that differ from its references."""

from collections.abc import Sequence

import numpy as np

from nlgauge.core.arrays import Bools
from nlgauge.text.edits import lcs_positions
from nlgauge.text.tokenize import find_words


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
