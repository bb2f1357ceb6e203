"""Reader of rows from a JSON file with a list of objects, in pieces."""

import codecs
import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

from nlgauge.core.errors import FileError
from nlgauge.core.jsonable import unique_keys

_PIECE = 1 << 16  # bytes
_NEAR = 16  # characters from the end within which an escape or a word may be cut off


def array_rows(path: str, content: IO[bytes]) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    """Yield every object of the list, or the reason for an error, with its last line."""
    window = _Window(path, content)
    if window.mark() != "[":
        raise FileError(
            f"{path} is not a list of rows: expected "
            '[{"candidate": "...", "references": ["..."]}, ...]; '
            "name it .jsonl if every line is an object of its own"
        )
    window.at += 1
    more = window.mark() != "]"
    while more:
        yield window.row()
        mark = window.mark()
        if mark not in (",", "]"):
            raise window.error("expecting ',' or ']' after a row")
        more = mark == ","
        window.at += more
    window.at += 1
    if window.mark():
        raise window.error("there is more after the list")


class _Window:
    """The text after the rows that were parsed and before the bytes that were not read yet."""

    def __init__(self, path: str, content: IO[bytes]) -> None:
        self._path, self._content = path, content
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._strict = json.JSONDecoder(object_pairs_hook=unique_keys)
        self._text, self._line = "", 1
        self.at = 0

    def mark(self) -> str:
        """Return the next character that is not white space, or '' at the end of the file."""
        while True:
            while self.at < len(self._text) and self._text[self.at] in " \t\r\n":
                self.at += 1
            if self.at < len(self._text):
                return self._text[self.at]
            if not self._read():
                return ""

    def row(self) -> tuple[int, Mapping[str, Any] | str]:
        """Return the next value with its last line, or the reason why it is not a row."""
        self.mark()
        try:
            value, end = self._value(self._strict)
        except json.JSONDecodeError as error:
            raise self.error(error.msg.lower()) from None
        except RecursionError:
            raise self.error("it is nested too deeply") from None
        except ValueError as error:  # a key that occurs twice, or a number of too many digits
            reason = f"not JSON: {error}"
            try:
                value, end = reason, self._value(json.JSONDecoder())[1]
            except ValueError:
                raise self.error(str(error)) from None
        else:
            if not isinstance(value, dict):
                value = f"not a JSON object but {self._text[self.at : self.at + 40]!r}"
        self.at = end
        return self._line + self._text.count("\n", 0, end), value

    def error(self, reason: str) -> FileError:
        """Return the error that names the line."""
        line = self._line + self._text.count("\n", 0, self.at)
        return FileError(f"{self._path}, line {line}: not JSON: {reason}")

    def _value(self, decoder: json.JSONDecoder) -> tuple[Any, int]:
        while True:
            try:
                value, end = decoder.raw_decode(self._text, self.at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated") or error.pos > len(self._text) - _NEAR
                if not (cut and self._read()):
                    raise
                continue
            # A number may continue after the last character that was read.
            if isinstance(value, dict | list | str) or end < len(self._text) or not self._read():
                return value, end

    def _read(self) -> bool:
        """Double the text with every read, so that a long row is not parsed again too often."""
        piece = self._content.read(max(_PIECE, len(self._text) - self.at))
        self._line += self._text.count("\n", 0, self.at)
        try:
            self._text = self._text[self.at :] + self._decode(piece, not piece)
        except UnicodeDecodeError as error:
            byte = f"byte 0x{error.object[error.start]:02x}"
            raise FileError(f"{self._path} is not UTF-8 after line {self._line}: {byte}") from None
        self.at = 0
        return bool(piece)
