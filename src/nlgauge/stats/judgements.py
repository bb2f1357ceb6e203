"""Human judgements and metric scores, brought onto one grid of systems x segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.validation import Array, as_matrix

Direction = Literal["higher", "lower"]


def _some(names: Iterable[object], most: int = 5) -> str:
    """The first few names, quoted, and how many more there are."""
    listed = [repr(name) for name in names]
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def _frozen(values: NDArray[np.float64]) -> Array:
    copy = np.array(values, dtype=np.float64)
    copy.setflags(write=False)
    return copy


def _refuse_repeats(keys: Iterable[Hashable], what: str) -> None:
    repeated = [key for key, times in Counter(keys).items() if times > 1]
    if repeated:
        raise DataError(
            f"{len(repeated)} {what} appear more than once: {_some(repeated)}; "
            "average or rename them first, so that every cell has one value."
        )


def _number(value: float | None, where: tuple[str, str], what: str) -> float:
    if value is None:
        return float("nan")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise DataError(f"{what} of {where} is {value!r}, which is not a number.") from None
    if np.isinf(number):
        raise DataError(f"{what} of {where} is infinite; use NaN for a missing value.")
    return number


@dataclass(frozen=True, eq=False)
class Judgements:
    """What people said: one value per system, segment and criterion; NaN = not judged.

    Rows of `values` are systems, columns are segments (the same input for every system), the
    third axis is the criterion (fluency, adequacy, ...). Data without system names has one row.
    """

    systems: tuple[str, ...]
    segments: tuple[str, ...]
    criteria: tuple[str, ...]
    values: Array

    def __post_init__(self) -> None:
        shape = (len(self.systems), len(self.segments), len(self.criteria))
        if np.shape(self.values) != shape:
            raise ShapeError(
                f"the judgements have shape {np.shape(self.values)}, but {shape[0]} systems, "
                f"{shape[1]} segments and {shape[2]} criteria are named."
            )
        _refuse_repeats(self.systems, "systems")
        _refuse_repeats(self.segments, "segments")
        _refuse_repeats(self.criteria, "criteria")
        object.__setattr__(self, "values", _frozen(self.values))

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, Mapping[str, float | None]]]) -> Judgements:
        """Judgements from rows (system, segment id, {criterion: value}), in order of appearance.

        A criterion absent from a row, None or NaN is "not judged". Ids are compared as strings.
        """
        listed = [(str(system), str(segment), human) for system, segment, human in rows]
        if not listed:
            raise DataError("there are no judgements: 0 rows were given.")
        _refuse_repeats([row[:2] for row in listed], "(system, segment) pairs")
        systems = {name: i for i, name in enumerate(dict.fromkeys(row[0] for row in listed))}
        segments = {name: i for i, name in enumerate(dict.fromkeys(row[1] for row in listed))}
        criteria = {
            name: i for i, name in enumerate(dict.fromkeys(c for row in listed for c in row[2]))
        }
        values = np.full((len(systems), len(segments), len(criteria)), np.nan)
        for system, segment, human in listed:
            for name, value in human.items():
                cell = (systems[system], segments[segment], criteria[name])
                values[cell] = _number(value, (system, segment), f"the judgement {name!r}")
        return cls(tuple(systems), tuple(segments), tuple(criteria), values)

    def matrix(self, criterion: str) -> Array:
        """The system x segment matrix of one criterion."""
        if criterion not in self.criteria:
            raise OptionError(
                f"there is no criterion {criterion!r}; "
                f"these {len(self.criteria)} were judged: {', '.join(self.criteria)}."
            )
        return self.values[:, :, self.criteria.index(criterion)]

    def without(self, *systems: str) -> Judgements:
        """The judgements with these systems left out (a human reference among them, say)."""
        unknown = [name for name in systems if name not in self.systems]
        if unknown:
            raise OptionError(
                f"no system is called {_some(unknown)}; there are {_some(self.systems, 20)}."
            )
        keep = [i for i, name in enumerate(self.systems) if name not in systems]
        if not keep:
            raise DataError(f"leaving out all {len(self.systems)} systems leaves no judgement.")
        names = tuple(self.systems[i] for i in keep)
        return Judgements(names, self.segments, self.criteria, self.values[keep])


@dataclass(frozen=True, eq=False)
class Measured:
    """What one metric said: a labelled system x segment matrix, and which direction is better."""

    name: str
    systems: tuple[str, ...]
    segments: tuple[str, ...]
    values: Array
    direction: Direction = "higher"

    def __post_init__(self) -> None:
        if self.direction not in ("higher", "lower"):
            raise OptionError(
                f"the direction of {self.name!r} is {self.direction!r}; "
                "say 'higher' (more is better) or 'lower' (a distance)."
            )
        matrix = as_matrix(self.values, f"metric {self.name!r}")
        shape = (len(self.systems), len(self.segments))
        if matrix.shape != shape:
            raise ShapeError(
                f"metric {self.name!r} has shape {matrix.shape}, "
                f"but {shape[0]} systems and {shape[1]} segments are named."
            )
        _refuse_repeats(self.systems, f"systems of metric {self.name!r}")
        _refuse_repeats(self.segments, f"segments of metric {self.name!r}")
        object.__setattr__(self, "values", _frozen(matrix))

    @classmethod
    def from_rows(
        cls,
        name: str,
        rows: Iterable[tuple[str, str, float | None]],
        direction: Direction = "higher",
    ) -> Measured:
        """A metric's matrix from rows (system, segment id, score); absent cells are NaN."""
        judged = Judgements.from_rows((system, segment, {name: v}) for system, segment, v in rows)
        return cls(name, judged.systems, judged.segments, judged.matrix(name), direction)

    @classmethod
    def like(
        cls, judgements: Judgements, name: str, values: ArrayLike, direction: Direction = "higher"
    ) -> Measured:
        """A metric's matrix that already stands in the order of the judgements."""
        matrix = as_matrix(values, f"metric {name!r}")
        return cls(name, judgements.systems, judgements.segments, matrix, direction)


