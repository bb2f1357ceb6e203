"""CloudMetric: options and preparation of the metrics that compare embedded texts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import files
from itertools import chain
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from nlgauge.core.arrays import Floats, Ints
from nlgauge.core.cloud import Cloud
from nlgauge.core.device import HOST, current_device
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import PairMetric, Side
from nlgauge.core.options import format_value, option
from nlgauge.core.requirements import ModelCard, Need, Weighting
from nlgauge.measure.cost import scale_in_place
from nlgauge.measure.layers import join, pool_ngrams
from nlgauge.runtime.progress import counted, portion
from nlgauge.runtime.threads import spread

_MIN_PER_THREAD = 32  # texts or pairs
_PAIRS_AT_ONCE = 32  # between two reports of progress
_PREPARING_SHARE = 0.25  # of the progress, for the texts of each side
_CELLS_AT_ONCE = 1 << 20  # of the matrices of pairs that are solved together


@dataclass(frozen=True, eq=False)
class Points:
    """The vectors that represent a text, their masses and their tokens."""

    vectors: Floats
    masses: Floats
    strings: tuple[str, ...]
    characters: Ints | None = None  # first and last of each string, if they are parts of the text
    span: int = 1  # consecutive strings that each vector represents

    @property
    def tokens(self) -> tuple[str, ...]:
        """The name of each vector, which only alignments need."""
        if self.span == 1:
            return self.strings
        return tuple(
            map(" ".join, zip(*(self.strings[k:] for k in range(self.span)), strict=False))
        )

    @property
    def offsets(self) -> Ints | None:
        """The first and last character of each vector, if they are parts of the text."""
        if self.span == 1 or self.characters is None:
            return self.characters
        starts, ends = self.characters.T
        # Special tokens have no place in the text: they must not be the first.
        starts = np.where(starts < ends, starts, np.iinfo(np.int64).max)
        first = sliding_window_view(starts, self.span).min(axis=1)
        last = sliding_window_view(ends, self.span).max(axis=1)
        return np.stack([np.minimum(first, last), last], axis=1)


class Published(NamedTuple):
    """What published code does differently: changes of the weighting, and its best layers."""

    weighting: Mapping[str, Any]
    layers: str = "best"
    ngrams: bool = False  # whether it compares n-grams
    long_text: str = "window"  # what it does with long texts, in place of windows
    strip: bool = False  # whether it strips texts


def one_layer() -> Any:
    """Return the option `layer` of a metric that compares one layer."""
    return option(
        "best",
        "Hidden layer; best is the model's best known layer, 3+4+6 joins layers.",
        server="text",
    )


def several_layers() -> Any:
    """Return the option `layers` of a metric that combines layers."""
    return option("best", "Hidden layers: best, all, last5, 4, 3+4+6 or 2-6.", server="text")


def ngrams() -> Any:
    """Return the option `ngram` of a metric that compares n-grams or single tokens."""
    return option(1, "Tokens of an n-gram; 1000 makes a text one n-gram.", low=1, server=1000)


def long_texts() -> Any:
    """Return the option `long_text` of a metric of a model."""
    return option(
        "window",
        "Texts longer than the model's limit: overlapping windows, truncation, or an error.",
        choices=("window", "truncate", "error"),
        server="fixed",
    )


@dataclass(frozen=True)
class CloudMetric(PairMetric):
    """A metric that compares the cloud of a candidate with the cloud of one reference.

    ``matching`` (greedy, transport or barycenter) selects among a model's best layers.
    ``published`` describes the values of an option ``compat``, which replaces the
    ``replaced_options`` and those of the weighting. ``preset_options`` take the model's presets
    where they are ``best`` or none. An option ``layer`` can name several layers to join
    unless ``joins_layers`` is False.
    """

    matching = "greedy"
    published: ClassVar[Mapping[str, Published]] = {}
    replaced_options: ClassVar[tuple[str, ...]] = ()
    preset_options: ClassVar[tuple[str, ...]] = ()
    joins_layers: ClassVar[bool] = True

    model: str | None = option(
        None,
        "Model name or folder, mpnet, use, lang:XX, glove, a file of word vectors, or hashing; "
        "none takes NLGAUGE_MODEL, else the embedded model.",
    )
    weights: str = option(
        "uniform",
        "Mass of a token: uniform, or its inverse document frequency in the references.",
        choices=("uniform", "idf"),
    )
    long_text: str = long_texts()
    precision: str = option(
        "float32",
        "Arithmetic of the encoder; int8 is faster and changes the third digit of scores.",
        choices=("float32", "bfloat16", "int8"),
        server="fixed",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        compat = self._compat
        if compat and self._ngram != 1 and not self._published.ngrams:
            raise OptionError(f"{compat} ignores n-grams; leave out ngram={self._ngram}")
        replaced = {*self.replaced_options, *self._published.weighting} if compat else set()
        for name in sorted(replaced & self.changed_options().keys()):
            value = format_value(getattr(self, name))
            raise OptionError(f"compat={compat} sets {name} itself; leave out {name}={value}")

    @property
    def layer_option(self) -> str:
        """The name of the option that selects layers: ``layer`` or ``layers``."""
        return "layer" if hasattr(self, "layer") else "layers"

    @property
    def _compat(self) -> str | None:
        compat: str | None = getattr(self, "compat", None)
        return compat

    @property
    def _ngram(self) -> int:
        return int(getattr(self, "ngram", None) or 1)

    @property
    def _published(self) -> Published:
        return self.published.get(self._compat or "", Published({}))

    @property
    def weighting(self) -> Weighting:
        scheme = Weighting(
            scheme="idf" if self.weights == "idf" else "uniform",
            unknown="model" if self._compat else "string",
        )
        return replace(scheme, **self._published.weighting)

    @property
    def needs(self) -> Need:
        return Need(
            kind="clouds",
            model=self.model,
            layers=_layer_numbers(getattr(self, self.layer_option)),
            weighting=self.weighting,
            long_text=self._published.long_text if self.long_text == "window" else self.long_text,
            strip=self._published.strip,
            precision=self.precision,
        )

    @property
    def span_thresholds(self) -> tuple[float, float] | None:
        """The thresholds that are stored for the metric with its model and options."""
        thresholds = _stored_thresholds().get(self.label())
        return None if thresholds is None else (thresholds[0], thresholds[1])

    @property
    def regularised(self) -> bool:
        """Whether its solvers can run on a device, all pairs of a chunk at once."""
        return bool(getattr(self, "epsilon", 0) or getattr(self, "temperature", 0))

    @property
    def leaves_layers_open(self) -> bool:
        """Whether neither an option nor a compat mode names the layers."""
        return bool("best" == getattr(self, self.layer_option) == self._published.layers)

    def bind(self, card: ModelCard) -> Self:
        unset = (name for name in self.preset_options if getattr(self, name) in ("best", None))
        preset = {name: card.presets[name] for name in unset if name in card.presets}
        selected = preset.pop(self.layer_option, getattr(self, self.layer_option))
        requested = self._published.layers if selected == "best" else selected
        numbers = card.choose(requested, match=self.matching)
        joins = self.joins_layers and not self._compat
        if self.layer_option == "layer" and len(numbers) != 1 and not joins:
            raise OptionError(
                f"{self.name} compares one layer, but layer={selected} selects {len(numbers)}"
            )
        layers: Any = numbers[0] if len(numbers) == 1 else "+".join(map(str, numbers))
        fixed = {"model": card.name, "long_text": self.needs.long_text, self.layer_option: layers}
        return replace(self, **{**preset, **fixed})

    def points(self, cloud: Cloud) -> Points:
        """Return the points of a text that is not void: by default unit vectors of n-grams."""
        points = ngram_points(join(cloud.points), cloud, self._ngram)
        if self._ngram > 1:
            scale_in_place(points.vectors)
        return points

    def prepare(self, item: Cloud, side: Side) -> Any | None:
        return None if item.void else self.points(item)

    def prepare_many(self, items: Sequence[Cloud], side: Side) -> list[Any | None]:
        """Return ``prepare`` of each item; override where a batch is faster."""
        return [self.prepare(item, side) for item in counted(items)]

    def _prepare_all(self, items: Sequence[Any], side: Side) -> list[Any | None]:
        with portion(_PREPARING_SHARE):
            batches = spread(partial(self.prepare_many, side=side), items, least=_MIN_PER_THREAD)
        return list(chain.from_iterable(batches))

    def _compare_all(self, candidates: Sequence[Any], references: Sequence[Any]) -> Floats:
        # The score of a pair does not depend on other pairs, so threads can share them.
        portions = _PAIRS_AT_ONCE, _MIN_PER_THREAD
        if self.regularised and current_device() is not HOST:
            portions = len(candidates), len(candidates)
        at_once, least = portions

        def compare(pairs: Sequence[int]) -> Floats:
            starts = range(0, len(pairs), at_once)
            parts = [pairs[start : start + at_once] for start in starts]
            return np.concatenate([compare_some(part) for part in counted(parts)])

        def compare_some(pairs: Sequence[int]) -> Floats:
            return self.compare([candidates[k] for k in pairs], [references[k] for k in pairs])

        with portion(1 - 2 * _PREPARING_SHARE):
            return np.concatenate(spread(compare, range(len(candidates)), least=least))


def batch_pairs(
    candidates: Sequence[Points], references: Sequence[Points]
) -> Iterator[tuple[list[Points], list[Points]]]:
    """Yield consecutive pairs whose matrices fit into memory together; long texts come alone."""
    batch: tuple[list[Points], list[Points]] = [], []
    cells = 0
    for candidate, reference in zip(candidates, references, strict=True):
        size = len(candidate.masses) * len(reference.masses)
        if batch[0] and cells + size > _CELLS_AT_ONCE:
            yield batch
            batch, cells = ([], []), 0
        batch[0].append(candidate)
        batch[1].append(reference)
        cells += size
    if batch[0]:
        yield batch


def ngram_points(vectors: Floats, cloud: Cloud, n: int) -> Points:
    """Return the n-grams of a text with the means of their tokens' vectors and their masses."""
    means, masses = pool_ngrams(vectors, cloud.weights, n)
    tokens, span = cloud.tokens, min(n, len(cloud))
    if span > 1:
        masses = masses / (masses.sum() or 1.0)
    return Points(means, masses, tokens.strings, tokens.offsets, span)


@cache
def _stored_thresholds() -> dict[str, list[float]]:
    content = files(__package__).joinpath("span_thresholds.json").read_text("utf-8")
    thresholds: dict[str, list[float]] = json.loads(content)["thresholds"]
    return thresholds


def _layer_numbers(layers: int | str) -> tuple[int, ...]:
    """Return the layer numbers of a bound option, () before it is bound."""
    try:
        return tuple(int(part) for part in str(layers).split("+"))
    except ValueError:
        return ()
