"""Metric: options in, rows of statistics per segment out, and how rows become a score.

Every metric yields one row of numbers per segment. A corpus score is ``finish`` of the summed
rows, so confidence intervals, paired tests, buckets and shards are all ``weights @ rows``.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

import numpy as np

from nlgauge.core.cloud import Bools, Cloud, Floats
from nlgauge.core.errors import UsageError
from nlgauge.core.histogram import Histogram
from nlgauge.core.options import format_value, option, options_of, parse_options
from nlgauge.core.plan import Plan
from nlgauge.core.requirements import ModelCard, Need

Side = Literal["candidate", "reference"]
VOID_NOTE = "nothing to compare (a text is empty or without weight), given the worst value"


@dataclass(frozen=True)
class Scale:
    """Direction and range of a metric's headline number.

    ``best`` is what identical texts get. ``void`` is the documented worst value, given to a text
    that has nothing to compare; it need not be the end of an unbounded range.
    """

    direction: Literal["higher", "lower"]
    low: float
    high: float
    void: float

    @property
    def sign(self) -> int:
        """+1 where higher is better, -1 where lower is."""
        return 1 if self.direction == "higher" else -1

    @property
    def best(self) -> float:
        """The end of the range that identical texts attain."""
        return self.high if self.direction == "higher" else self.low

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """The ends of the range, with None for an infinity, which JSON does not have."""
        low, high = (end if np.isfinite(end) else None for end in (self.low, self.high))
        return low, high

    @property
    def arrow(self) -> str:
        """↑ or ↓."""
        return "↑" if self.direction == "higher" else "↓"


def similarity(low: float = 0.0, high: float = 1.0) -> Scale:
    """A scale on which higher is better and nothing-to-compare gets ``low``."""
    return Scale("higher", low, high, void=low)


def distance(high: float, *, void: float | None = None) -> Scale:
    """A scale from 0 on which lower is better and nothing-to-compare gets ``void`` or ``high``."""
    return Scale("lower", 0.0, high, void=high if void is None else void)


@dataclass(frozen=True, eq=False)
class Rows:
    """Statistics of segments, one row each, and for every note the segments it is about."""

    statistics: Floats
    notes: Mapping[str, Bools] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Metric(ABC):
    """One way of scoring. Subclasses are frozen dataclasses whose options are their fields.

    A subclass sets ``scale`` and writes ``rows`` (or, for a metric that looks at one reference at
    a time, extends ``PairMetric`` and writes ``compare``). Its file name is its name.
    """

    name: ClassVar[str]
    paper: ClassVar[str] = ""
    libraries: ClassVar[tuple[str, ...]] = ()
    symmetric: ClassVar[bool] = False
    more_references_never_hurt: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = cls.__module__.rpartition(".")[2]

    def __post_init__(self) -> None:
        for name, known in options_of(type(self)).items():
            known.check(getattr(self, name))

    @property
    @abstractmethod
    def scale(self) -> Scale:
        """Direction, range and worst value of the first component."""

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the numbers it gives, the headline first."""
        return ("score",)

    @property
    def needs(self) -> Need:
        """What the metric wants to be handed: texts, unless a subclass asks for clouds."""
        return Need()

    @property
    def members(self) -> tuple[Metric, ...]:
        """Other metrics it is made of: it is handed a tuple with what each of them needs."""
        return ()

    def with_members(self, members: Sequence[Metric]) -> Self:
        """The metric with its members bound to their models, or fitted."""
        return self

    def bind(self, card: ModelCard) -> Self:
        """The metric with every option that depends on the model made concrete."""
        return self

    def fit(self, references: Iterable[Sequence[str]]) -> Self:
        """The metric with its corpus tables learnt from the references of each segment."""
        return self

    def pool(self, parts: Sequence[Self]) -> Self:
        """The metric with the corpus tables of all parts, each fitted on its own, added up."""
        return self

    @abstractmethod
    def rows(self, candidates: Sequence[Any], references: Sequence[Sequence[Any]]) -> Rows:
        """A row of statistics for every segment, whatever its company."""

    def finish(self, totals: Floats, counts: Floats) -> Floats:
        """Components of each sum of rows: ``totals[b]`` is the sum of ``counts[b]`` rows."""
        return totals / counts[:, None]

    def finish_segments(self, statistics: Floats) -> Floats:
        """Components of every segment on its own."""
        return self.finish(statistics, np.ones(len(statistics)))

    def facts(self) -> dict[str, str]:
        """What the signature should say beyond the options, such as a table's digest."""
        return {}

    def describe(self) -> dict[str, str]:
        """The options as text, in order; ``rebuild`` is the inverse."""
        return {name: format_value(getattr(self, name)) for name in options_of(type(self))}

    @classmethod
    def rebuild(cls, keys: Mapping[str, str]) -> Self:
        """The metric that ``describe`` gave ``keys`` for; keys that are no options are facts."""
        known = options_of(cls)
        texts = {key: text for key, text in keys.items() if key in known}
        return cls(**parse_options(cls, texts, name=cls.name))

    def label(self) -> str:
        """The short name that tells this metric from its siblings: name and changed options."""
        changed = [
            f"{field.name}={format_value(getattr(self, field.name))}"
            for field in dataclasses.fields(self)
            if "help" in field.metadata and getattr(self, field.name) != field.default
        ]
        return f"{self.name}:{','.join(changed)}" if changed else self.name


