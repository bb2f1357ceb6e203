"""Options of a metric: typed dataclass fields with help, choices and range."""

import dataclasses
import difflib
import functools
import math
import types
import typing
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Literal

import numpy as np

from nlgauge.core.custom_tokenizer import CustomTokenizer, refuse_name
from nlgauge.core.errors import OptionError

Server = Literal["model", "text", "fixed"] | tuple[str, ...] | Mapping[str, str] | float

_TRUE = {"yes", "true", "on", "1"}
_FALSE = {"no", "false", "off", "0"}
_TYPE_NAMES = {bool: "yes or no", int: "integer", float: "number", str: "text"}


def option(
    default: Any,
    help: str,
    *,
    choices: tuple[str, ...] | None = None,
    low: float | None = None,
    high: float | None = None,
    server: Server | None = None,
) -> Any:
    """Return a dataclass field that is an option: keyword-only, documented and validated.

    ``server`` declares what requests to `nlgauge serve` may set the option to: one of the server's
    models ("model", the default for an option of that name), any short text ("text"), its default
    ("fixed", the default for free text, which could name a file), one of some texts (a tuple, or a
    mapping of texts to their meaning), or numbers up to a magnitude.
    """
    metadata = {"help": help, "choices": choices, "low": low, "high": high, "server": server}
    return dataclasses.field(default=default, kw_only=True, metadata=metadata)


@dataclasses.dataclass(frozen=True)
class Option:
    """One option of a metric class."""

    name: str
    help: str
    default: Any
    types: tuple[type, ...]
    choices: tuple[str, ...] | None
    low: float | None
    high: float | None
    server: Server | None = None

    @property
    def kind(self) -> str:
        """The accepted values, such as ``integer or none`` or ``best | mean``."""
        none = ["none"] * (type(None) in self.types)
        if self.choices is not None:
            return " | ".join([*self.choices, *none])
        named = [
            _TYPE_NAMES.get(kind, kind.__name__) for kind in self.types if kind is not type(None)
        ]
        limits = "" if self.low is None and self.high is None else f" {self._interval()}"
        return " or ".join(named + none) + limits

    def parse(self, text: str) -> Any:
        """Return the value written as ``text``, or raise OptionError."""
        word = unescape(text)
        if word.lower() == "none" and type(None) in self.types:
            return None
        if bool in self.types and word.lower() in _TRUE | _FALSE:
            return word.lower() in _TRUE
        for kind in (int, float):
            with suppress(ValueError):
                if kind in self.types:
                    return kind(word)
        if str in self.types:
            return word
        raise OptionError(f"option {self.name}={text!r}: expected {self.kind}")

    def check(self, value: Any) -> None:
        """Raise OptionError unless ``value`` has the option's type, choice and range."""
        refuse_name(self.name, value)
        accepted = isinstance(value, self.types) or (float in self.types and type(value) is int)
        if not accepted or (isinstance(value, bool) and bool not in self.types):
            expected = f"expected {self.kind}, not {type(value).__name__}"
            raise OptionError(f"option {self.name}={value!r}: {expected}")
        if self.choices is not None and isinstance(value, str) and value not in self.choices:
            hint = _nearest(value, self.choices)
            raise OptionError(f"option {self.name}={value!r}: choose {self.kind}{hint}")
        if isinstance(value, int | float) and not isinstance(value, bool):
            low, high = self.limits
            if not low <= value <= high:
                raise OptionError(f"option {self.name}={value}: must lie within {self._interval()}")

    def convert(self, value: Any) -> Any:
        """Convert a value from Python code: functions become tokenizers, numpy numbers plain."""
        if isinstance(value, np.generic):
            value = value.item()
        if CustomTokenizer in self.types and CustomTokenizer.is_tokenizer(value):
            return value if isinstance(value, CustomTokenizer) else CustomTokenizer.of(value)
        if type(value) is int and self.types == (str,):
            return str(value)  # rouge, variant=2
        return value

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest number."""
        low = -math.inf if self.low is None else self.low
        return low, math.inf if self.high is None else self.high

    def _interval(self) -> str:
        return f"[{', '.join(map(format_value, self.limits))}]"


@functools.cache  # evaluating type hints is slow, and metrics are created for every request
def options_of(metric: type) -> Mapping[str, Option]:
    """Return the options of a metric class by name, in order of definition."""
    hints = typing.get_type_hints(metric)
    options = {}
    for field in dataclasses.fields(metric):
        if "help" in field.metadata:
            name, known = field.name, dict(field.metadata)
            known["server"] = known["server"] or ("model" if name == "model" else None)
            kinds = _plain_types(hints[name])
            options[name] = Option(name=name, default=field.default, types=kinds, **known)
    return types.MappingProxyType(options)


def parse_options(metric: type, texts: Mapping[str, str], *, name: str) -> dict[str, Any]:
    """Return the option values written in ``texts``."""
    refuse_unknown(metric, texts, name=name)
    known = options_of(metric)
    return {key: known[key].parse(text) for key, text in texts.items()}


def refuse_unknown(metric: type, names: Iterable[str], *, name: str) -> None:
    """Raise OptionError with the list of options unless all ``names`` are options."""
    known = options_of(metric)
    for key in names:
        if key not in known:
            hint, listed = _nearest(key, known), ", ".join(known) or "none"
            raise OptionError(f"metric {name!r} has no option {key!r}{hint} (it has: {listed})")


def _nearest(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def format_value(value: Any) -> str:
    """Return an option value as text; the inverse of ``Option.parse``."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(float(value))
    return escape(str(value))


def escape(text: str) -> str:
    """Return ``text`` with the characters that separate keys and options percent-encoded."""
    for mark in "%|,\n":
        text = text.replace(mark, f"%{ord(mark):02X}")
    return text


def unescape(text: str) -> str:
    """Return ``text`` decoded; the inverse of ``escape``."""
    for mark in "\n,|%":
        text = text.replace(f"%{ord(mark):02X}", mark)
    return text


def _plain_types(hint: Any) -> tuple[type, ...]:
    """Return the classes a type hint accepts: ``int | None`` gives (int, NoneType)."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return tuple(kind for part in typing.get_args(hint) for kind in _plain_types(part))
    return (hint,)
