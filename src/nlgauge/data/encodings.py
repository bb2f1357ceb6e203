"""Encodings of text files that are not UTF-8, and compressed files that are not decompressed."""

import codecs
import re

HEAD = 1024
"""The number of bytes that are examined to detect UTF-16."""
OTHER_COMPRESSION = re.compile(rb"(?P<xz>\xfd7zXZ\0)|(?P<bzip2>BZh\d1AY&SY)|(?P<zip>PK\x03\x04)")


def unmarked_utf16(head: bytes) -> str | None:
    """Return UTF-16LE or UTF-16BE if the head of a file looks like it without a byte order mark."""
    for coding, high in (("UTF-16LE", head[1::2]), ("UTF-16BE", head[::2])):
        zeros = high.count(0)  # the high bytes of ASCII characters
        if not zeros or zeros < head.count(0) or not _is_text(head, coding):
            continue
        # UTF-8 may contain zero bytes, but hardly at every other position from the first on.
        if (high[0] == 0 and 2 * zeros > len(high)) or not _is_text(head, "utf-8"):
            return coding
    return None


def _is_text(head: bytes, coding: str) -> bool:
    """Return whether bytes decode to printable text; a pickle starts with 0x80."""
    try:
        text = codecs.getincrementaldecoder(coding)().decode(head)
    except UnicodeDecodeError:
        return False
    plain = all(letter.isprintable() or letter.isspace() or letter == "\0" for letter in text)
    return plain and not head.startswith(b"\x80")
