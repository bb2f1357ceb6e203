"""Judged: a corpus with what people said about its rows, the meeting point of all readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import isinf, nan
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, FileError, OptionError, ShapeError

Array = NDArray[np.float64]

NOT_JUDGED = frozenset({"", "nan", "na", "n/a", "none", "null"})
"""How tables write that nobody judged a cell (in any case of letters)."""

PEOPLE = "human:"
"""Before the name of a criterion that is to be studied like a metric's scores."""


@dataclass(frozen=True)
class Row:
    """One output of one system on one segment, as a reader hands it over."""

    system: str
    segment: str
    candidate: str
    references: tuple[str, ...]
    human: Mapping[str, float]
    source: str | None = None
    stored: Mapping[str, float] = field(default_factory=dict)
    name: str | None = None
    """What the data calls this row, where it has a name beside system and segment."""


@dataclass(frozen=True, eq=False)
class Judged:
    """A corpus with human scores per row and criterion; NaN = not judged.

    `stored` holds the scores of metrics that came with the data, per row. `said` are sentences on
    what was read and what was dropped. `names` are the rows' own, where all of them have one.
    """

    corpus: Corpus
    human: Mapping[str, Array]
    said: tuple[str, ...]
    stored: Mapping[str, Array] = field(default_factory=dict)
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not self.human:
            raise DataError(f"the {len(self.corpus)} rows carry no human scores: 0 criteria.")
        object.__setattr__(self, "human", _frozen("criterion", self.human, len(self.corpus)))
        object.__setattr__(self, "stored", _frozen("metric", self.stored, len(self.corpus)))

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[Row],
        *,
        dropped: Mapping[str, int] | None = None,
        notes: Sequence[str] = (),
    ) -> Judged:
        """The judged corpus of these rows; `dropped` says why how many others were left out."""
        if not rows:
            raise DataError(f"there are no judged rows; {_dropped(dropped or {})}.")
        sources = [row.source for row in rows if row.source is not None]
        corpus = Corpus.of(
            [row.candidate for row in rows],
            [row.references for row in rows],
            systems=[row.system for row in rows],
            ids=[row.segment for row in rows],
            sources=sources if len(sources) == len(rows) else None,
        )
        human = _columns([row.human for row in rows])
        said = [_summary(corpus, human, dropped or {}), *_gaps(human), *notes]
        names = tuple(row.name for row in rows if row.name is not None)
        return cls(
            *(corpus, human, tuple(said), _columns([row.stored for row in rows])),
            names if len(names) == len(rows) else None,
        )

    def __len__(self) -> int:
        return len(self.corpus)

    @property
    def criteria(self) -> tuple[str, ...]:
        """What was judged, in order of first appearance."""
        return tuple(self.human)

    def rows(self) -> Iterator[tuple[str, str, dict[str, float]]]:
        """Rows (system, segment id, {criterion: value}), as `study.Judgements.from_rows` asks."""
        for i, key in enumerate(zip(self.corpus.systems, self.corpus.ids, strict=True)):
            yield *key, {name: float(values[i]) for name, values in self.human.items()}

    def stored_rows(self, metric: str) -> Iterator[tuple[str, str, float]]:
        """Rows (system, segment id, score) of a stored metric, as `study.Measured.from_rows` asks.

        Rows the metric has no score for are left out. `human:<criterion>` gives a criterion, to be
        held against another.
        """
        people = {PEOPLE + name: values for name, values in self.human.items()}
        scores = {**self.stored, **people}
        if metric not in scores:
            listed = ", ".join(scores)
            raise OptionError(f"no scores of {metric!r} came with the data; there are: {listed}.")
        cells = zip(self.corpus.systems, self.corpus.ids, scores[metric], strict=True)
        for system, segment, score in cells:
            if not np.isnan(score):
                yield system, segment, float(score)

    def without(self, *systems: str) -> Judged:
        """The same without these systems (a human reference among them, say).

        A name may be a pattern: `abs/*` leaves out all systems whose names start with `abs/`.
        """
        names = self.corpus.system_names
        gone: set[str] = set()
        for wanted in systems:
            found = {wanted} & set(names) or {name for name in names if fnmatchcase(name, wanted)}
            if not found:
                raise OptionError(
                    f"no system is called {wanted!r}; the {len(names)} are: {', '.join(names)}."
                )
            gone |= found
        keep = [i for i, name in enumerate(self.corpus.systems) if name not in gone]
        if not keep:
            raise DataError(f"leaving out all {len(names)} systems leaves no row.")
        note = f"left out {_count(len(gone), 'system')} ({', '.join(systems)})"
        return self.take(keep, f"{note}: {len(self) - len(keep)} rows.")

    def take(self, keep: Sequence[int], note: str) -> Judged:
        """These rows only; the note says why."""
        return Judged(
            _take(self.corpus, keep),
            {name: values[list(keep)] for name, values in self.human.items()},
            (*self.said, note),
            {name: values[list(keep)] for name, values in self.stored.items()},
            None if self.names is None else tuple(self.names[i] for i in keep),
        )

    def with_stored(self, scores: Mapping[str, Array], note: str) -> Judged:
        """The same with more scores of metrics; a name that is already there is refused."""
        for name in scores:
            if name in self.stored:
                raise DataError(f"scores of {name!r} came with the data already; rename one.")
        return Judged(
            *(self.corpus, self.human, (*self.said, note), {**self.stored, **scores}, self.names)
        )


