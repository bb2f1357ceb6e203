"""Penn Treebank tokenization: punctuation, clitics and contractions are separate words.

The rules are those of the treebank's tokenizer.sed (MacIntyre 1995). As in Stanford's PTBTokenizer,
which the published code of CIDEr runs, a full stop is also split off within a text unless the word
is an abbreviation, and curly quotation marks are read as straight ones.
"""

import re

_STRAIGHT = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "…": "..."})
_OPENING_QUOTE = re.compile(r"""(?<![^\s(\[{<])(?:"|'')""")
_MARKS = re.compile(r"\.\.\.|--|``|''|[;@#$%&?!\[\](){}<>]|[:,](?!\d)")
_CLITIC = re.compile(r"(?<=[^\s'])('(?:[sSmMdD]|ll|LL|re|RE|ve|VE)?|n't|N'T)$")
_INITIALS = re.compile(r"[A-Za-z](\.[A-Za-z])*")  # without the last full stop
_ABBREVIATIONS = re.compile(
    r"mrs?|ms|dr|prof|rev|gen|sen|rep|gov|capt|lt|col|sgt|st|jr|sr|inc|ltd|co|corp|vs|etc|no|fig|"
    r"jan|feb|mar|apr|ju[nl]|aug|sept?|oct|nov|dec",
    re.IGNORECASE,
)
_CONTRACTIONS = {
    **dict.fromkeys(("cannot", "gimme", "gonna", "gotta", "lemme", "wanna"), 3),
    **{"d'ye": 1, "more'n": 4, "'tis": 2, "'twas": 2},
}
_CLOSING = frozenset(["''", "'", ")", "]", "}", ">"])
PUNCTUATION = frozenset({"''", "``", "--", "...", *"'`(){}[].?!,:-;"})
"""The words that the published code of CIDEr drops."""


def ptb_words(text: str, *, lowercase: bool = False, marks: bool = True) -> list[str]:
    """Return the words of a text, and its punctuation marks if ``marks``."""
    line = _OPENING_QUOTE.sub(" `` ", text.translate(_STRAIGHT)).replace('"', " '' ")
    words = _MARKS.sub(r" \g<0> ", line).split()
    last = max((i for i, word in enumerate(words) if word not in _CLOSING), default=-1)
    stopped = (x for i, word in enumerate(words) for x in _split_full_stop(word, i == last))
    parts = (part for word in stopped for part in _split_clitic(word))
    tokens = [token for part in parts for token in _split_contraction(part)]
    selected = tokens if marks else [word for word in tokens if word not in PUNCTUATION]
    return [word.lower() for word in selected] if lowercase else selected


def _split_full_stop(word: str, ends_text: bool) -> tuple[str, ...]:
    bare = word.rstrip("'")
    stem = bare.removesuffix(".")
    abbreviated = _ABBREVIATIONS.fullmatch(stem) or _INITIALS.fullmatch(stem)
    if stem in ("", bare) or stem.endswith(".") or (abbreviated and not ends_text):
        return (word,)
    return (stem, f".{word[len(bare) :]}")


def _split_clitic(word: str) -> tuple[str, ...]:
    match = _CLITIC.search(word)
    return (word[: match.start()], match[1]) if match else (word,)


def _split_contraction(word: str) -> tuple[str, ...]:
    at = _CONTRACTIONS.get(word.lower(), 0)
    return (word[:at], word[at:]) if at else (word,)