@dataclass(frozen=True)
class PairMetric(Metric):
    """A metric that compares a candidate with one reference at a time.

    ``prepare`` runs once for each distinct text, ``compare`` for all pairs at once. Of several
    references the best counts, with all of its components.
    """

    more_references_never_hurt: ClassVar[bool] = True

    over_references: str = option(
        "best",
        "Of several references take the best with its components, or the mean.",
        choices=("best", "mean"),
    )

    @abstractmethod
    def compare(self, candidates: Sequence[Any], references: Sequence[Any]) -> Floats:
        """Components of every pair: row i compares ``candidates[i]`` with ``references[i]``."""

    def prepare(self, item: Any, side: Side) -> Any | None:
        """What ``compare`` wants to see of one text; None if it has nothing to compare."""
        empty = item.void if isinstance(item, Cloud | Histogram) else not item.strip()
        return None if empty else item

    def align(self, candidate: Any, reference: Any) -> Plan:
        """Which token was matched with which, of two prepared texts."""
        raise UsageError(f"{self.name} does not match tokens, so it has no alignment to show")

    @property
    def void_row(self) -> tuple[float, ...]:
        """The components of a pair in which a side has nothing to compare."""
        return (self.scale.void,) * len(self.components)

    def rows(self, candidates: Sequence[Any], references: Sequence[Sequence[Any]]) -> Rows:
        """The best (or mean) comparison of every candidate over its references."""
        owners = [i for i, group in enumerate(references) for _ in group]
        left = self._prepare_once([candidates[i] for i in owners], "candidate")
        right = self._prepare_once([text for group in references for text in group], "reference")
        alive = [k for k in range(len(owners)) if left[k] is not None and right[k] is not None]
        pairs = np.tile(np.asarray(self.void_row, dtype=np.float64), (len(owners), 1))
        if alive:
            pairs[alive] = self._compare_all([left[k] for k in alive], [right[k] for k in alive])
        dead = np.zeros(len(candidates), dtype=bool)
        dead[[owners[k] for k in set(range(len(owners))).difference(alive)]] = True
        bounds = np.cumsum([0, *(len(group) for group in references)])
        statistics = [self._reduce(pairs[start:stop]) for start, stop in pairwise(bounds)]
        return Rows(np.stack(statistics), {VOID_NOTE: dead})

    def _prepare_once(self, items: Sequence[Any], side: Side) -> list[Any | None]:
        # Equal texts arrive as the same object, so identity finds them without hashing clouds.
        distinct = list({id(item): item for item in items}.values())
        made = self._prepare_all(distinct, side)
        done = {id(item): one for item, one in zip(distinct, made, strict=True)}
        return [done[id(item)] for item in items]

    def _prepare_all(self, items: Sequence[Any], side: Side) -> list[Any | None]:
        return [self.prepare(item, side) for item in items]

    def _compare_all(self, candidates: Sequence[Any], references: Sequence[Any]) -> Floats:
        return self.compare(candidates, references)

    def _reduce(self, pairs: Floats) -> Floats:
        if self.over_references == "mean":
            return np.asarray(pairs.mean(axis=0))
        return np.asarray(pairs[np.argmax(self.scale.sign * pairs[:, 0])])
