"""Labels of a judge and of people as numbers on one scale, items x raters."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, Literal, get_args

import numpy as np

from nlgauge.core.arrays import Floats, Ints
from nlgauge.core.errors import DataError, OptionError
from nlgauge.data.rater_labels import RaterLabels
from nlgauge.stats.coefficients import row_means
from nlgauge.stats.pair_statistics import differences

Scale = Literal["nominal", "ordinal", "interval", "ratio"]
SCALES: tuple[str, ...] = get_args(Scale)
_MAX_LISTED_LABELS = 8


@dataclass(frozen=True, eq=False)
class LabelMatrix:
    """Labels as numbers, the judge's in the first column; NaN where there is none."""

    judge: str
    people: tuple[str, ...]
    items: tuple[str, ...]
    values: Floats
    labels: tuple[str, ...]
    """All labels of the scale, in order."""
    categories: Floats
    """The number of every label."""
    scale: Scale
    columns: Mapping[str, tuple[Any, ...]]
    notes: tuple[str, ...]

    @property
    def clusters(self) -> tuple[str, ...] | None:
        """The cluster of every unit: that of the data, else its item if an item has several."""
        if "cluster" in self.columns:
            cells = zip(self.columns["cluster"], self.items, strict=True)
            return tuple(f"item {item}" if cell is None else str(cell) for cell, item in cells)
        return self.items if len(set(self.items)) < len(self.items) else None

    @property
    def ordered(self) -> bool:
        """Whether differences of labels have a sign."""
        return self.scale != "nominal"

    def gaps(self) -> Floats:
        """Return the judge's label minus the mean label of people; NaN where either lacks."""
        pair = np.stack([self.values[:, 0], row_means(self.values[:, 1:])])
        return differences(pair, 0, 1)

    def majority(self) -> Floats:
        """Return the label that most people gave to each item; NaN where two are as frequent."""
        counts = (self.values[:, 1:, None] == self.categories).sum(axis=1)
        top = counts.max(axis=1, keepdims=True)
        unique = ((counts == top).sum(axis=1) == 1) & (top[:, 0] > 0)
        return np.where(unique, self.categories[counts.argmax(axis=1)], np.nan)

    def confusion(self) -> Ints:
        """Return how often people gave the label of the row and the judge that of the column."""
        judge = self.values[:, :1] == self.categories
        people = (self.values[:, 1:, None] == self.categories).sum(axis=1)
        return np.asarray(people.T @ judge.astype(int))


def label_matrix(
    table: RaterLabels,
    judge: str,
    people: Sequence[str],
    *,
    order: Sequence[str] | None = None,
    scale: Scale | None = None,
    pool: bool = False,
) -> LabelMatrix:
    """Return the labels of the judge and of people as numbers; other raters are left out.

    With `pool`, the k-th label that people gave to an item counts as that of person k.
    """
    raters = _choose_people(table, judge, people)
    rows = {rater: table.labels[rater] for rater in (judge, *raters)}
    if pool:
        rows = {judge: rows[judge], **_pool_people([rows[name] for name in raters])}
    used_labels = [label for labels in rows.values() for label in labels if label is not None]
    labels, numbers, scale_name = _scale_of(used_labels, order, scale)
    number_of = dict(zip(labels, numbers, strict=True))
    values = np.array(
        [
            [nan if label is None else number_of[plain_label(label)] for label in row]
            for row in rows.values()
        ]
    ).T
    rows_kept = np.flatnonzero(np.isfinite(values).any(axis=1))
    notes = [*table.notes]
    if unlabelled := len(table.items) - rows_kept.size:
        notes.append(
            f"{unlabelled:,} of {len(table.items):,} items have no label and are left out."
        )
    matrix = LabelMatrix(
        judge,
        tuple(rows)[1:],
        tuple(table.items[i] for i in rows_kept),
        values[rows_kept],
        labels,
        np.array(numbers),
        scale_name,
        {role: tuple(cells[i] for i in rows_kept) for role, cells in table.columns.items()},
        tuple(notes),
    )
    _check_overlap(matrix)
    return matrix


