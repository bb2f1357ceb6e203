"""Signature: a line of text that states how a score was computed, and from which to rebuild it.

    bertscore|model:embedded|layer:4|weights:uniform|...|nrefs:1|nlgauge:0.1.0|torch:2.13.0

Keys that are not options record the number of references, digests and library versions.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nlgauge.core.errors import UsageError
from nlgauge.core.options import escape, unescape


@dataclass(frozen=True)
class Signature:
    """The name of a metric and its ordered keys, all text."""

    name: str
    keys: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, name: str, *parts: Mapping[str, str] | Iterable[tuple[str, str]]) -> "Signature":
        """Return a signature with the keys of ``parts`` in order; keys may not repeat."""
        keys: dict[str, str] = {}
        for part in parts:
            for key, value in part.items() if isinstance(part, Mapping) else part:
                if key in keys:
                    raise UsageError(f"signature of {name!r} has the key {key!r} twice")
                keys[key] = value
        return cls(name, tuple(keys.items()))

    @classmethod
    def parse(cls, text: str) -> "Signature":
        """Return the signature written as ``text``; the inverse of ``str``."""
        name, *pieces = text.split("|")
        keys = []
        for piece in pieces:
            key, colon, value = piece.partition(":")
            if not colon or not key:
                raise UsageError(f"signature {text!r}: {piece!r} is not of the form key:value")
            keys.append((key, value))
        return cls.of(unescape(name), keys)

    def __getitem__(self, key: str) -> str:
        return dict(self.keys)[key]

    def __str__(self) -> str:
        return "|".join([escape(self.name), *(f"{key}:{value}" for key, value in self.keys)])
