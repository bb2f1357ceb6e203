"""Fonts of a figure: installed ones for the characters that the default font lacks."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT = "DejaVu Sans"
# Preferred fonts for other characters, in this order; only installed ones are named, because
# matplotlib warns about every other.
_PREFERRED = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "WenQuanYi Zen Hei", "Hiragino Sans"),
    *("Microsoft YaHei", "Malgun Gothic", "Arial Unicode MS", "Noto Emoji", "Segoe UI Symbol"),
)
_PLACEHOLDERS = "Last Resort"  # a font that draws a box for every character
_SHOWN = 6  # characters in a note


def families() -> list[str]:
    """Return the default font and the preferred fonts that are installed."""
    return [DEFAULT, *(name for name in _PREFERRED if name in _files())]


def choose_fonts(figure: "Figure") -> str:
    """Give texts fonts that have their characters; return the characters that none has."""
    from matplotlib.text import Text

    texts: list[Any] = [each for each in figure.findobj(Text) if isinstance(each, Text)]
    known = set().union(*map(_characters, families()))
    # Characters without a glyph of their own: spaces, controls, joiners, variation selectors.
    drawn = {letter for each in texts for letter in each.get_text() if not letter.isspace()}
    lacking = {x for x in drawn if ord(x) not in known and unicodedata.category(x)[0] != "C"}
    added: list[str] = []
    for name in sorted(_files()) if lacking else ():
        had = {letter for letter in lacking if ord(letter) in _characters(name)}
        if had and not name.startswith(_PLACEHOLDERS):
            added.append(name)
            lacking -= had
    for each in texts if added else ():
        each.set_fontfamily([*families(), *added])
    return "".join(sorted(lacking))


def note_on(missing: str, file: str) -> str:
    """Return a note on characters without a font: their scripts, and what to do."""
    shown = " ".join(missing[:_SHOWN]) + (" ..." if len(missing) > _SHOWN else "")
    return (
        f"no installed font has {shown} ({', '.join(_scripts(missing))}), so {file!r} shows boxes "
        "in their place; install a font of the script (such as Noto Sans CJK), or write .svg or "
        ".html, which use the fonts of the reader"
    )


def _scripts(characters: Iterable[str]) -> list[str]:
    """Return the scripts of letters by the first word of their Unicode names, else "symbols"."""
    found: dict[str, None] = {}
    for letter in characters:
        is_letter = unicodedata.category(letter)[0] in "LM"
        script = unicodedata.name(letter, "other").split()[0]
        found[script if script == "CJK" else script.title() if is_letter else "symbols"] = None
    return list(found)


def _files() -> dict[str, str]:
    """Return a file of every installed font by the font's name."""
    from matplotlib import font_manager

    return {entry.name: entry.fname for entry in reversed(font_manager.fontManager.ttflist)}


@lru_cache(maxsize=1024)
def _characters(name: str) -> frozenset[int]:
    """Return the codes of the characters of a font, none if its file cannot be read."""
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    try:
        # The file that matplotlib takes for the name, which has several weights.
        file = font_manager.findfont(name, fallback_to_default=False)
        return frozenset(FT2Font(file).get_charmap())
    except (OSError, RuntimeError, ValueError):
        return frozenset()
