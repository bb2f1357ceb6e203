"""Human judgements and metric scores, aligned on one grid of systems x segments."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.groups import document_means, number_groups
from nlgauge.stats.validation import as_floats, as_matrix, common_cells

Direction = Literal["higher", "lower"]
_Row = tuple[str, str, float | None]


def _quote(names: Iterable[object], limit: int = 5) -> str:
    """Return the first few names, quoted, and how many more there are."""
    listed = [repr(name) for name in names]
    suffix = f" and {len(listed) - limit} more" if len(listed) > limit else ""
    return ", ".join(listed[:limit]) + suffix


def _check_unique(keys: Iterable[Hashable], what: str) -> None:
    repeated = [key for key, times in Counter(keys).items() if times > 1]
    if repeated:
        times = f"{len(repeated)} {what} appear more than once"
        raise DataError(f"{times}: {_quote(repeated)}; average or rename them first.")


def _check_axes(what: str, values: ArrayLike, **axes: Sequence[str]) -> Floats:
    """Return a read-only copy of an array whose axes have these names, each once."""
    copy = as_floats(values, what).copy()
    if copy.shape != tuple(len(names) for names in axes.values()):
        expected = " and ".join(f"{len(names)} {axis}" for axis, names in axes.items())
        raise ShapeError(f"the shape of {what} is {copy.shape}, but {expected} are named.")
    for axis, names in axes.items():
        _check_unique(names, f"{axis} of {what}")
    copy.setflags(write=False)
    return copy


def _parse(value: float | None, system: str, segment: str, what: str) -> float:
    cell = f"{what} of {(system, segment)}"
    try:
        number = float("nan") if value is None else float(value)
    except (TypeError, ValueError):
        raise DataError(f"{cell} is {value!r}, which is not a number.") from None
    if np.isinf(number):
        raise DataError(f"{cell} is infinite; use NaN for a missing value.")
    return number


@dataclass(frozen=True, eq=False)
class Judgements:
    """One human value per system, segment and criterion; NaN = not judged.

    Data without system names has one system.
    """

    systems: tuple[str, ...]
    segments: tuple[str, ...]
    criteria: tuple[str, ...]
    values: Floats
    documents: tuple[str, ...] | None = None
    """The document of every segment, if the data names them."""

    def __post_init__(self) -> None:
        if self.documents is not None and len(self.documents) != len(self.segments):
            counts = f"{len(self.documents)} documents for {len(self.segments)} segments"
            raise ShapeError(f"the judgements name {counts}; name the document of every segment.")
        axes = {"systems": self.systems, "segments": self.segments, "criteria": self.criteria}
        object.__setattr__(self, "values", _check_axes("the judgements", self.values, **axes))

    @classmethod
    def from_columns(
        cls,
        systems: Sequence[str],
        segments: Sequence[str],
        human: Mapping[str, ArrayLike],
        documents: Sequence[str] | None = None,
    ) -> "Judgements":
        """Return the judgements of a table: system, segment id, criteria, document of every row."""
        if not systems:
            raise DataError("there are no judgements: 0 rows were given.")
        _check_unique(zip(systems, segments, strict=True), "(system, segment) pairs")
        (rows, row), (columns, column) = number_groups(systems), number_groups(segments)
        values = np.full((len(rows), len(columns), len(human)), np.nan)
        for k, judged in enumerate(human.values()):
            values[row, column, k] = judged
        segment_documents = None if documents is None else _documents_of(segments, documents)
        return cls(rows, columns, tuple(human), values, segment_documents)

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, Mapping[str, float | None]]]) -> "Judgements":
        """Return the judgements of rows (system, segment id, {criterion: value or None})."""
        table = [(str(system), str(segment), human) for system, segment, human in rows]
        criteria = dict.fromkeys(name for _, _, human in table for name in human)
        columns = {
            name: [_parse(row[2].get(name), *row[:2], f"the judgement {name!r}") for row in table]
            for name in criteria
        }
        return cls.from_columns([row[0] for row in table], [row[1] for row in table], columns)

    def matrix(self, criterion: str) -> Floats:
        """Return the system x segment matrix of one criterion."""
        if criterion not in self.criteria:
            known = f"these {len(self.criteria)} were judged: {', '.join(self.criteria)}"
            raise OptionError(f"there is no criterion {criterion!r}; {known}.")
        return self.values[:, :, self.criteria.index(criterion)]

    def without(self, *systems: str) -> "Judgements":
        """Return the judgements without these systems (a human reference, for example)."""
        unknown = [name for name in systems if name not in self.systems]
        if unknown:
            raise OptionError(
                f"no system is called {_quote(unknown)}; there are {_quote(self.systems, 20)}."
            )
        keep = [i for i, name in enumerate(self.systems) if name not in systems]
        if not keep:
            raise DataError(f"leaving out all {len(self.systems)} systems leaves no judgement.")
        names = tuple(self.systems[i] for i in keep)
        axes = names, self.segments, self.criteria
        return Judgements(*axes, self.values[keep], self.documents)


@dataclass(frozen=True, eq=False)
class MetricScores:
    """One metric's system x segment matrix, and the direction that is better."""

    name: str
    systems: tuple[str, ...]
    segments: tuple[str, ...]
    values: Floats
    direction: Direction = "higher"

    def __post_init__(self) -> None:
        if self.direction not in ("higher", "lower"):
            raise OptionError(
                f"direction {self.direction!r} of {self.name!r} is not 'higher' or 'lower'."
            )
        what = f"metric {self.name!r}"
        axes = {"systems": self.systems, "segments": self.segments}
        object.__setattr__(self, "values", _check_axes(what, as_matrix(self.values, what), **axes))

    @classmethod
    def from_rows(
        cls, name: str, rows: Iterable[_Row], direction: Direction = "higher"
    ) -> "MetricScores":
        """Return the scores of rows (system, segment id, score); absent cells are NaN."""
        judged = Judgements.from_rows((system, segment, {name: v}) for system, segment, v in rows)
        return cls(name, judged.systems, judged.segments, judged.matrix(name), direction)

    @classmethod
    def like(
        cls, judgements: Judgements, name: str, values: ArrayLike, direction: Direction = "higher"
    ) -> "MetricScores":
        """Return scores whose rows and columns are those of the judgements."""
        matrix = as_matrix(values, f"metric {name!r}")
        return cls(name, judgements.systems, judgements.segments, matrix, direction)


