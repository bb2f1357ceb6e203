"""Words of a text in any script.

A word is a run of letters, marks and digits. In scripts without spaces between words (Han, kana,
Thai, Lao, Khmer, Myanmar, ...) each character with its marks is a word, and so is an emoji.
"""

import re
import unicodedata
from typing import NamedTuple

import regex

from nlgauge.core.custom_tokenizer import CustomTokenizer
from nlgauge.text.ptb import ptb_words

_UNSPACED = (
    r"[[\p{L}\p{N}]&&[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Yi}\p{Thai}\p{Lao}\p{Khmer}"
    r"\p{Myanmar}\p{Tibetan}\p{Tai_Le}\p{New_Tai_Lue}\p{Tai_Tham}\p{Tai_Viet}\p{Javanese}]]"
)
_SPACED = rf"[[\p{{L}}\p{{M}}\p{{N}}]--{_UNSPACED}]"
_JOINER = r"[\u200c\u200d]"  # Persian and Indic scripts write these inside words
_EMOJI = r"(?=[\p{Extended_Pictographic}\p{RI}])\X"
_WORD = rf"{_UNSPACED}\p{{M}}*+|{_SPACED}++(?:{_JOINER}++{_SPACED}++)*+|{_EMOJI}"

_WORDS = regex.compile(_WORD, regex.VERSION1)
_WORDS_AND_MARKS = regex.compile(rf"{_WORD}|[\p{{P}}\p{{S}}]", regex.VERSION1)
_ASCII_WORDS = re.compile(r"[a-z0-9]+")


def words(text: str, *, lowercase: bool = True, marks: bool = False) -> list[str]:
    """Return the words of ``text``, and each punctuation mark or symbol if ``marks``."""
    # Both encodings of an accented letter become equal.
    composed = unicodedata.normalize("NFC", text.lower() if lowercase else text)
    matches: list[str] = (_WORDS_AND_MARKS if marks else _WORDS).findall(composed)
    return matches


class Word(NamedTuple):
    """A word or mark with composed letters, and its character offsets in the text."""

    string: str
    start: int
    end: int


def find_words(text: str) -> list[Word]:
    """Return the words, punctuation marks and symbols of ``text`` with their offsets.

    Examples
    --------
    >>> find_words("cats!")
    [Word(string='cats', start=0, end=4), Word(string='!', start=4, end=5)]
    """
    if unicodedata.is_normalized("NFC", text):
        return [Word(match.group(), *match.span()) for match in _WORDS_AND_MARKS.finditer(text)]
    composed, origin = "", []  # for each composed character, the place of its cluster
    for cluster in regex.finditer(r"\X", text):
        letters = unicodedata.normalize("NFC", cluster.group())
        composed += letters
        origin += [cluster.span()] * len(letters)
    matches = _WORDS_AND_MARKS.finditer(composed)
    return [Word(x.group(), origin[x.start()][0], origin[x.end() - 1][1]) for x in matches]


def split_words(
    text: str, tokenize: str | CustomTokenizer, *, lowercase: bool = True, marks: bool = False
) -> list[str]:
    """Split a text with ``tokenize``: Unicode ``words``, ``ptb``, or a function.

    A function receives the lowercased text, and decides whether punctuation marks are words.
    """
    if isinstance(tokenize, CustomTokenizer):
        return tokenize(text.lower() if lowercase else text)
    split = ptb_words if tokenize == "ptb" else words
    return split(text, lowercase=lowercase, marks=marks)


def ascii_words(text: str) -> list[str]:
    """Return lowercased runs of a-z and 0-9, the words of ROUGE-1.5.5 and rouge_score."""
    return _ASCII_WORDS.findall(text.lower())
