"""Metric: the interface of all metrics, which yield one row of numbers per segment."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

import numpy as np

from nlgauge.core.arrays import Bools, Floats, Ints
from nlgauge.core.cloud import Cloud
from nlgauge.core.errors import NothingToAlign, UsageError
from nlgauge.core.histogram import Histogram
from nlgauge.core.languages import ENGLISH, language_code
from nlgauge.core.options import format_value, option, options_of, parse_options
from nlgauge.core.plan import Plan
from nlgauge.core.requirements import ModelCard, Need
from nlgauge.core.spans import check_thresholds

Side = Literal["candidate", "reference"]
SourceUse = Literal["ignored", "optional", "required"]
Sources = Sequence[str] | None
Direction = Literal["higher", "lower"]
Aliases = Mapping[str, Mapping[str, str]]
VOID_NOTE = "nothing to compare (a text is empty or without weight), given the worst value"


@dataclass(frozen=True)
class Scale:
    """Direction and range of a metric's first component."""

    direction: Direction
    low: float
    high: float
    void: float  # of texts with nothing to compare: the worst value, finite in an unbounded range

    @property
    def sign(self) -> int:
        """+1 where higher is better, -1 where lower is."""
        return 1 if self.direction == "higher" else -1

    @property
    def best(self) -> float:
        """The score of identical texts."""
        return self.high if self.sign > 0 else self.low

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """The ends of the range, None if infinite."""
        low, high = (end if np.isfinite(end) else None for end in (self.low, self.high))
        return low, high

    @property
    def arrow(self) -> str:
        """↑ or ↓."""
        return "↑" if self.sign > 0 else "↓"

    @property
    def digits(self) -> int:
        """The decimals to show: 2 in a range such as 0 to 100, 4 in a range such as 0 to 1."""
        if np.isinf(self.high) and self.void == 1:  # a rate, such as of errors per word
            return 4
        return 2 if max(self.high, self.void) >= 100 or self.high - self.low > 1e3 else 4


def similarity(low: float = 0.0, high: float = 1.0) -> Scale:
    """Return a scale on which higher is better and void texts get ``low``."""
    return Scale("higher", low, high, void=low)


def distance(high: float, *, void: float | None = None) -> Scale:
    """Return a scale from 0 on which lower is better and void texts get ``void`` or ``high``."""
    return Scale("lower", 0.0, high, void=high if void is None else void)


@dataclass(frozen=True, eq=False)
class Rows:
    """One row of statistics per segment, and for every note the segments it applies to."""

    statistics: Floats
    notes: Mapping[str, Bools] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Alignment:
    """One aligned segment: its row of statistics, its best reference, and the plan with that."""

    rows: Rows
    reference: int
    plan: Plan
    plans: Sequence[Plan] = ()  # with all references that are not void
    offsets: Ints | None = None  # of the characters of each candidate token or n-gram