@dataclass(frozen=True)
class Gap:
    """Judged cells that a metric lacks, and unjudged systems and segments that it scored."""

    metric: str
    systems_missing: tuple[str, ...]
    segments_missing: tuple[str, ...]
    cells_missing: int
    cells_judged: int
    systems_unjudged: tuple[str, ...]
    segments_unjudged: int

    def __str__(self) -> str:
        missing = {"systems": self.systems_missing, "segments": self.segments_missing}
        listed = (
            f"{len(names)} {kind} ({_quote(names)})" for kind, names in missing.items() if names
        )
        counted = f"{self.cells_missing} of {self.cells_judged} judged cells"
        return ": ".join(
            filter(None, (f"metric {self.metric!r} lacks {counted}", ", ".join(listed)))
        )


@dataclass(frozen=True, eq=False)
class Grid:
    """Metrics and one human criterion on the same systems x segments, all higher-is-better.

    Lower-is-better metrics are negated; cells a metric lacks stay NaN and are counted in `gaps`.
    """

    criterion: str
    systems: tuple[str, ...]
    segments: tuple[str, ...]
    human: Floats
    metrics: Mapping[str, Floats]
    negated: tuple[str, ...]
    gaps: tuple[Gap, ...]
    documents: tuple[str, ...] | None = None
    """The document of every segment, if the data names them."""

    @classmethod
    def align(
        cls,
        judgements: Judgements,
        criterion: str,
        metrics: Sequence[MetricScores],
        *,
        missing: Literal["error", "keep"] = "error",
    ) -> "Grid":
        """Return the grid of the judged systems and segments.

        `missing="error"` raises DataError for a metric without a score for some judged cell; "keep"
        leaves the cell NaN and counts it. Scores of unjudged cells are left out and counted.
        """
        if missing not in ("error", "keep"):
            raise OptionError(f"missing is {missing!r}; it is 'error' or 'keep'.")
        human = judgements.matrix(criterion)
        if not np.isfinite(human).any():
            empty = f"criterion {criterion!r} has 0 judged cells of {human.size}"
            raise DataError(f"{empty}; choose another of {', '.join(judgements.criteria)}.")
        _check_unique([metric.name for metric in metrics], "metrics")
        aligned = {metric.name: align_scores(metric, judgements) for metric in metrics}
        gaps = tuple(
            _find_gap(each, aligned[each.name], judgements, human, missing) for each in metrics
        )
        negated = tuple(metric.name for metric in metrics if metric.direction == "lower")
        for name, values in aligned.items():
            aligned[name] = -values if name in negated else values
            aligned[name].setflags(write=False)
        names = judgements.systems, judgements.segments
        return cls(criterion, *names, human, aligned, negated, gaps, judgements.documents)

    def require_documents(self) -> tuple[str, ...]:
        """Return the document of every segment, or raise DataError."""
        if self.documents is None:
            raise DataError(
                f"the data does not name the documents of its {len(self.segments)} segments, which "
                "the document level needs; give a column 'document'."
            )
        return self.documents

    def by_document(self) -> "Grid":
        """Return means over documents, of the cells that people judged and every metric scored."""
        matrices = common_cells(**{"human": self.human}, **self.metrics)
        names, (human, *metrics) = document_means(self.require_documents(), *matrices)
        means = dict(zip(self.metrics, metrics, strict=True))
        return Grid(self.criterion, self.systems, names, human, means, self.negated, self.gaps)

    def metric(self, name: str) -> Floats:
        """Return the aligned matrix of one metric, higher is better."""
        if name not in self.metrics:
            raise OptionError(f"no metric {name!r} here; there are {', '.join(self.metrics)}.")
        return self.metrics[name]

    def report(self) -> tuple[str, ...]:
        """Return a sentence for everything that was left out or negated."""
        lines = [f"{gap}." for gap in self.gaps if gap.cells_missing]
        if unjudged := int((~np.isfinite(self.human)).sum()):
            share = f"{unjudged} of {self.human.size} cells"
            lines.append(f"{share} have no judgement of {self.criterion!r}.")
        lines += [
            f"metric {gap.metric!r} also scored {len(gap.systems_unjudged)} systems and "
            f"{gap.segments_unjudged} segments that nobody judged; they are left out."
            for gap in self.gaps
            if gap.systems_unjudged or gap.segments_unjudged
        ]
        if self.negated:
            lines.append(f"negated, because lower is better: {', '.join(self.negated)}.")
        return tuple(lines)


