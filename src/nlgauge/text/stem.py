"""Porter's stemmer: English words without their endings.

M.F. Porter (1980), An algorithm for suffix stripping, with the later changes that NLTK's stemmer
makes by default, because rouge_score and NLTK's METEOR were published with it. It is written here
so that neither metric needs NLTK, whose import takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

_IRREGULAR = {
    "skies": "sky",
    "sky": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "innings": "inning",
    "outings": "outing",
    "cannings": "canning",
    "news": "news",
    "inning": "inning",
    "outing": "outing",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}


def parse_rules(text: str) -> list[tuple[str, str]]:
    """Pairs of an ending and what replaces it; the first ending that fits decides."""
    return [(ending, new) for ending, _, new in (rule.partition(">") for rule in text.split())]


_STEP_2 = parse_rules(
    "ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e "
    "ousli>ous ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous "
    "aliti>al iviti>ive biliti>ble fulli>ful"
)
_STEP_3 = parse_rules("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
_STEP_4 = parse_rules(
    "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"
)


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """The stem of a lowercase word."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _past_and_gerund(_plural(word))
    if word.endswith("y") and len(word) > 2 and _shape(word[:-1])[-1] == "c":
        word = word[:-1] + "i"
    return _final_letters(_endings(_replace(_derivation(word), _STEP_3, _has_measure)))


def _shape(word: str) -> str:
    """The word as a string of c and v; y after a consonant is a vowel."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Porter's m: how often a vowel is followed by a consonant."""
    return _shape(word).count("vc")


def _has_measure(word: str) -> bool:
    return _measure(word) > 0


def _ends_cvc(word: str) -> bool:
    """Porter's *o: the word ends in consonant, vowel, consonant, the last not w, x or y."""
    shape = _shape(word)
    return shape == "vc" or (shape.endswith("cvc") and word[-1] not in "wxy")


def _replace(word: str, rules: Iterable[tuple[str, str]], condition: Callable[[str], bool]) -> str:
    for ending, replacement in rules:
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            return rest + replacement if condition(rest) else word
    return word


def _plural(word: str) -> str:
    """Step 1a."""
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_and_gerund(word: str) -> str:
    """Step 1b."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        rest = word.removesuffix(ending)
        if rest != word and "v" in _shape(rest):
            return _restore_e(rest)
    return word


def _restore_e(word: str) -> str:
    """The second half of step 1b: hopp -> hop, fil -> file, conflat -> conflate."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    shape = _shape(word)
    if len(word) >= 2 and word[-1] == word[-2] and shape[-1] == "c":
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if shape.count("vc") == 1 and _ends_cvc(word) else word


def _derivation(word: str) -> str:
    """Step 2; -alli is taken off first and the rest looked at again."""
    if word.endswith("alli") and _has_measure(word[:-4]):
        return _derivation(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _has_measure(word[:-3]) else word
    return _replace(word, _STEP_2, _has_measure)


def _endings(word: str) -> str:
    """Step 4."""
    for ending, _ in _STEP_4:
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            fits = _measure(rest) > 1 and (ending != "ion" or rest[-1] in "st")
            return rest if fits else word
    return word


def _final_letters(word: str) -> str:
    """Step 5: a silent e, and one l of two."""
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_cvc(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word
