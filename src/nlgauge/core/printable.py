"""Escapes of control and invisible characters in text from files, for output."""

import re
from collections.abc import Callable

# Controls, bidirectional controls, invisible characters, line separators, surrogates and
# noncharacters. Joiners are kept: emoji and scripts other than Latin need them.
_HIDDEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-"
    r"\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    r"|(?<![\u0300-\u1fff\u2070-\U0010ffff])[\u200c\u200d]"
    r"|[\u200c\u200d](?![\u0300-\u1fff\u2070-\U0010ffff])"
)


def _python_escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def printable(text: str, *, keep: str = "", escape: Callable[[str], str] = _python_escape) -> str:
    r"""Return the text with an escape such as \x1b for each control or invisible character."""
    return _HIDDEN.sub(lambda match: match[0] if match[0] in keep else escape(match[0]), text)
