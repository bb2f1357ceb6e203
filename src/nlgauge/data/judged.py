"""JudgedCorpus: a corpus with human scores, which all readers of judgements return."""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import inf, isinf, nan
from types import MappingProxyType
from typing import Any

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, FileError, OptionError, ShapeError
from nlgauge.core.spans import Span, check_spans

HUMAN_PREFIX = "human:"  # prefix of a criterion that is treated like the scores of a metric
_NOT_JUDGED = {"", "nan", "na", "n/a", "none", "null"}


@dataclass(frozen=True)
class JudgedRow:
    """One output of one system for one segment."""

    system: str
    segment: str
    candidate: str
    references: tuple[str, ...]
    human: Mapping[str, float]
    source: str | None = None
    stored: Mapping[str, float] = field(default_factory=dict)
    name: str | None = None  # its own id in the data, besides system and segment
    spans: tuple[Span, ...] | None = None  # annotated errors; None if not annotated
    document: str | None = None  # that the segment is a part of


@dataclass(frozen=True, eq=False)
class JudgedCorpus:
    """A corpus with human scores of its rows.

    Parameters
    ----------
    corpus
        The texts.
    human
        Human scores by criterion, one per row; NaN where a row was not judged.
    notes
        Sentences about what was read and dropped.
    stored
        Metric scores stored with the data, one per row.
    names
        Ids of the rows, if all of them have one.
    spans
        The annotated errors of each candidate, if all have been annotated.
    documents
        The documents of the rows' segments, if all of them have one.

    Raises
    ------
    DataError
        If there is no criterion, a column differs in length from the corpus (ShapeError), or a span
        is not within its text.
    """

    corpus: Corpus
    human: Mapping[str, Floats]
    notes: tuple[str, ...]
    stored: Mapping[str, Floats] = field(default_factory=dict)
    names: tuple[str, ...] | None = None
    spans: tuple[tuple[Span, ...], ...] | None = None
    documents: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not self.human:
            raise DataError(f"the {len(self.corpus)} rows have no human scores: 0 criteria.")
        object.__setattr__(self, "human", _frozen("criterion", self.human, len(self.corpus)))
        object.__setattr__(self, "stored", _frozen("metric", self.stored, len(self.corpus)))
        if self.spans is not None:
            _check_spans(self.corpus, self.spans)

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[JudgedRow],
        *,
        dropped: Mapping[str, int] | None = None,
        notes: Sequence[str] = (),
    ) -> "JudgedCorpus":
        """Return the corpus of these rows; ``dropped`` counts rows left out, by reason."""
        reasons = {why: amount for why, amount in (dropped or {}).items() if amount}
        counted = ", ".join(f"{amount:,} {why}" for why, amount in reasons.items())
        left_out = f"; dropped {sum(reasons.values()):,}: {counted}" if counted else ""
        if not rows:
            raise DataError(f"there are no judged rows{left_out}.")
        corpus = Corpus.of(
            [row.candidate for row in rows],
            [row.references for row in rows],
            systems=[row.system for row in rows],
            ids=[row.segment for row in rows],
            sources=[row.source for row in rows],
        )
        human = to_columns([row.human for row in rows])
        sizes = {"system": len(corpus.system_names), "segment": len(set(corpus.ids))}
        counts = [_count(amount, noun) for noun, amount in {"row": len(corpus), **sizes}.items()]
        criteria = f"{_count(len(human), 'criterion', 'criteria')} ({', '.join(human)})"
        summary = f"{', '.join((*counts, criteria))}{left_out}."
        gaps = [
            f"{missing:,} of {len(rows):,} rows have no judgement of {name!r}."
            for name, values in human.items()
            if (missing := int(np.isnan(values).sum()))
        ]
        names = tuple(row.name for row in rows if row.name is not None)
        documents = tuple(row.document for row in rows if row.document is not None)
        annotated = tuple(row.spans for row in rows if row.spans is not None)
        unmarked = len(rows) - len(annotated)
        if annotated and unmarked:
            share = f"{unmarked:,} of {len(rows):,} rows have no spans"
            gaps.append(f"{share}, so that none are used; write [] for a text without errors.")
        return cls(
            corpus,
            human,
            (summary, *gaps, *notes),
            to_columns([row.stored for row in rows]),
            names if len(names) == len(rows) else None,
            spans=None if unmarked else annotated,
            documents=documents if len(documents) == len(rows) else None,
        )

    def __len__(self) -> int:
        return len(self.corpus)

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria, in order of first appearance."""
        return tuple(self.human)

    def rows(self) -> Iterator[tuple[str, str, dict[str, float]]]:
        """Yield (system, segment id, {criterion: value}), for `Judgements.from_rows`."""
        for i, key in enumerate(zip(self.corpus.systems, self.corpus.ids, strict=True)):
            yield *key, {name: float(values[i]) for name, values in self.human.items()}

    def stored_rows(self, metric: str) -> Iterator[tuple[str, str, float]]:
        """Yield (system, segment id, score) of a stored metric or `human:<criterion>`, if any."""
        criteria = {HUMAN_PREFIX + name: values for name, values in self.human.items()}
        scores = {**self.stored, **criteria}
        if metric not in scores:
            listed = ", ".join(scores)
            raise OptionError(f"no scores of {metric!r} came with the data; there are: {listed}.")
        for i in np.flatnonzero(~np.isnan(scores[metric])):
            yield self.corpus.systems[i], self.corpus.ids[i], float(scores[metric][i])

    def without(self, *systems: str) -> "JudgedCorpus":
        """Return the corpus without these systems; patterns such as `abs/*` are allowed."""
        names = self.corpus.system_names
        count, listed = len(names), ", ".join(names)
        gone: set[str] = set()
        for wanted in systems:
            matching = {wanted} & set(names) or {
                name for name in names if fnmatchcase(name, wanted)
            }
            if not matching:
                raise OptionError(f"no system is called {wanted!r}; the {count} are: {listed}.")
            gone |= matching
        keep = [i for i, name in enumerate(self.corpus.systems) if name not in gone]
        if not keep:
            raise DataError(f"leaving out all {count} systems leaves no row.")
        note = f"left out {_count(len(gone), 'system')} ({', '.join(systems)})"
        return self.take(keep, f"{note}: {len(self) - len(keep)} rows.")

    def take(self, rows: Sequence[int], note: str) -> "JudgedCorpus":
        """Return these rows, with the reason as a note."""
        indices, columns = list(rows), vars(self.corpus).items()
        kept = {name: column and [column[i] for i in indices] for name, column in columns}
        return JudgedCorpus(
            Corpus.of(**kept),
            {name: values[indices] for name, values in self.human.items()},
            (*self.notes, note),
            {name: values[indices] for name, values in self.stored.items()},
            self.names and tuple(self.names[i] for i in indices),
            spans=self.spans and tuple(self.spans[i] for i in indices),
            documents=self.documents and tuple(self.documents[i] for i in indices),
        )

    def with_stored(self, scores: Mapping[str, Floats], note: str) -> "JudgedCorpus":
        """Return the corpus with more metric scores; their names must be new."""
        for name in scores:
            if name in self.stored:
                raise DataError(f"scores of {name!r} came with the data already; rename one.")
        stored = {**self.stored, **scores}
        return dataclasses.replace(self, notes=(*self.notes, note), stored=stored)


def parse_score(value: Any, where: str) -> float:
    """Return a score as a float, NaN for None, '' and the other marks of a missing judgement."""
    if value is None or (isinstance(value, str) and value.strip().lower() in _NOT_JUDGED):
        return nan
    unusual = isinstance(value, bool) or (isinstance(value, str) and "_" in value)
    try:
        score = inf if unusual else float(value)  # float() would read True as 1 and "1_5" as 15
    except (TypeError, ValueError, OverflowError):
        score = inf
    if isinf(score):
        reason = f"{value!r:.60}, which is not a number or is infinite"
        raise FileError(f"{where} is {reason}; leave it empty if it was not judged")
    return score


def parse_scores(cells: Mapping[Any, Any], names: Iterable[Any], where: str) -> dict[str, float]:
    """Return the scores in the named cells that exist."""
    present = (name for name in names if name in cells)
    return {str(name): parse_score(cells[name], f"{where}: {name}") for name in present}


def choose_part(path: object, parts: Iterable[str], part: str | None, what: str) -> str:
    """Return the part (language pair, data set) to read: the one named, or the only one."""
    names = list(parts)
    chosen = names[0] if part is None and len(names) == 1 else part
    if chosen in names:
        return str(chosen)
    listed = ", ".join(names) or "none"
    if part is not None:
        raise OptionError(f"{path} has no {what} {part!r}; it has: {listed}")
    held, one = _count(len(names), what), names[0] if names else repr(what)
    raise OptionError(f"{path} has {held} ({listed}); choose one, for example with part={one}")


def choose_references(given: str, known: Collection[str], where: str) -> list[str]:
    """Return the references that are named, separated by commas."""
    names = [name.strip() for name in given.split(",")]
    for name in names:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise OptionError(f"there is no reference {name!r} {where}; there are: {listed}")
    return names


def to_columns(rows: Sequence[Mapping[str, float]]) -> dict[str, Floats]:
    """Return a column per name, with NaN for rows without it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: np.array([row.get(name, nan) for row in rows], float) for name in names}


def _check_spans(corpus: Corpus, spans: Sequence[Sequence[Span]]) -> None:
    if len(spans) != len(corpus):
        raise ShapeError(f"there are spans of {len(spans)} rows, but {len(corpus)} rows.")
    for row, (text, each) in enumerate(zip(corpus.candidates, spans, strict=True)):
        where = f"segment {corpus.ids[row]!r} of {corpus.systems[row]!r}"
        check_spans(each, len(text), where)


def _count(amount: int, noun: str, plural: str | None = None) -> str:
    return f"{amount:,} {noun if amount == 1 else plural or noun + 's'}"


def _frozen(what: str, columns: Mapping[str, Floats], rows: int) -> Mapping[str, Floats]:
    copies = {name: np.array(values, dtype=np.float64) for name, values in columns.items()}
    for name, copy in copies.items():
        copy.setflags(write=False)
        if copy.shape != (rows,):
            raise ShapeError(
                f"{what} {name!r} has shape {copy.shape}, but there are {rows} rows; "
                "give one number per row, NaN where there is none"
            )
    return MappingProxyType(copies)
