"""Signature: the line that says exactly how a number was made, and makes it again.

    bertscore|model:embedded|layer:4|weights:uniform|...|nrefs:1|nlgauge:0.1.0|torch:2.13.0

The keys named like options rebuild the metric; the others are facts observed while scoring
(number of references, digests, library versions), which a replay can compare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nlgauge.core.errors import UsageError
from nlgauge.core.options import escape, unescape


@dataclass(frozen=True)
class Signature:
    """A metric's name and its ordered keys, all text."""

    name: str
    keys: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, name: str, *parts: Mapping[str, str] | Iterable[tuple[str, str]]) -> Signature:
        """A signature with the keys of ``parts`` in order; a later part may not repeat a key."""
        keys: dict[str, str] = {}
        for part in parts:
            for key, value in part.items() if isinstance(part, Mapping) else part:
                if key in keys:
                    raise UsageError(f"signature of {name!r} has the key {key!r} twice")
                keys[key] = value
        return cls(name, tuple(keys.items()))

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature that ``text`` spells; the inverse of ``str``."""
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
