"""Language codes, and the script of a text."""

import re

from nlgauge.core.errors import OptionError

ENGLISH = "en"

_CODE = re.compile(r"([a-z]{2,3})([-_][a-z0-9]+)*")
# ISO 639-3 codes of languages that have ISO 639-1 codes.
_LONG_CODES = {"eng": "en", "zho": "zh", "cmn": "zh", "yue": "zh", "jpn": "ja", "kor": "ko"}
_LONG_CODES |= {"tha": "th", "lao": "lo", "khm": "km", "mya": "my", "bod": "bo", "tur": "tr"}
_COUNTRIES = {"jp": "ja", "cn": "zh", "cz": "cs", "dk": "da", "gr": "el", "ua": "uk", "us": "en"}

_LATIN_ENDS = "\u024f"  # of the blocks Basic Latin to Latin Extended-B
_MORE_LATIN = ("\u1e00", "\u1eff")


def language_code(language: str) -> str:
    """Return the short code of a language given as ``ja``, ``jpn``, ``pt-BR`` or ``zh_TW``."""
    match = _CODE.fullmatch(str(language).strip().lower())
    if match is None:
        raise OptionError(f"lang={language!r:.40}: write a language code, as en, zh, ja or pt-BR")
    code = match[1]
    if code in _COUNTRIES:
        hint = f"did you mean {_COUNTRIES[code]!r}?"
        raise OptionError(f"lang={language!r} is the code of a country; {hint}")
    return _LONG_CODES.get(code, code)


def in_latin_letters(text: str) -> bool:
    """Return whether at least half of the letters of a text are Latin; True without letters."""
    if text.isascii():
        return True
    low, high = _MORE_LATIN
    letters = [letter for letter in text if letter.isalpha()]
    latin = sum(letter <= _LATIN_ENDS or low <= letter <= high for letter in letters)
    return 2 * latin >= len(letters)