@dataclass(frozen=True)
class Gap:
    """What one metric lacks of the judged cells, and what it scored beside them."""

    metric: str
    systems_missing: tuple[str, ...]
    segments_missing: tuple[str, ...]
    cells_missing: int
    cells_judged: int
    systems_beside: tuple[str, ...]
    segments_beside: int

    def __str__(self) -> str:
        parts = [
            f"metric {self.metric!r} lacks {self.cells_missing} of {self.cells_judged} judged cells"
        ]
        if self.systems_missing:
            parts.append(f"{len(self.systems_missing)} systems ({_some(self.systems_missing)})")
        if self.segments_missing:
            parts.append(f"{len(self.segments_missing)} segments ({_some(self.segments_missing)})")
        return ": ".join([parts[0], ", ".join(parts[1:])]) if len(parts) > 1 else parts[0]


@dataclass(frozen=True, eq=False)
class Grid:
    """Metrics and one human criterion on the same systems x segments, all higher-is-better.

    Metrics declared lower-is-better are negated and listed in `negated`; absolute values are never
    taken, because they hide a metric that points the wrong way. Cells a metric lacks stay NaN and
    are counted in `gaps`: nothing is filled in.
    """

    criterion: str
    systems: tuple[str, ...]
    segments: tuple[str, ...]
    human: Array
    metrics: Mapping[str, Array]
    negated: tuple[str, ...]
    gaps: tuple[Gap, ...]

    @classmethod
    def align(
        cls,
        judgements: Judgements,
        criterion: str,
        metrics: Sequence[Measured],
        *,
        missing: Literal["error", "keep"] = "error",
    ) -> Grid:
        """The grid of the judged systems and segments.

        `missing="error"` refuses a metric without a score for some judged cell; "keep" leaves the
        cell NaN and counts it. Scores beside the judged cells are left out and counted.
        """
        if missing not in ("error", "keep"):
            raise OptionError(f"missing is {missing!r}; it is 'error' or 'keep'.")
        human = judgements.matrix(criterion)
        if not np.isfinite(human).any():
            raise DataError(
                f"criterion {criterion!r} has 0 judged cells of {human.size}; choose another of "
                f"{', '.join(judgements.criteria)}."
            )
        _refuse_repeats([metric.name for metric in metrics], "metrics")
        placed = {metric.name: _place(metric, judgements, human) for metric in metrics}
        gaps = tuple(gap for _, gap in placed.values())
        for gap in gaps:
            _refuse_gap(gap, missing)
        return cls(
            criterion,
            judgements.systems,
            judgements.segments,
            human,
            {name: _frozen(values) for name, (values, _) in placed.items()},
            tuple(metric.name for metric in metrics if metric.direction == "lower"),
            gaps,
        )

    def metric(self, name: str) -> Array:
        """The aligned matrix of one metric, higher is better."""
        if name not in self.metrics:
            raise OptionError(f"no metric {name!r} here; there are {', '.join(self.metrics)}.")
        return self.metrics[name]

    def report(self) -> tuple[str, ...]:
        """One sentence per thing that was left out or turned round; empty if nothing was."""
        lines = [f"{gap}." for gap in self.gaps if gap.cells_missing]
        unjudged = int((~np.isfinite(self.human)).sum())
        if unjudged:
            lines.append(
                f"{unjudged} of {self.human.size} cells have no judgement of {self.criterion!r}."
            )
        for gap in self.gaps:
            if gap.systems_beside or gap.segments_beside:
                lines.append(
                    f"metric {gap.metric!r} also scored {len(gap.systems_beside)} systems and "
                    f"{gap.segments_beside} segments nobody judged; they are left out."
                )
        if self.negated:
            lines.append(f"negated, because lower is better: {', '.join(self.negated)}.")
        return tuple(lines)


