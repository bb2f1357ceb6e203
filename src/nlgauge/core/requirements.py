"""Requirements of a metric (`Need`), and the properties of a model (`ModelCard`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from nlgauge.core.errors import OptionError

Kind = Literal["text", "clouds", "histograms"]
Unknown = Literal["string", "model"]


@dataclass(frozen=True)
class Weighting:
    """Which tokens of a text are used, and how they are weighted."""

    scheme: Literal["uniform", "idf", "idf_plus_one"] = "uniform"
    # Tokens that the model adds ([CLS], </s>); silent tokens have no mass but can be matched.
    special: Literal["drop", "silent", "keep"] = "drop"
    subwords: Literal["all", "first"] = "all"  # pieces of a word that are kept
    punctuation: Literal["keep", "drop", "drop_ascii"] = "keep"
    stopwords: frozenset[str] = frozenset()
    sides: Literal["shared", "separate"] = "shared"  # shared: idf of the references for both
    # A text is scored if tokens other than special ones have mass, or if any token has mass.
    void: Literal["content", "mass"] = "content"
    # Whether unknown tokens match only equal strings, or are compared by the model's vectors.
    unknown: Unknown = "string"

    @property
    def fitted(self) -> bool:
        """Whether an idf table has to be fitted on a corpus."""
        return self.scheme != "uniform"


@dataclass(frozen=True)
class Need:
    """The input of a metric: texts, clouds of a model's layers, or histograms of a masked model."""

    kind: Kind = "text"
    model: str | None = None
    layers: tuple[int, ...] = ()
    weighting: Weighting = field(default_factory=Weighting)
    long_text: str = "window"
    strip: bool = False  # strip texts, and prepend a space for RoBERTa and GPT-2
    precision: str = "float32"
    temperature: float = 1.0  # of a histogram
    whole_words: bool = False  # for a histogram, mask all tokens of a word at once


@dataclass(frozen=True)
class ModelCard:
    """Properties of a model that are known before encoding."""

    name: str
    digest: str
    depth: int
    dimension: int
    layers: Mapping[str, tuple[int, ...]]  # the best for greedy, transport and barycenter
    published: bool = True  # whether the best layers were measured, not guessed
    libraries: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()  # codes of all languages it knows; () if unknown or many
    presets: Mapping[str, Any] = field(default_factory=dict)  # best values of options, by name

    def choose(self, wanted: str | int, *, match: str) -> tuple[int, ...]:
        """Return the layer numbers of ``wanted``: best, all, last5, 4, -1, 3+4+6 or 2-6.

        0 is the embedding layer, ``depth`` the last; negative numbers count from the last.
        """
        text = str(wanted).strip().lower()
        if text == "best":
            return self.layers[match]
        if text == "all":
            return tuple(range(1, self.depth + 1)) or (0,)  # word vectors only have layer 0
        try:
            if text.startswith("last"):
                numbers: Sequence[int] = range(self.depth + 1 - int(text[4:] or 1), self.depth + 1)
            elif "-" in text[1:] and "+" not in text:
                first, _, last = text.partition("-")
                numbers = range(int(first), int(last) + 1)
            else:
                listed = [int(part) for part in text.split("+")]
                numbers = [n + self.depth + 1 if n < 0 else n for n in listed]
        except ValueError:
            choices = "best, all, last5, 4, -1, 3+4+6 or 2-6"
            raise OptionError(f"layers={wanted!r:.60}: write {choices}") from None
        # A range may be long, so only its ends are checked.
        ends = numbers[:: max(len(numbers) - 1, 1)] if isinstance(numbers, range) else numbers
        if not ends or min(ends) < 0 or max(ends) > self.depth:
            known = f"{self.name} has layers 0 (embeddings) to {self.depth}"
            raise OptionError(f"layers={text!r:.60}: {known}")
        return tuple(numbers)
