"""Reliability of a judge: does it agree with people as well as people agree with each other?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.core.arrays import Ints
from nlgauge.core.errors import OptionError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.data.columns import Columns, Given
from nlgauge.data.rater_labels import RaterLabels, read_labels
from nlgauge.stats.alternative_annotator import (
    MIN_PEOPLE,
    AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from nlgauge.stats.intervals import Interval
from nlgauge.study.judge_agreement import (
    MAX_CATEGORIES,
    Agreement,
    GroupAgreement,
    PersonAgreement,
    measure_agreement,
)
from nlgauge.study.judge_biases import Bias, find_biases
from nlgauge.study.judge_verdict import write_verdict
from nlgauge.study.label_matrix import LabelMatrix, Scale, label_matrix
from nlgauge.study.study import as_list

MAX_CONFUSION = 20
"""Maximum number of labels for a confusion matrix."""
MAX_PEOPLE = 30


@dataclass(frozen=True, eq=False)
class JudgeResult:
    """The reliability of a judge."""

    judge: str
    people: tuple[str, ...]
    items: int
    row_count: int
    """Labelled rows: more than items if an item has several systems or orders."""
    scale: Scale
    labels: tuple[str, ...]
    agreement: tuple[Agreement, ...]
    persons: tuple[PersonAgreement, ...]
    group: tuple[GroupAgreement, ...]
    confusion: Ints | None
    """Counts of people's labels (rows) against the judge's; None for more than 20 labels."""
    alternative_test: AlternativeAnnotatorTest | None
    biases: tuple[Bias, ...]
    verdict: str
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per number: statistic, raters, value, limits, n and p."""
        rows = []
        for each in self.agreement:
            compared = {"judge and people": each.judge, "people": each.people}
            for raters, interval in {**compared, "difference": each.difference}.items():
                rows += (
                    [_row(each.coefficient, raters, interval, self.row_count)] if interval else []
                )
        for entry in self.persons:
            raters = f"{self.judge} and {entry.person}"
            rows.append(_row(entry.coefficient, raters, entry.interval, entry.n))
        for group in self.group:
            name = f"{group.coefficient} of all"
            rows.append(_row(name, "people", group.people, self.row_count))
            rows.append(_row(name, "people and judge", group.with_judge, self.row_count))
        if test := self.alternative_test:
            for person in test.people:
                row = _row("advantage over person", person.person, None, person.n)
                rows.append({**row, "value": person.judge_advantage, "p": person.p})
            for name, value in (("omega", test.winning_rate), ("rho", test.advantage)):
                rows.append({**_row(name, "people", None, self.row_count), "value": value})
        for bias in self.biases:
            rows.append(_row(bias.bias, bias.rater, bias.interval, bias.n))
        return [to_jsonable(row) for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        test = self.alternative_test
        return {
            **{"judge": self.judge, "people": list(self.people), "items": self.items},
            "rows": self.row_count,
            **{"scale": self.scale, "labels": list(self.labels), "verdict": self.verdict},
            "agreement": [_to_dict(each) for each in self.agreement],
            "persons": [_to_dict(each) for each in self.persons],
            "group": [_to_dict(each) for each in self.group],
            "confusion": to_jsonable(self.confusion),
            "alternative_test": test.to_dict() if test else None,
            "biases": [bias.to_dict() for bias in self.biases],
            "notes": list(self.notes),
        }


def _row(statistic: str, raters: str, interval: Interval | None, n: int) -> dict[str, Any]:
    limits = (interval.value, interval.low, interval.high) if interval else (None, None, None)
    values = dict(zip(("value", "low", "high"), limits, strict=True))
    return {"statistic": statistic, "raters": raters, **values, "n": n, "p": None}


def _to_dict(entry: Agreement | PersonAgreement | GroupAgreement) -> dict[str, Any]:
    """Return the fields of an entry, intervals as their value and limits."""
    return {
        name: {"value": to_jsonable(value.value), **value.to_dict()}
        if isinstance(value, Interval)
        else value
        for name, value in vars(entry).items()
    }


def judge(
    data: RaterLabels | Mapping[str, Sequence[Any]] | str | Path,
    judge: str,
    human: str | Sequence[str] | None = None,
    *,
    order: Sequence[str] | None = None,
    scale: Scale | None = None,
    pool: bool = False,
    epsilon: float = 0.1,
    own: str | Sequence[str] = (),
    columns: Given | Columns = None,
    header: bool = True,
    confidence: float = 0.95,
    count: int = 1000,
    seed: int = 0,
) -> JudgeResult:
    """Return how well a judge (a model or a person) agrees with people, and its biases.

    Coefficients are means over pairs of raters: the judge with each person, and people with each
    other. Intervals are bootstrapped over items, over clusters if the data names them, and over
    items with all their rows if an item has several.

    Parameters
    ----------
    data : RaterLabels, mapping, str or Path, labels by rater, or a table file: a column for each
        rater, or the columns item, rater and label
    judge : str, the rater to check
    human : str or sequence of str, the people; by default all other raters, if the table has a
        column of raters
    order : sequence of str, the labels from lowest to highest
    scale : "nominal", "ordinal", "interval" or "ratio"; by default interval for numbers, ordinal
        with an order, else nominal
    pool : bool, whether the k-th human label of an item is treated as that of person k, for many
        people who labelled few items each
    epsilon : float, epsilon of the alternative annotator test
    own : str or sequence of str, the judge's own systems, for self-preference
    columns, header : as in `read_labels`
    confidence, count, seed : coverage, resamples and seed of the intervals

    Returns
    -------
    JudgeResult

    Raises
    ------
    DataError
        If judge and people share no item, or labels are not in the order.
    OptionError
        For unknown raters, scales and systems.

    Examples
    --------
    >>> labels = {"anna": [1, 2, 3, 1], "ben": [1, 2, 3, 2], "model": [1, 2, 3, 1]}
    >>> found = judge(labels, "model", count=100)
    >>> [f"{each.coefficient} {each.judge.value:.3f}" for each in found.agreement][:2]
    ['agreement 0.875', 'kappa 0.818']
    """
    people_names = as_list(human)
    if isinstance(data, Mapping):
        table = RaterLabels.of(data)
    elif isinstance(data, RaterLabels):
        table = data
    else:
        table = read_labels(str(data), [judge, *people_names], columns=columns, header=header)
    matrix = label_matrix(table, judge, people_names, order=order, scale=scale, pool=pool)
    if len(matrix.people) > MAX_PEOPLE:
        raise OptionError(
            f"there are {len(matrix.people)} people, more than {MAX_PEOPLE}, whose pairs share few "
            "items; pool their labels with pool=True (--pool), or name some with human= (--human)."
        )
    draws: dict[str, Any] = {"count": count, "confidence": confidence, "seed": seed}
    agreement = measure_agreement(matrix, **draws)
    biases, bias_notes = find_biases(matrix, as_list(own), **draws)
    test = _alternative_test(matrix, epsilon)
    return JudgeResult(
        matrix.judge,
        matrix.people,
        len(set(matrix.items)),
        len(matrix.items),
        matrix.scale,
        matrix.labels,
        *agreement,
        matrix.confusion() if len(matrix.labels) <= MAX_CONFUSION else None,
        test,
        tuple(biases),
        write_verdict(matrix, agreement[0], test, biases, pooled=pool),
        (*matrix.notes, *_coverage_notes(matrix), *bias_notes),
    )


def _alternative_test(matrix: LabelMatrix, epsilon: float) -> AlternativeAnnotatorTest | None:
    if len(matrix.people) < MIN_PEOPLE:
        return None
    return alternative_annotator_test(
        matrix.values[:, 0],
        matrix.values[:, 1:],
        names=matrix.people,
        scoring="rmse" if matrix.ordered else "accuracy",
        epsilon=epsilon,
    )


def _coverage_notes(matrix: LabelMatrix) -> list[str]:
    """Return notes about missing labels, and about raters who never use a label."""
    labelled_cells = np.isfinite(matrix.values)
    judged, labelled = labelled_cells[:, 0], labelled_cells[:, 1:].any(axis=1)
    total = len(matrix.items)
    notes = []
    for rater, missing in (("the judge", ~judged), ("people", ~labelled)):
        if n := int(missing.sum()):
            notes.append(f"{n:,} of {total:,} items have no label of {rater}.")
    if len(matrix.labels) > MAX_CATEGORIES:
        notes.append(
            f"there are {len(matrix.labels):,} different labels, so that kappa, AC1 and AC2, which "
            "are for categories, are left out."
        )
    elif len(matrix.labels) > 1:
        groups = {matrix.judge: matrix.values[:, :1], "people": matrix.values[:, 1:]}
        for rater, values in groups.items():
            unused = [
                label
                for label, number in zip(matrix.labels, matrix.categories, strict=True)
                if not (values == number).any()
            ]
            if unused:
                notes.append(f"labels never used by {rater}: {', '.join(unused)}.")
    return notes