def _choose_people(table: RaterLabels, judge: str, people: Sequence[str]) -> tuple[str, ...]:
    """Return the people, by default all raters but the judge."""
    raters = tuple(table.labels)
    for name in (judge, *people):
        if name not in raters:
            listed = ", ".join(raters)
            raise OptionError(f"no rater {name!r}; the {len(raters)} raters are: {listed}.")
    if judge in people:
        raise OptionError(f"{judge!r} is named as judge and as human; it is one of them.")
    chosen_people = tuple(dict.fromkeys(people)) or tuple(name for name in raters if name != judge)
    if not chosen_people:
        raise OptionError(
            f"the only rater is the judge {judge!r}, so that there is nobody to agree with; name "
            "the columns of people with human= (--human)."
        )
    return chosen_people


def _pool_people(rows: Sequence[Sequence[str | None]]) -> dict[str, tuple[str | None, ...]]:
    """Return the first, second, ... label of every item as those of person 1, 2, ..."""
    items = [[label for label in item if label is not None] for item in zip(*rows, strict=True)]
    largest = max((len(labels) for labels in items), default=0)
    return {
        f"person {k + 1}": tuple(labels[k] if k < len(labels) else None for labels in items)
        for k in range(max(largest, 1))
    }


def plain_label(label: str) -> str:
    """Return a number in its shortest form, and any other text as it is."""
    value = _parse(label)
    return label if value is None else f"{value:.15g}"


def _parse(label: str) -> float | None:
    try:
        value = nan if "_" in label else float(label)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _scale_of(
    used_labels: Sequence[str], order: Sequence[str] | None, scale: Scale | None
) -> tuple[tuple[str, ...], list[float], Scale]:
    """Return all labels in order, their numbers, and the scale."""
    if scale is not None and scale not in SCALES:
        raise OptionError(f"unknown scale {scale!r}; there are {', '.join(SCALES)}.")
    if order is not None:
        labels = tuple(plain_label(label) for label in order)
        _check_order(labels, used_labels)
    else:
        labels = tuple(sorted({plain_label(label) for label in used_labels}))
    parsed = [_parse(label) for label in labels]
    numbers = [value for value in parsed if value is not None]
    if labels and len(numbers) == len(labels):
        if order is None:
            labels = tuple(sorted(labels, key=float))
            numbers = sorted(numbers)
        if numbers == sorted(numbers):
            return labels, numbers, scale or ("interval" if order is None else "ordinal")
    places = [float(k) for k in range(len(labels))]
    if order is None and scale not in (None, "nominal"):
        raise OptionError(
            f"the labels are texts ({_listed(labels)}), whose order is unknown; give it, lowest "
            f"first, with order= (--order) for the {scale} scale."
        )
    if scale in ("interval", "ratio"):
        raise OptionError(f"the {scale} scale is for numbers, but labels are {_listed(labels)}.")
    return labels, places, scale or ("nominal" if order is None else "ordinal")


def _check_order(order: Sequence[str], labels: Sequence[str]) -> None:
    if len(set(order)) < len(order) or len(order) < 2:
        raise OptionError(
            f"the order {', '.join(order)!r} should name 2 labels or more, each once."
        )
    unknown = Counter(label for label in labels if plain_label(label) not in order)
    if unknown:
        label, times = unknown.most_common(1)[0]
        raise DataError(
            f"{unknown.total()} of {len(labels)} labels are not in the order {', '.join(order)}: "
            f"{label!r} occurs {times} times; name all labels."
        )


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(labels[:_MAX_LISTED_LABELS]) + ", ..." * (len(labels) > _MAX_LISTED_LABELS)


def _check_overlap(matrix: LabelMatrix) -> None:
    """Raise DataError if judge and people share no item."""
    labelled_cells = np.isfinite(matrix.values)
    judged, labelled = labelled_cells[:, 0], labelled_cells[:, 1:].any(axis=1)
    if (judged & labelled).any():
        return
    first = [
        next((matrix.items[i] for i in np.flatnonzero(side)), None) for side in (judged, labelled)
    ]
    raise DataError(
        f"no item was labelled by both {matrix.judge!r} and a person: the judge labelled "
        f"{int(judged.sum())} items (first: {first[0]!r}), people {int(labelled.sum())} (first: "
        f"{first[1]!r}); use the same item ids for all."
    )