def _place(metric: Measured, judgements: Judgements, human: Array) -> tuple[Array, Gap]:
    """A metric's values in the order of the judgements, higher is better, and its gap."""
    rows = {name: i for i, name in enumerate(metric.systems)}
    columns = {name: i for i, name in enumerate(metric.segments)}
    to_row = [i for i, name in enumerate(judgements.systems) if name in rows]
    to_column = [i for i, name in enumerate(judgements.segments) if name in columns]
    from_row = [rows[judgements.systems[i]] for i in to_row]
    from_column = [columns[judgements.segments[i]] for i in to_column]
    values = np.full(human.shape, np.nan)
    values[np.ix_(to_row, to_column)] = metric.values[np.ix_(from_row, from_column)]
    judged = np.isfinite(human)
    lacking = judged & ~np.isfinite(values)

    def wholly(axis: int, names: tuple[str, ...]) -> tuple[str, ...]:
        lost = judged.any(axis=axis) & ~(judged & ~lacking).any(axis=axis)
        return tuple(name for name, gone in zip(names, lost, strict=True) if gone)

    gap = Gap(
        metric.name,
        wholly(1, judgements.systems),
        wholly(0, judgements.segments),
        int(lacking.sum()),
        int(judged.sum()),
        tuple(name for name in metric.systems if name not in set(judgements.systems)),
        len(set(metric.segments) - set(judgements.segments)),
    )
    return (-values if metric.direction == "lower" else values), gap


def _refuse_gap(gap: Gap, missing: str) -> None:
    if gap.cells_missing == gap.cells_judged:
        raise DataError(
            f"{gap}; it shares no cell with the judgements. Check that both name systems and "
            "segments alike."
        )
    if gap.cells_missing and missing == "error":
        raise DataError(
            f"{gap}. Score them, leave them out of the judgements, or say missing='keep' "
            "(--missing keep) to leave the cells empty and count them."
        )