@dataclass(frozen=True)
class Metric(ABC):
    """Base class of metrics: frozen dataclasses whose fields are their options.

    A subclass defines ``scale`` and ``rows``; a metric that compares with one reference at a time
    extends ``PairMetric`` and defines ``compare``. Its module name is its name.
    """

    name: ClassVar[str]
    paper: ClassVar[str] = ""
    libraries: ClassVar[tuple[str, ...]] = ()
    requires: ClassVar[str] = ""
    """Requirements other than texts and a model, such as WordNet."""
    symmetric: ClassVar[bool] = False
    aliases: ClassVar[Aliases] = {}
    """Other names of the metric (lower case, no hyphens or underscores) and their options."""
    on_server: ClassVar[bool] = True
    isolated: ClassVar[bool] = False
    """Whether short texts can take seconds, so that servers compute it in a separate process."""
    more_references_never_hurt: ClassVar[bool] = False
    language_options: ClassVar[Mapping[str, Mapping[str, str | bool]]] = {}
    """Defaults by language code; ``other`` stands for all languages except English."""

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
    def title(self) -> str:
        """The name as papers write it, for the headings of tables."""
        return self.name

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the components; the first is the score."""
        return ("score",)

    @property
    def needs(self) -> Need:
        """The required input: texts by default."""
        return Need()

    @property
    def members(self) -> "tuple[Metric, ...]":
        """The metrics that it combines; its input is then a tuple of their inputs."""
        return ()

    @property
    def programs(self) -> tuple[str, ...]:
        """Commands that the metric or its members run."""
        return tuple(program for member in self.members for program in member.programs)

    def with_members(self, members: "Sequence[Metric]") -> Self:
        """Return the metric with its members bound or fitted."""
        return self

    def bind(self, card: ModelCard) -> Self:
        """Return the metric with options that depend on the model resolved."""
        return self

    def fit(self, references: Iterable[Sequence[str]]) -> Self:
        """Return the metric with corpus tables fitted on the references of each segment."""
        return self

    def pool(self, parts: Sequence[Self]) -> Self:
        """Return the metric with the pooled corpus tables of separately fitted parts."""
        return self

    @abstractmethod
    def rows(self, candidates: Sequence[Any], references: Sequence[Sequence[Any]]) -> Rows:
        """Return one row of statistics per segment, independent of the other segments."""

    @property
    def source_use(self) -> SourceUse:
        """Whether the metric or its members read source texts."""
        uses: tuple[SourceUse, ...] = ("required", "optional", "ignored")
        members = {member.source_use for member in self.members} | {"ignored"}
        return next(use for use in uses if use in members)

    @property
    def needs_references(self) -> bool:
        """Whether every row must have references."""
        return not self.members or any(member.needs_references for member in self.members)

    def rows_with_sources(
        self,
        candidates: Sequence[Any],
        references: Sequence[Sequence[Any]],
        sources: Sources,
    ) -> Rows:
        """Return ``rows``; metrics that read sources override it. ``sources`` may be None."""
        return self.rows(candidates, references)

    def finish(self, totals: Floats, counts: Floats) -> Floats:
        """Return the components of sums of rows: ``totals[b]`` is the sum of ``counts[b]`` rows."""
        return totals / counts[:, None]

    def finish_segments(self, statistics: Floats) -> Floats:
        """Return the components of every segment."""
        return self.finish(statistics, np.ones(len(statistics)))

    def details(self, totals: Floats) -> dict[str, float]:
        """Return counts and ratios from which the value of one sum of rows is computed."""
        return {}

    @property
    def span_thresholds(self) -> tuple[float, float] | None:
        """The thresholds of minor and major errors that are known for the bound metric."""
        return None

    def choose_thresholds(self, minor: float | None, major: float | None) -> tuple[float, float]:
        """Return the given thresholds of minor and major errors, or the known ones if None."""
        if minor is not None and major is not None:
            check_thresholds(minor, major)
            return minor, major
        if self.span_thresholds is None or (minor is None) != (major is None):
            given = minor is not None or major is not None
            what = "only one threshold is given" if given else "no thresholds are known"
            raise UsageError(
                f"{what} of errors by {self.label()}: give both, minor and major, or choose them "
                f"on annotated texts with nlgauge spans DATA -m {self.name}"
            )
        return self.span_thresholds

    def facts(self) -> dict[str, str]:
        """Return further keys of the signature, such as the digest of a table."""
        return {}

    def describe(self) -> dict[str, str]:
        """Return the options as text, in order; ``rebuild`` is the inverse."""
        return {name: format_value(getattr(self, name)) for name in options_of(type(self))}

    @classmethod
    def options_for(cls, language: str) -> dict[str, str | bool]:
        """Return the options to set for a language instead of the defaults."""
        code = language_code(language)
        if code == ENGLISH:
            return {}
        return {**cls.language_options.get("other", {}), **cls.language_options.get(code, {})}

    @classmethod
    def rebuild(cls, keys: Mapping[str, str]) -> Self:
        """Return the metric with the options in ``keys``; the inverse of ``describe``."""
        known = options_of(cls)
        texts = {key: text for key, text in keys.items() if key in known}
        return cls(**parse_options(cls, texts, name=cls.name))

    def changed_options(self) -> dict[str, str]:
        """Return the options that differ from their defaults, as text."""
        values = ((name, getattr(self, name), o) for name, o in options_of(type(self)).items())
        return {name: format_value(value) for name, value, o in values if value != o.default}

    def describe_shortly(self) -> dict[str, str]:
        """Return the keys of the short signature, which ``rebuild`` also accepts."""
        return self.changed_options()

    def label(self) -> str:
        """Return the name and the options that differ from their defaults."""
        changed = [f"{name}={value}" for name, value in self.changed_options().items()]
        return f"{self.name}:{','.join(changed)}" if changed else self.name


@dataclass(frozen=True)
class PairMetric(Metric):
    """A metric that compares with one reference at a time: ``prepare`` texts, ``compare`` pairs."""

    more_references_never_hurt: ClassVar[bool] = True

    over_references: str = option(
        "best",
        "Reduction over several references: the best with its components, or the mean.",
        choices=("best", "mean"),
    )

    @abstractmethod
    def compare(self, candidates: Sequence[Any], references: Sequence[Any]) -> Floats:
        """Return the components of the pairs ``candidates[i]``, ``references[i]``."""

    def prepare(self, item: Any, side: Side) -> Any | None:
        """Return the input of ``compare`` for one text; None if there is nothing to compare."""
        empty = item.void if isinstance(item, Cloud | Histogram) else not item.strip()
        return None if empty else item

    def align(self, candidate: Any, reference: Any) -> Plan:
        """Return the token alignment of two prepared texts."""
        raise UsageError(f"{self.name} does not match tokens, so it has no alignment to show")

    def compare_plans(
        self, candidates: Sequence[Any], references: Sequence[Any]
    ) -> tuple[Floats, list[Plan]]:
        """Return the components and the alignments of prepared pairs."""
        plans = [self.align(c, r) for c, r in zip(candidates, references, strict=True)]
        return self.compare(candidates, references), plans

    def token_costs(self, plan: Plan) -> Floats:
        """Return the mean cost of each candidate token's flows; NaN for a token without flow."""
        moved = plan.marginal_a
        total = (plan.coupling * plan.cost).sum(axis=1)
        return np.where(moved > 0, total / np.where(moved > 0, moved, 1.0), np.nan)

    def align_best(self, candidate: Any, references: Sequence[Any]) -> Alignment:
        """Return the alignment of a candidate with its best reference."""
        left = self.prepare(candidate, "candidate")
        rights = [self.prepare(reference, "reference") for reference in references]
        valid = [k for k, right in enumerate(rights) if left is not None and right is not None]
        if not valid:
            raise NothingToAlign(
                "there is nothing to align: a text is empty, has no weight, or has only words that "
                "the model does not know"
            )
        pairs = np.tile(np.array(self.void_row, float), (len(rights), 1))
        pairs[valid], plans = self.compare_plans([left] * len(valid), [rights[k] for k in valid])
        best = int(np.argmax(self.scale.sign * pairs[valid, 0]))
        rows = Rows(self._reduce(pairs)[None], {VOID_NOTE: np.array([len(valid) < len(rights)])})
        return Alignment(rows, valid[best], plans[best], plans, getattr(left, "offsets", None))

    @property
    def void_row(self) -> tuple[float, ...]:
        """The components of a pair with a void text."""
        return (self.scale.void,) * len(self.components)

    def rows(self, candidates: Sequence[Any], references: Sequence[Sequence[Any]]) -> Rows:
        """Return the best (or mean) comparison of every candidate over its references."""
        owners = [i for i, group in enumerate(references) for _ in group]
        left = self._prepare_once([candidates[i] for i in owners], "candidate")
        right = self._prepare_once([text for group in references for text in group], "reference")
        valid = [k for k in range(len(owners)) if left[k] is not None and right[k] is not None]
        pairs = np.tile(np.array(self.void_row, float), (len(owners), 1))
        if valid:
            pairs[valid] = self._compare_all([left[k] for k in valid], [right[k] for k in valid])
        void = np.zeros(len(candidates), dtype=bool)
        void[np.delete(owners, valid)] = True
        bounds = np.cumsum([0, *map(len, references)])
        statistics = [self._reduce(pairs[start:stop]) for start, stop in pairwise(bounds)]
        return Rows(np.stack(statistics), {VOID_NOTE: void})

    def _prepare_once(self, items: Sequence[Any], side: Side) -> list[Any | None]:
        # Equal texts are the same object, so they can be compared by id without hashing clouds.
        distinct = list({id(item): item for item in items}.values())
        prepared = zip(distinct, self._prepare_all(distinct, side), strict=True)
        by_id = {id(item): result for item, result in prepared}
        return [by_id[id(item)] for item in items]

    def _prepare_all(self, items: Sequence[Any], side: Side) -> list[Any | None]:
        return [self.prepare(item, side) for item in items]

    def _compare_all(self, candidates: Sequence[Any], references: Sequence[Any]) -> Floats:
        return self.compare(candidates, references)

    def _reduce(self, pairs: Floats) -> Floats:
        if self.over_references == "mean":
            return np.asarray(pairs.mean(axis=0))
        return np.asarray(pairs[np.argmax(self.scale.sign * pairs[:, 0])])
