"""Agreement of a judge with people and of people with each other, from the same resamples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nlgauge.core.arrays import Floats, Ints
from nlgauge.stats.coefficients import row_means
from nlgauge.stats.intervals import Interval, bootstrap_items, percentile_interval
from nlgauge.stats.rater_agreement import COEFFICIENTS, Ratings
from nlgauge.study.label_matrix import SCALES, LabelMatrix

MAX_CATEGORIES = 100
"""Labels up to which kappa and Gwet's coefficients are computed."""
MAJORITY = "majority of people"
_JUDGE, _PEOPLE, _DIFFERENCE, _ALL, _ALL_AND_JUDGE = range(5)
_Key = tuple[int | str, str]  # who is compared (a person by name), and the coefficient


@dataclass(frozen=True)
class Agreement:
    """One coefficient: judge with people, people with each other, and the difference."""

    coefficient: str
    judge: Interval
    """Mean over people of the judge's agreement with them."""
    people: Interval | None
    """Mean over pairs of people; None with one person."""
    difference: Interval | None


@dataclass(frozen=True)
class PersonAgreement:
    """One coefficient of the judge and one person, or the majority of people."""

    person: str
    coefficient: str
    n: int
    """Items that both labelled."""
    interval: Interval


@dataclass(frozen=True)
class GroupAgreement:
    """One coefficient of several raters at once, of people and of people and judge."""

    coefficient: str
    people: Interval
    with_judge: Interval


@dataclass(frozen=True, eq=False)
class _Pair:
    """The labels of two raters, on the items that either labelled."""

    rows: Ints
    ratings: Ratings

    @classmethod
    def of(cls, ratings: Ratings, first: int, second: int) -> "_Pair":
        pair = ratings.take(first, second)
        rows = np.flatnonzero(pair.given)
        return cls(rows, Ratings(pair.codes[rows], ratings.values))

    @property
    def shared(self) -> int:
        return int((self.ratings.given == 2).sum())

    def value(self, coefficient: str, weights: Floats) -> Floats:
        return COEFFICIENTS[coefficient](self.ratings, weights[:, self.rows])


def measure_agreement(
    matrix: LabelMatrix, *, confidence: float, count: int, seed: int
) -> tuple[tuple[Agreement, ...], tuple[PersonAgreement, ...], tuple[GroupAgreement, ...]]:
    """Return all coefficients that suit the scale, with intervals from the same resamples."""
    ratings = Ratings.of(matrix.values, matrix.categories)
    people = range(1, len(matrix.people) + 1)
    with_judge = {name: _Pair.of(ratings, 0, k) for k, name in enumerate(matrix.people, start=1)}
    each_other = [_Pair.of(ratings, *pair) for pair in combinations(people, 2)]
    pairs = dict(with_judge)
    if len(people) > 2 and len(matrix.labels) <= MAX_CATEGORIES:
        labels = np.column_stack([matrix.values[:, 0], matrix.majority()])
        pairs[MAJORITY] = _Pair.of(Ratings.of(labels, matrix.categories), 0, 1)
    coefficients = _coefficients(matrix)
    group_names = _multi_rater(coefficients) if len(people) > 2 else []

    def statistics(weights: Floats) -> dict[_Key, Floats]:
        values: dict[_Key, Floats] = {}
        for name in coefficients:
            values |= {(rater, name): pair.value(name, weights) for rater, pair in pairs.items()}
            judge = row_means(np.column_stack([values[rater, name] for rater in with_judge]))
            values[_JUDGE, name] = judge
            if each_other:
                pairwise = [pair.value(name, weights) for pair in each_other]
                mean = row_means(np.column_stack(pairwise))
                values |= {(_PEOPLE, name): mean, (_DIFFERENCE, name): judge - mean}
        for name in group_names:
            values[_ALL, name] = COEFFICIENTS[name](ratings.take(*people), weights)
            values[_ALL_AND_JUDGE, name] = COEFFICIENTS[name](ratings, weights)
        return values

    intervals = _intervals(matrix, statistics, confidence, count, seed)
    agreement = tuple(
        Agreement(
            name,
            intervals[_JUDGE, name],
            intervals.get((_PEOPLE, name)),
            intervals.get((_DIFFERENCE, name)),
        )
        for name in coefficients
    )
    persons = tuple(
        PersonAgreement(rater, name, pair.shared, intervals[rater, name])
        for rater, pair in pairs.items()
        for name in coefficients
    )
    group = tuple(
        GroupAgreement(name, intervals[_ALL, name], intervals[_ALL_AND_JUDGE, name])
        for name in group_names
    )
    return agreement, persons, group


def _intervals(
    matrix: LabelMatrix,
    statistics: Callable[[Floats], dict[_Key, Floats]],
    confidence: float,
    count: int,
    seed: int,
) -> dict[_Key, Interval]:
    """Return the statistics with their bootstrap intervals."""
    clusters = matrix.clusters
    keys = list(statistics(np.ones((1, len(matrix.items)))))
    values, draws = bootstrap_items(
        lambda weights: np.column_stack(list(statistics(weights).values())),
        len(matrix.items),
        clusters=clusters,
        count=count,
        seed=seed,
    )
    over = "clusters" if "cluster" in matrix.columns else "items"
    return {
        key: percentile_interval(float(value), resampled, confidence, over)
        for key, value, resampled in zip(keys, values, draws.T, strict=True)
    }


def _coefficients(matrix: LabelMatrix) -> list[str]:
    """Return the coefficients that suit the scale; the last is its alpha."""
    ordered = ["kappa_linear", "kappa_quadratic"] * matrix.ordered
    categorical = ["kappa", *ordered, "ac1", *["ac2"] * matrix.ordered]
    scales = SCALES[: SCALES.index(matrix.scale) + 1]
    is_categorical = len(matrix.labels) <= MAX_CATEGORIES
    return ["agreement", *categorical * is_categorical, *(f"alpha_{scale}" for scale in scales)]


def _multi_rater(coefficients: Sequence[str]) -> list[str]:
    """Return the coefficients of several raters at once."""
    return [*["fleiss", "ac1"] * ("ac1" in coefficients), coefficients[-1]]