def number(value: Any, where: str) -> float:
    """A score as a float, NaN for None, '' and the other marks of "not judged"."""
    if value is None or (isinstance(value, str) and value.strip().lower() in NOT_JUDGED):
        return nan
    try:
        if isinstance(value, bool) or (isinstance(value, str) and "_" in value):
            raise TypeError  # float() would take True for 1 and "1_5" for 15
        score = float(value)
    except (TypeError, ValueError, OverflowError):
        raise FileError(
            f"{where} is {value!r:.60}, which is not a number; leave it empty if it was not judged"
        ) from None
    if isinf(score):
        raise FileError(f"{where} is infinite; leave it empty if it was not judged")
    return score


def choose_part(path: object, parts: Sequence[str], part: str | None, what: str) -> str:
    """The part (language pair, data set) to read: the one asked for, or the only one."""
    if part is None and len(parts) == 1:
        return parts[0]
    if part in parts:
        return str(part)
    listed = ", ".join(parts) or "none"
    if part is None:
        raise OptionError(
            f"{path} holds {_count(len(parts), what)} ({listed}); choose one, for example with "
            f"part={parts[0] if parts else what!r}"
        )
    raise OptionError(f"{path} holds no {what} {part!r}; it holds: {listed}")


def _count(amount: int, noun: str) -> str:
    plural = {"criterion": "criteria"}.get(noun, f"{noun}s")
    return f"{amount:,} {noun if amount == 1 else plural}"


def _dropped(reasons: Mapping[str, int]) -> str:
    counted = [f"{amount:,} {why}" for why, amount in reasons.items() if amount]
    total = sum(reasons.values())
    return f"dropped {total:,}" + (f": {', '.join(counted)}" if counted else "")


def _summary(corpus: Corpus, human: Mapping[str, Array], reasons: Mapping[str, int]) -> str:
    counts = (
        _count(len(corpus), "row"),
        _count(len(corpus.system_names), "system"),
        _count(len(set(corpus.ids)), "segment"),
        _count(len(human), "criterion"),
    )
    return f"{', '.join(counts)} ({', '.join(human)}); {_dropped(reasons)}."


def _gaps(human: Mapping[str, Array]) -> Iterator[str]:
    for name, values in human.items():
        missing = int(np.isnan(values).sum())
        if missing:
            yield f"{missing:,} of {len(values):,} rows have no judgement of {name!r}."


def _columns(cells: Sequence[Mapping[str, float]]) -> dict[str, Array]:
    names = dict.fromkeys(name for row in cells for name in row)
    return {name: np.array([row.get(name, nan) for row in cells], float) for name in names}


def _frozen(what: str, columns: Mapping[str, Array], rows: int) -> Mapping[str, Array]:
    copies = {}
    for name, values in columns.items():
        copy = np.array(values, dtype=np.float64)
        if copy.shape != (rows,):
            raise ShapeError(
                f"{what} {name!r} has shape {copy.shape}, but there are {rows} rows; "
                "give one number per row, NaN where there is none"
            )
        copy.setflags(write=False)
        copies[name] = copy
    return MappingProxyType(copies)


def _take(corpus: Corpus, keep: Sequence[int]) -> Corpus:
    return Corpus.of(
        [corpus.candidates[i] for i in keep],
        [corpus.references[i] for i in keep],
        systems=[corpus.systems[i] for i in keep],
        ids=[corpus.ids[i] for i in keep],
        sources=None if corpus.sources is None else [corpus.sources[i] for i in keep],
    )
