"""Corpus: candidates with their references, validated."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nlgauge.core.errors import DataError, ShapeError

DEFAULT_SYSTEM = "candidates"


@dataclass(frozen=True)
class Corpus:
    """Rows of (candidate, its references), each of one system and one segment.

    References are per segment: ``references[i]`` are those of ``candidates[i]``. ``ids`` name
    segments; rows of several systems on the same segment share its id.
    """

    candidates: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    systems: tuple[str, ...]
    ids: tuple[str, ...]
    sources: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        candidates: Sequence[str],
        references: Sequence[str | Sequence[str | None]],
        *,
        sources: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        ids: Sequence[str] | None = None,
    ) -> "Corpus":
        """Return a validated corpus of these rows."""
        texts = _strings("candidates", candidates)
        if not texts:
            raise ShapeError("there is nothing to score: the list of candidates is empty")
        grouped = _references(references, len(texts))
        named = _column("systems", systems, len(texts)) or (DEFAULT_SYSTEM,) * len(texts)
        identified = _column("ids", ids, len(texts)) or _count_within(named)
        _refuse_duplicates(named, identified)
        return cls(texts, grouped, named, identified, _column("sources", sources, len(texts)))

    @classmethod
    def join(cls, parts: "Sequence[Corpus]") -> "Corpus":
        """Return the concatenation of corpora; sources are kept if every part has them."""
        if len(parts) == 1:
            return parts[0]
        with_sources = all(part.sources is not None for part in parts)
        return cls.of(
            [text for part in parts for text in part.candidates],
            [texts for part in parts for texts in part.references],
            systems=[name for part in parts for name in part.systems],
            ids=[name for part in parts for name in part.ids],
            sources=[text for part in parts for text in part.sources or ()]
            if with_sources
            else None,
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

    def by_segment(self) -> tuple[int, ...]:
        """Return all row numbers, with the rows of a segment adjacent."""
        first: dict[str, int] = {}
        for i, name in enumerate(self.ids):
            first.setdefault(name, i)
        return tuple(sorted(range(len(self)), key=lambda i: first[self.ids[i]]))

    def segment_references(self) -> Iterator[tuple[str, ...]]:
        """Yield the references of every segment once, however many systems answered it.

        Tables fitted on these (idf, n-gram information) do not depend on the number of systems.
        Rows that share an id but not their references count as different segments.
        """
        seen = set()
        for name, texts in zip(self.ids, self.references, strict=True):
            if (name, texts) not in seen:
                seen.add((name, texts))
                yield texts

    def reference_count(self) -> str:
        """Return the number of references per segment, or ``var`` if it varies."""
        counts = {len(texts) for texts in self.references}
        return str(counts.pop()) if len(counts) == 1 else "var"


def _strings(name: str, texts: Sequence[str]) -> tuple[str, ...]:
    if isinstance(texts, str):
        raise ShapeError(
            f"{name} is one str of {len(texts)} characters; pass a list of texts, one per segment: "
            f"[{texts[:20]!r}{'...' if len(texts) > 20 else ''}]"
        )
    rows = tuple(texts)
    for i, text in enumerate(rows):
        if not isinstance(text, str):
            raise DataError(
                f"{name}[{i}] is {text!r:.60} of type {type(text).__name__}, not a text; "
                f"use '' for a segment without output"
            )
        _refuse_half_characters(f"{name}[{i}]", text)
    return rows


def _refuse_half_characters(name: str, text: str) -> None:
    """Raise DataError for lone surrogates, on which tokenizers, files and JSON readers fail."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{name} holds half a character (the lone surrogate U+{ord(text[error.start]):04X} at "
            f"position {error.start}); decode the text as UTF-8, or replace it: "
            "text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
        ) from None


def _references(
    references: Sequence[str | Sequence[str | None]], rows: int
) -> tuple[tuple[str, ...], ...]:
    if isinstance(references, str):
        raise ShapeError(
            f"references is one str of {len(references)} characters; pass a list with one text "
            f"(or one list of texts) for each of the {rows} candidates"
        )
    listed = list(references)
    if len(listed) != rows:
        raise ShapeError(_length_message(listed, rows))
    return tuple(_reference_group(i, group) for i, group in enumerate(listed))


def _length_message(references: list[str | Sequence[str | None]], rows: int) -> str:
    message = f"{rows} candidates but {len(references)} references; there must be one entry each"
    inner = {len(group) for group in references if not isinstance(group, str | None.__class__)}
    if inner == {rows}:
        message += (
            f". The references look transposed ({len(references)} lists of {rows} texts): "
            "references[i] holds all the references of candidates[i]; "
            "transpose them with list(zip(*references))"
        )
    return message


def _reference_group(i: int, group: str | Sequence[str | None] | None) -> tuple[str, ...]:
    if isinstance(group, str):
        _refuse_half_characters(f"references[{i}]", group)
        return (group,)
    if group is None or isinstance(group, bytes | int | float | Mapping):
        raise DataError(f"references[{i}] is {group!r}, not a text or a list of texts")
    texts = []
    for j, text in enumerate(group):
        if text is None:  # a gap in a ragged set of references
            continue
        if not isinstance(text, str):
            raise DataError(
                f"references[{i}][{j}] is {text!r:.60} of type {type(text).__name__}, not a text"
            )
        _refuse_half_characters(f"references[{i}][{j}]", text)
        texts.append(text)
    if not texts:
        raise DataError(f"references[{i}] holds no reference; every segment needs at least one")
    return tuple(texts)


def _column(name: str, values: Sequence[str] | None, rows: int) -> tuple[str, ...] | None:
    if values is None:
        return None
    column = _strings(name, values)
    if len(column) != rows:
        raise ShapeError(f"{rows} candidates but {len(column)} {name}; there must be one each")
    return column


def _count_within(systems: tuple[str, ...]) -> tuple[str, ...]:
    """Return segment ids by position: the i-th row of every system is segment i."""
    counts: Counter[str] = Counter()
    ids = []
    for name in systems:
        ids.append(str(counts[name]))
        counts[name] += 1
    return tuple(ids)


def _refuse_duplicates(systems: tuple[str, ...], ids: tuple[str, ...]) -> None:
    counts = Counter(zip(systems, ids, strict=True))
    (system, name), most = counts.most_common(1)[0]
    if most > 1:
        doubled = sum(count > 1 for count in counts.values())
        raise DataError(
            f"segment id {name!r} occurs {most} times for system {system!r} "
            f"({doubled} ids are repeated); ids must be unique within a system"
        )
