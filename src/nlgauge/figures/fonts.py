"""Fonts of a figure: installed fonts for characters that the default font lacks."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT = "DejaVu Sans"
# Preferred fonts for other characters, in this order; only installed fonts are passed to
# matplotlib, which warns about others.
_PREFERRED = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "WenQuanYi Zen Hei", "Hiragino Sans"),
    *("Microsoft YaHei", "Malgun Gothic", "Arial Unicode MS", "Noto Emoji", "Segoe UI Symbol"),
)
_PLACEHOLDERS = "Last Resort"  # a font that draws a box for every character
_NORMAL = (400, "normal", "regular", "book")
_MAX_LISTED = 6  # characters in a note


def families() -> list[str]:
    """Return the default font and the preferred fonts that are installed."""
    return [DEFAULT, *(name for name in _PREFERRED if name in _files())]


def choose_fonts(figure: "Figure") -> str:
    """Set fonts that have the characters of each text; return characters without a font."""
    from matplotlib.text import Text

    texts: list[Any] = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    known = set().union(*map(_characters, families()))
    # Characters without a glyph: spaces, controls, joiners, variation selectors.
    characters = {letter for text in texts for letter in text.get_text() if not letter.isspace()}
    lacking = {x for x in characters if ord(x) not in known and unicodedata.category(x)[0] != "C"}
    added: list[str] = []
    for name in sorted(_files()) if lacking else ():
        had = {letter for letter in lacking if ord(letter) in _characters(name)}
        if had and not name.startswith(_PLACEHOLDERS):
            added.append(name)
            lacking -= had
    for text in texts if added else ():
        text.set_fontfamily([*dict.fromkeys([*text.get_fontfamily(), *families(), *added])])
    return "".join(sorted(lacking))


def note_on(missing: str, file: str) -> str:
    """Return a note about characters without a font: their scripts, and what to do."""
    sample = " ".join(missing[:_MAX_LISTED]) + (" ..." if len(missing) > _MAX_LISTED else "")
    return (
        f"no installed font has {sample} ({', '.join(_scripts(missing))}), so {file!r} shows boxes "
        "in their place; install a font of the script (such as Noto Sans CJK), or write .svg or "
        ".html, which use the fonts of the reader"
    )


def _scripts(characters: Iterable[str]) -> list[str]:
    """Return the scripts of letters by the first word of their Unicode names, else "symbols"."""
    scripts: dict[str, None] = {}
    for letter in characters:
        is_letter = unicodedata.category(letter)[0] in "LM"
        script = unicodedata.name(letter, "other").split()[0]
        scripts[script if script == "CJK" else script.title() if is_letter else "symbols"] = None
    return list(scripts)


def _files() -> dict[str, str]:
    """Return a file of every installed font of normal weight by the font's name."""
    from matplotlib import font_manager

    entries = reversed(font_manager.fontManager.ttflist)
    # matplotlib logs a warning about fonts that are only installed in other weights.
    normal = (font for font in entries if font.style == "normal" and font.weight in _NORMAL)
    return {entry.name: entry.fname for entry in normal}


def _characters(name: str) -> frozenset[int]:
    return _read_characters(_files()[name])


@lru_cache(maxsize=1024)
def _read_characters(file: str) -> frozenset[int]:
    """Return the codes of the characters of a font file, none if it cannot be read."""
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(FT2Font(file).get_charmap())
    except (OSError, RuntimeError, ValueError):
        return frozenset()
