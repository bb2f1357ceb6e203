"""Languages: their codes, and the options that suit texts in them, metric by metric.

As they are, metrics suit English. The table below says what another language changes; what it does
not name needs no change, because words are found in any script (see ``text.tokenize``) or because
characters are compared. Models are chosen where they are opened, in ``serving``.
"""

from __future__ import annotations

import re

from nlgauge.core.errors import OptionError

ENGLISH = "en"

Suited = dict[str, str | bool]

_STEMS_AND_SYNONYMS_ARE_ENGLISH: Suited = {"stem": False, "synonyms": "none"}
_IDEOGRAPHS_ONE_BY_ONE: Suited = {"normalized": True, "asian_support": True}
_NOT_ENGLISH: dict[str, Suited] = {
    "meteor": _STEMS_AND_SYNONYMS_ARE_ENGLISH,
    "lazy_emd": {"lang": "other"},
}
# Written without blanks, and sacrebleu has no words for it that come without a download.
_BY_CHARACTER: dict[str, Suited] = {"bleu": {"tokenize": "char"}}
_SUITED: dict[str, dict[str, Suited]] = {
    "zh": {
        "bleu": {"tokenize": "zh"},
        "ter": _IDEOGRAPHS_ONE_BY_ONE,
        "lazy_emd": {"lang": "zh"},
    },
    "ja": {"bleu": {"tokenize": "ja-mecab"}, "ter": _IDEOGRAPHS_ONE_BY_ONE},
    "ko": {"bleu": {"tokenize": "ko-mecab"}},
    **dict.fromkeys(("th", "lo", "km", "my", "bo"), _BY_CHARACTER),
}

_CODE = re.compile(r"([a-z]{2,3})([-_][a-z0-9]+)*")
# ISO 639-3 names the languages of the table otherwise.
_LONG_CODES = {"eng": "en", "zho": "zh", "cmn": "zh", "yue": "zh", "jpn": "ja", "kor": "ko"}
_LONG_CODES |= {"tha": "th", "lao": "lo", "khm": "km", "mya": "my", "bod": "bo", "tur": "tr"}
_COUNTRIES = {"jp": "ja", "cn": "zh", "cz": "cs", "dk": "da", "gr": "el", "ua": "uk", "us": "en"}

_LATIN_ENDS = "\u024f"  # of the blocks Basic Latin to Latin Extended-B
_MORE_LATIN = ("\u1e00", "\u1eff")


def language_code(language: str) -> str:
    """The short code of a language that is named as ``ja``, ``jpn``, ``pt-BR`` or ``zh_TW``."""
    found = _CODE.fullmatch(language.strip().lower())
    if found is None:
        raise OptionError(f"lang={language!r}: write a language code, as en, zh, ja or pt-BR")
    code = found[1]
    if code in _COUNTRIES:
        raise OptionError(
            f"lang={language!r} is the code of a country; did you mean {_COUNTRIES[code]!r}?"
        )
    return _LONG_CODES.get(code, code)


def suited(metric: str, language: str) -> Suited:
    """The options of a metric that suit a language, where its defaults do not."""
    code = language_code(language)
    if code == ENGLISH:
        return {}
    return {**_NOT_ENGLISH.get(metric, {}), **_SUITED.get(code, {}).get(metric, {})}


def depends_on_language(metric: str) -> bool:
    """Whether the table has anything to say of a metric, in any language."""
    return any(metric in named for named in (_NOT_ENGLISH, *_SUITED.values()))


def in_latin_letters(text: str) -> bool:
    """Whether half of the letters of a text or more are Latin; so it is if it has no letters."""
    if text.isascii():
        return True
    low, high = _MORE_LATIN
    letters = [letter for letter in text if letter.isalpha()]
    latin = sum(letter <= _LATIN_ENDS or low <= letter <= high for letter in letters)
    return 2 * latin >= len(letters)