def align_scores(metric: MetricScores, judgements: Judgements) -> Floats:
    """Return a metric's values in the order of the judgements, NaN where there are none."""
    padded = np.pad(metric.values, (0, 1), constant_values=np.nan)  # a name without values is -1
    systems = _positions(judgements.systems, metric.systems)
    return padded[np.ix_(systems, _positions(judgements.segments, metric.segments))]


def _positions(queries: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return the positions of the wanted names among the names; -1 for missing names."""
    at = {name: i for i, name in enumerate(names)}
    return [at.get(name, -1) for name in queries]


def _documents_of(segments: Sequence[str], documents: Sequence[str]) -> tuple[str, ...]:
    """Return the document of every distinct segment; one in two documents is a DataError."""
    by_segment: dict[str, str] = {}
    for segment, document in zip(segments, documents, strict=True):
        if by_segment.setdefault(segment, document) != document:
            pair = f"{by_segment[segment]!r} and {document!r}"
            raise DataError(f"segment {segment!r} is in the documents {pair}; name it differently.")
    return tuple(by_segment.values())


def _find_gap(
    metric: MetricScores, values: Floats, judgements: Judgements, human: Floats, missing: str
) -> Gap:
    """Return the missing cells; raise DataError if all are missing, or any unless kept."""
    judged = np.isfinite(human)
    scored = judged & np.isfinite(values)
    systems_missing, segments_missing = (
        tuple(np.array(names)[judged.any(axis=axis) & ~scored.any(axis=axis)].tolist())
        for axis, names in ((1, judgements.systems), (0, judgements.segments))
    )
    gap = Gap(
        metric.name,
        systems_missing,
        segments_missing,
        int(judged.sum() - scored.sum()),
        int(judged.sum()),
        tuple(name for name in metric.systems if name not in judgements.systems),
        len(set(metric.segments) - set(judgements.segments)),
    )
    if gap.cells_missing == gap.cells_judged:
        raise DataError(f"{gap}; it shares no cell with the judgements. Check the names in both.")
    if gap.cells_missing and missing == "error":
        raise DataError(
            f"{gap}. Score them, leave them out of the judgements, or use missing='keep' "
            "(--missing keep) to leave the cells empty and count them."
        )
    return gap
