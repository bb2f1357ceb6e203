"""Corpus: candidates with their references, validated."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set, Sized
from dataclasses import dataclass
from itertools import count
from typing import Any

from nlgauge.core.errors import DataError, ShapeError

DEFAULT_SYSTEM = "candidates"
References = Sequence[str | Sequence[str | None]]
"""For every segment, its reference, or a list of references in which None is a gap."""


@dataclass(frozen=True)
class Corpus:
    """Rows of (candidate, its references), each of one system and one segment.

    References are per segment: ``references[i]`` are those of ``candidates[i]``. ``ids`` name
    segments; rows of several systems on the same segment share its id. ``sources`` are the input
    texts of the candidates, None for rows without one. A row with a source may have no reference,
    for metrics that need none.
    """

    candidates: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    systems: tuple[str, ...]
    ids: tuple[str, ...]
    sources: tuple[str | None, ...] | None = None

    @classmethod
    def of(
        cls,
        candidates: Sequence[str],
        references: References | None,
        *,
        sources: Sequence[str | None] | None = None,
        systems: Sequence[str] | None = None,
        ids: Sequence[str] | None = None,
    ) -> "Corpus":
        """Return a validated corpus of these rows."""
        texts = _strings("candidates", candidates, hint="; use '' for a segment without output")
        if not texts:
            raise ShapeError("there is nothing to score: the list of candidates is empty")
        checked = _sources(sources, len(texts))
        grouped = _references(references, checked or (None,) * len(texts))
        named = _column("systems", systems, len(texts)) or (DEFAULT_SYSTEM,) * len(texts)
        identified = _column("ids", ids, len(texts)) or _count_within(named)
        refuse_duplicates(named, identified)
        return cls(texts, grouped, named, identified, checked)

    @classmethod
    def of_systems(
        cls,
        systems: Mapping[str, Sequence[str]],
        references: References | None,
        *,
        sources: Sequence[str | None] | None = None,
    ) -> "Corpus":
        """Return the corpus of several systems on the same segments."""
        # Each may be an iterator, which can be read only once.
        groups = None if references is None else [*map(_reread, _list("references", references))]
        inputs = None if sources is None else _list("sources", sources)
        texts = {name: _list("candidates", each) for name, each in systems.items()}
        return cls.join(
            [
                cls.of(each, groups, systems=[name] * len(each), sources=inputs)
                for name, each in texts.items()
            ]
        )

    @classmethod
    def join(cls, parts: "Sequence[Corpus]") -> "Corpus":
        """Return the concatenation of corpora."""
        if len(parts) == 1:
            return parts[0]
        sources = [text for part in parts for text in part.sources or (None,) * len(part)]
        return cls.of(
            [text for part in parts for text in part.candidates],
            [texts for part in parts for texts in part.references],
            systems=[name for part in parts for name in part.systems],
            ids=[name for part in parts for name in part.ids],
            sources=sources,
        )

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def system_names(self) -> tuple[str, ...]:
        """The systems in order of first appearance."""
        return tuple(dict.fromkeys(self.systems))

    def rows_of(self, system: str) -> tuple[int, ...]:
        """Return the row numbers of one system, in order."""
        return tuple(i for i, name in enumerate(self.systems) if name == system)

    def rows(self) -> Iterator[tuple[str, tuple[str, ...], str, str, str | None]]:
        """Return the candidate, references, system, id and source of every row."""
        sources = self.sources or (None,) * len(self)
        columns = self.candidates, self.references, self.systems, self.ids, sources
        return zip(*columns, strict=True)

    @classmethod
    def from_rows(
        cls, rows: "Iterable[tuple[str, tuple[str, ...], str, str, str | None]]"
    ) -> "Corpus":
        """Return the corpus of rows from other corpora, without validating them again."""
        candidates, references, systems, ids, sources = zip(*rows, strict=True)
        return cls(candidates, references, systems, ids, _if_any(sources))

    def ids_of(self, system: str) -> tuple[str, ...]:
        """Return the segment ids of one system, in order."""
        return tuple(self.ids[row] for row in self.rows_of(system))

    def by_segment(self) -> tuple[int, ...]:
        """Return all row numbers; rows of a segment, and segments of equal references, adjoin."""
        groups: dict[tuple[str, ...], int] = {}
        order: dict[str, tuple[int, int]] = {}
        for name, references in zip(self.ids, self.references, strict=True):
            if name not in order:
                order[name] = groups.setdefault(references, len(groups)), len(order)
        return tuple(sorted(range(len(self)), key=lambda i: order[self.ids[i]]))

    def segment_references(self) -> Iterator[tuple[str, ...]]:
        """Yield the references of every distinct pair of segment id and references."""
        for _, texts in dict.fromkeys(zip(self.ids, self.references, strict=True)):
            yield texts

    def reference_count(self) -> str:
        """Return the number of references per segment, or ``var`` if it varies."""
        counts = {len(texts) for texts in self.references}
        return str(counts.pop()) if len(counts) == 1 else "var"


def _list(name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """Return the values; raise an error if they are not a list, or in no order."""
    if isinstance(values, Mapping):
        raise ShapeError(
            f"{name} is a mapping ({', '.join(map(repr, values))[:60]}), not a list of texts; to "
            "score several systems, pass {system: [text, ...]} to nlgauge.score_systems"
        )
    if isinstance(values, str):
        raise ShapeError(
            f"{name} is one str of {len(values)} characters; pass a list of texts, one per "
            f"segment: [{values[:20]!r}{'...' if len(values) > 20 else ''}]"
        )
    kind = type(values).__name__
    if isinstance(values, Set):
        raise ShapeError(f"{name} is a {kind}, which has no order; pass a list, one per segment")
    if hasattr(values, "columns"):
        raise ShapeError(
            f"{name} is a {kind}; pass a column, or call nlgauge.adapters.frames.score_frame"
        )
    if not isinstance(values, Iterable) or getattr(values, "shape", None) == ():
        raise ShapeError(f"{name} is {values!r:.60} of type {kind}, not a list of texts")
    return tuple(values)


def _reread(group: Any) -> Any:
    """Return a group of references that can be read several times."""
    return tuple(group) if isinstance(group, Iterator) else group


def _strings(name: str, texts: Iterable[str], *, hint: str = "") -> tuple[str, ...]:
    rows = _list(name, texts)
    for i, text in enumerate(rows):
        _check_text(f"{name}[{i}]", text, hint=hint)
    return rows


def _check_text(name: str, text: object, *, hint: str = "") -> None:
    """Raise DataError for other types and for lone surrogates, which cannot be encoded."""
    if not isinstance(text, str):
        kind = type(text).__name__
        raise DataError(f"{name} is {text!r:.60} of type {kind}, not a text{hint}")
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{name} contains half a character (the lone surrogate "
            f"U+{ord(text[error.start]):04X} at position {error.start}); decode the text as UTF-8, "
            "or replace the surrogate: "
            "text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
        ) from None


def _references(
    references: References | None, sources: tuple[str | None, ...]
) -> tuple[tuple[str, ...], ...]:
    rows = len(sources)
    if references is None:
        references = [()] * rows
    if isinstance(references, str):
        raise ShapeError(
            f"references is one str of {len(references)} characters; pass a list with one text "
            f"(or one list of texts) for each of the {rows} candidates"
        )
    groups = _list("references", references)
    if len(groups) != rows:
        message = f"{rows} candidates but {len(groups)} references; there must be one entry each"
        lists = (
            group for group in groups if isinstance(group, Sized) and not isinstance(group, str)
        )
        if {len(group) for group in lists} == {rows}:
            message += (
                f". The references look transposed ({len(groups)} lists of {rows} texts): "
                "references[i] is the list of all references of candidates[i]; "
                "transpose them with list(zip(*references))"
            )
        raise ShapeError(message)
    numbered = enumerate(zip(groups, sources, strict=True))
    return tuple(
        _reference_group(f"references[{i}]", group, optional=source is not None)
        for i, (group, source) in numbered
    )


def _reference_group(
    name: str, group: str | Sequence[str | None] | None, *, optional: bool
) -> tuple[str, ...]:
    if isinstance(group, str):
        _check_text(name, group)
        return (group,)
    if not isinstance(group, Iterable) or isinstance(group, bytes | Mapping):
        raise DataError(f"{name} is {group!r:.60}, not a text or a list of texts")
    listed = tuple(group)
    texts = tuple(text for text in listed if text is not None)  # gaps in a ragged set
    if not texts and not optional:
        raise DataError(
            f"{name} has no reference; every segment needs at least one, or a source for metrics "
            "that need no reference"
        )
    for j, text in enumerate(listed):
        if text is not None:
            _check_text(f"{name}[{j}]", text)
    return texts


def _column(name: str, values: Sequence[str] | None, rows: int) -> tuple[str, ...] | None:
    if values is None:
        return None
    column = _strings(name, values)
    if len(column) != rows:
        raise ShapeError(f"{rows} candidates but {len(column)} {name}; there must be one each")
    return column


def _sources(sources: Sequence[str | None] | None, rows: int) -> tuple[str | None, ...] | None:
    """The sources, which may have gaps; None if no row has one."""
    if sources is None:
        return None
    column = _list("sources", sources)
    if len(column) != rows:
        raise ShapeError(f"{rows} candidates but {len(column)} sources; there must be one each")
    for i, text in enumerate(column):
        if text is not None:
            _check_text(f"sources[{i}]", text, hint="; use None for a segment without a source")
    return _if_any(column)


def _if_any(column: tuple[str | None, ...]) -> tuple[str | None, ...] | None:
    return None if all(text is None for text in column) else column


def _count_within(systems: tuple[str, ...]) -> tuple[str, ...]:
    """Return segment ids by position: the i-th row of every system is segment i."""
    counters: dict[str, count[int]] = defaultdict(count)
    return tuple(str(next(counters[name])) for name in systems)


def refuse_duplicates(systems: Sequence[str], ids: Sequence[str]) -> None:
    """Raise DataError if a segment id occurs twice in a system."""
    counts = Counter(zip(systems, ids, strict=True))
    (system, name), most = counts.most_common(1)[0]
    if most > 1:
        doubled = sum(count > 1 for count in counts.values())
        others = f" ({doubled} ids are repeated)" if doubled > 1 else ""
        raise DataError(
            f"segment id {name!r} occurs {most} times for system {system!r}{others}; "
            "ids must be unique within a system"
        )
