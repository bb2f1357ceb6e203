"""Porter's stemmer for English words.

M.F. Porter (1980), An algorithm for suffix stripping, with the default extensions of NLTK's
stemmer, which rouge_score and NLTK's METEOR use. NLTK itself takes seconds to import.
"""

from collections.abc import Iterable
from functools import lru_cache


def parse_rules(text: str) -> list[tuple[str, str]]:
    """Return pairs of an ending and its replacement; the first ending that matches applies."""
    return [(ending, new) for ending, _, new in (rule.partition(">") for rule in text.split())]


_IRREGULAR = dict(
    parse_rules(
        "skies>sky sky>sky dying>die lying>lie tying>tie innings>inning outings>outing "
        "cannings>canning news>news inning>inning outing>outing canning>canning howe>howe "
        "proceed>proceed exceed>exceed succeed>succeed"
    )
)
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
    """Return the stem of a lowercase word."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _past_and_gerund(_plural(word))
    if word.endswith("y") and len(word) > 2 and _shape(word[:-1])[-1] == "c":
        word = word[:-1] + "i"
    word = _replace(_derivation(word), _STEP_3)
    return _final_letters(_replace(word, _STEP_4, above=1))


def _shape(word: str) -> str:
    """Return the word as a string of c and v; y after a consonant is a vowel."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Return Porter's m: how often a consonant follows a vowel."""
    return _shape(word).count("vc")


def _ends_cvc(word: str) -> bool:
    """Porter's *o: whether the word ends in consonant, vowel, consonant other than w, x, y."""
    shape = _shape(word)
    return shape == "vc" or (shape.endswith("cvc") and word[-1] not in "wxy")


def _replace(word: str, rules: Iterable[tuple[str, str]], above: int = 0) -> str:
    """Apply the first rule whose ending matches, if the rest's measure is above ``above``."""
    for ending, replacement in rules:
        if word.endswith(ending):
            base = word.removesuffix(ending)
            applies = _measure(base) > above and (ending != "ion" or base[-1] in "st")
            return base + replacement if applies else word
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
        base = word.removesuffix(ending)
        if base != word and "v" in _shape(base):
            return _restore_e(base)
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
    """Step 2; -alli is replaced first and the result processed again."""
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _derivation(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replace(word, _STEP_2)


def _final_letters(word: str) -> str:
    """Step 5: remove a final e, and one l of two."""
    base = word.removesuffix("e")
    if base != word and _measure(base) + (not _ends_cvc(base)) > 1:
        word = base
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word
