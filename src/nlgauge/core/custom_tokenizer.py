"""CustomTokenizer: a user-defined Python function that splits texts into words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nlgauge.core.errors import DataError, OptionError

PREFIX = "custom:"


@dataclass(frozen=True)
class CustomTokenizer:
    """A function that returns the words of a text, and its name for signatures."""

    name: str
    function: Callable[[str], Sequence[str]]

    @classmethod
    def of(cls, given: Any) -> "CustomTokenizer":
        """Return the tokenizer of a function, or of an object with a method ``tokenize``."""
        method = getattr(given, "tokenize", None)
        function = method if callable(method) else given
        return cls(getattr(given, "__name__", type(given).__name__), function)

    @staticmethod
    def is_tokenizer(value: Any) -> bool:
        """Return whether ``of`` accepts a value."""
        return callable(value) or callable(getattr(value, "tokenize", None))

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text; raise an error unless the function returns strings."""
        words = self.function(text)
        if isinstance(words, str) or not all(isinstance(word, str) for word in words):
            raise DataError(
                f"the tokenizer {self.name!r} must return a list of words, but returned "
                f"{words!r:.60} for the text {text!r:.40}"
            )
        return list(words)

    def __str__(self) -> str:
        return f"{PREFIX}{self.name}"


def refuse_name(option: str, value: object) -> None:
    """Raise if the value of an option is the name of a function instead of the function."""
    if isinstance(value, str) and value.startswith(PREFIX):
        name = value.removeprefix(PREFIX)
        raise OptionError(
            f"option {option}={value!r}: signatures state the name of the Python function only; "
            f"pass the function itself, as in nlgauge.metric(..., {option}={name})"
        )
