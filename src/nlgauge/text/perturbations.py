"""Corruptions of texts, to test the sensitivity of metrics."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

_DROPPED_SHARE = 0.2  # of the words
_NUMBER = re.compile(r"\d+")
_NEGATED = re.compile(r"\b(not)\s+|n't\b", re.IGNORECASE)
_VERBS = "am are can could did do does had has have is may might must shall should was were will"
_AUXILIARY = re.compile(rf"\b({'|'.join([*_VERBS.split(), 'would'])})\b", re.IGNORECASE)

Change = Callable[[str, np.random.Generator], str]
"""Returns a changed text, or the same text if there is nothing to change."""


def _units(text: str) -> tuple[list[str], str]:
    """Return the words of a text, or its characters if it has no spaces, and their separator."""
    words = text.split()
    return (words, " ") if len(words) > 1 else (list(text.strip()), "")


def drop_words(text: str, rng: np.random.Generator) -> str:
    """Return the text without a fifth of its words, at least one."""
    words, space = _units(text)
    if len(words) < 2:
        return text
    count = max(1, round(_DROPPED_SHARE * len(words)))
    dropped = set(rng.permutation(len(words))[:count].tolist())
    return space.join(word for place, word in enumerate(words) if place not in dropped)


def shuffle_words(text: str, rng: np.random.Generator) -> str:
    """Return the words of the text in random order."""
    words, space = _units(text)
    return space.join(words[place] for place in rng.permutation(len(words)))


def negate(text: str, _: np.random.Generator) -> str:
    """Return an English text with the opposite meaning: "not" is removed, else inserted."""
    without, removed = _NEGATED.subn("", text, count=1)
    return without if removed else _AUXILIARY.sub(r"\1 not", text, count=1)


def change_numbers(text: str, rng: np.random.Generator) -> str:
    """Return the text with each number replaced by another one of the same length."""

    def other(match: re.Match[str]) -> str:
        digits = [int(digit) for digit in match.group()]
        digits[0] = (digits[0] - 1 + int(rng.integers(1, 9))) % 9 + 1  # 1 to 9, not the same
        return "".join(map(str, digits))

    return _NUMBER.sub(other, text)


def repeat_end(text: str, _: np.random.Generator) -> str:
    """Return the text with its second half repeated at the end."""
    words, space = _units(text)
    return space.join([*words, *words[len(words) // 2 :]])


CHANGES: Mapping[str, Change] = MappingProxyType(
    {
        "a fifth of the words dropped": drop_words,
        "words shuffled": shuffle_words,
        "negated (English)": negate,
        "numbers changed": change_numbers,
        "second half repeated": repeat_end,
    }
)
