"""Agreement of raters who gave labels to the same items, with any pattern of missing labels.

A matrix has one row per item and one column per rater; NaN is a label that was not given. Labels
are numbers: on a nominal scale they are codes, on an ordinal scale only their order matters. A
coefficient is 1 - observed / expected disagreement. It is undefined (NaN) if no item has labels of
two raters, or if only one label was used, so that the expected disagreement is 0.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats, Ints
from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.coefficients import divide, row_means, weighted_sums
from nlgauge.stats.intervals import Interval, bootstrap_statistic
from nlgauge.stats.validation import Seed, as_floats

MAX_CATEGORIES = 1000
"""Maximum number of labels for which a matrix of all pairs of labels is created."""
_MAX_MATRIX_LABELS = 50  # up to this many labels, they are counted by a matrix of items x labels


@dataclass(frozen=True, eq=False)
class Ratings:
    """Labels as codes, items x raters (-1: missing), and the value of every code, ascending."""

    codes: Ints
    values: Floats

    @classmethod
    def of(cls, labels: ArrayLike, categories: ArrayLike | None = None) -> "Ratings":
        """Return the ratings of a matrix of numbers; `categories` may name labels not used."""
        matrix = as_floats(labels, "the matrix of labels")
        if matrix.ndim != 2 or matrix.shape[1] < 1:
            raise ShapeError(f"labels have shape {matrix.shape}; give items x raters.")
        valid = ~np.isnan(matrix)
        used = matrix[valid] if categories is None else as_floats(categories, "categories")
        values = np.unique(used)
        values = values if values.size else np.zeros(1)  # a code is an index also without labels
        codes = np.searchsorted(values, np.where(valid, matrix, 0.0))
        recoded = np.append(values, np.nan)[codes]
        if unknown := int((valid & (recoded != matrix)).sum()):
            raise DataError(f"{unknown} of {int(valid.sum())} labels are not among the categories.")
        return cls(np.where(valid, codes, -1), values)

    def take(self, *raters: int) -> "Ratings":
        """Return the ratings of some raters."""
        return Ratings(self.codes[:, list(raters)], self.values)

    @property
    def scaled(self) -> Floats:
        """The values divided by the largest, so that squares do not overflow."""
        largest = float(np.abs(self.values).max())
        return self.values / (largest or 1.0)

    @property
    def given(self) -> Ints:
        """The number of labels of every item."""
        return np.asarray((self.codes >= 0).sum(axis=1))


Statistic = Callable[[Ratings, Floats], Floats]
"""Takes the ratings and weights of items, one row per resample; returns a value per row."""
Distance = Callable[[Ints, Ints], Floats]
"""Takes the codes of two labels of every item."""


def _distances(values: Floats, power: int) -> Floats:
    """Return |a - b| ** power of all pairs of values; 1 for different ones if the power is 0."""
    if values.size > MAX_CATEGORIES:
        raise DataError(
            f"there are {values.size:,} different labels; this coefficient is for at most "
            f"{MAX_CATEGORIES:,}: use alpha_ordinal or alpha_interval for measurements."
        )
    difference = np.abs(values[:, None] - values[None, :])
    return (difference > 0).astype(float) if power == 0 else difference**power


def _ratio_distances(values: Floats) -> Floats:
    """Return ((a - b) / (a + b)) ** 2, the differences of a ratio scale."""
    if values.size and values[0] < 0:
        raise DataError("a ratio scale has no negative labels; use the interval scale.")
    total = values[:, None] + values[None, :]
    return (_distances(values, 1) / np.where(total > 0, total, 1.0)) ** 2


def _count(ratings: Ratings, weights: Floats, per_item: Floats | None = None) -> Floats:
    """Return how often each label was given, a row per row of weights."""
    item, rater = np.nonzero(ratings.codes >= 0)
    code = ratings.codes[item, rater]
    size = ratings.values.size
    weight = np.ones(item.size) if per_item is None else per_item[item]
    if size <= _MAX_MATRIX_LABELS:
        table = np.bincount(item * size + code, weight, minlength=ratings.codes.shape[0] * size)
        return weights @ table.reshape(-1, size)
    counts = np.zeros((weights.shape[0], size))
    order = np.argsort(code, kind="stable")
    item, weight = item[order], weight[order]
    labels, starts = np.unique(code[order], return_index=True)
    if item.size:
        counts[:, labels] = np.add.reduceat(weights[:, item] * weight, starts, axis=1)
    return counts


def _disagreement(ratings: Ratings, distance: Distance) -> Floats:
    """Return the mean distance of two labels of each item, a row per resample if it differs."""
    codes = ratings.codes
    total = np.zeros((1, codes.shape[0]))
    for i, j in combinations(range(codes.shape[1]), 2):
        first, second = codes[:, i], codes[:, j]
        labelled = (first >= 0) & (second >= 0)
        total = total + np.where(labelled, distance(first, second), 0.0)
    counts = ratings.given
    return np.asarray(total / np.maximum(counts * (counts - 1) / 2, 1))


def _differ(first: Ints, second: Ints) -> Floats:
    """Return 1 for different labels and 0 for equal ones."""
    return np.asarray(first != second, dtype=float)


def _make_distance(distances: Floats) -> Distance:
    """Return the distance of a matrix of distances."""
    return lambda first, second: np.asarray(distances[first, second])


def _mask_comparable(ratings: Ratings, weights: Floats) -> Floats:
    """Return the weights of items with two labels or more, 0 for the others."""
    comparable = ratings.given >= 2
    return weights if comparable.all() else np.where(comparable, weights, 0.0)


def _mean_disagreement(ratings: Ratings, weights: Floats, distance: Distance) -> Floats:
    """Return the mean over items of their disagreement; NaN without an item of two labels."""
    comparable = _mask_comparable(ratings, weights)
    total = weighted_sums(comparable, _disagreement(ratings, distance))
    return divide(total, comparable.sum(axis=1))


def _percent_agreement(ratings: Ratings, weights: Floats) -> Floats:
    return 1 - _mean_disagreement(ratings, weights, _differ)


def _alpha(ratings: Ratings, weights: Floats, scale: str) -> Floats:
    """Return Krippendorff's alpha (2011), with n the number of labels that have a partner."""
    comparable = _mask_comparable(ratings, weights)
    counts = _count(ratings, comparable)
    n = counts.sum(axis=1)
    distance, expected = _scale(scale, ratings.scaled, counts, n)
    observed = weighted_sums(comparable, ratings.given * _disagreement(ratings, distance))
    varied = (counts > 0).sum(axis=1) > 1
    return 1 - divide((n - 1) * observed, np.where(varied, expected, 0.0))


def _scale(scale: str, values: Floats, counts: Floats, n: Floats) -> tuple[Distance, Floats]:
    """Return the distance of a scale and its sum over all ordered pairs of labels given."""
    if scale == "nominal":
        return _differ, n**2 - (counts**2).sum(axis=1)
    if scale == "ratio":
        distances = _ratio_distances(values)
        return _make_distance(distances), ((counts @ distances) * counts).sum(axis=1)
    # The ordinal distance of two labels is the squared difference of their mean ranks.
    places = np.cumsum(counts, axis=1) - counts / 2 if scale == "ordinal" else values[None, :]
    mean = np.nan_to_num(divide((counts * places).sum(axis=1), n))[:, None]
    expected = 2 * n * (counts * (places - mean) ** 2).sum(axis=1)
    return lambda first, second: (places[:, first] - places[:, second]) ** 2, expected


def _kappa(ratings: Ratings, weights: Floats, power: int) -> Floats:
    """Return Cohen's kappa of two raters; of more raters, the mean over pairs (Light 1971)."""
    distances = _distances(ratings.scaled, power)
    pairs = combinations(range(ratings.codes.shape[1]), 2)
    pair_kappas = [_kappa_of_pair(ratings.take(*pair), weights, distances) for pair in pairs]
    undefined = np.full(weights.shape[0], np.nan)
    return row_means(np.column_stack(pair_kappas)) if pair_kappas else undefined


def _kappa_of_pair(ratings: Ratings, weights: Floats, distances: Floats) -> Floats:
    shared = _mask_comparable(ratings, weights)
    first, second = (_count(ratings.take(k), shared) for k in range(2))
    expected = divide(((first @ distances) * second).sum(axis=1), shared.sum(axis=1) ** 2)
    return 1 - divide(_mean_disagreement(ratings, weights, _make_distance(distances)), expected)


def _shares(ratings: Ratings, weights: Floats) -> Floats:
    """Return the mean share of every label in the labels of an item."""
    counts = ratings.given
    items = np.where(counts > 0, weights, 0.0).sum(axis=1, keepdims=True)
    return divide(_count(ratings, weights, 1 / np.maximum(counts, 1)), items)


def _fleiss(ratings: Ratings, weights: Floats) -> Floats:
    """Return Fleiss's kappa (1971), also for different numbers of labels per item (Gwet 2014)."""
    shares = _shares(ratings, weights)
    varied = (shares > 0).sum(axis=1) > 1
    observed = _mean_disagreement(ratings, weights, _differ)
    return 1 - divide(observed, np.where(varied, 1 - (shares**2).sum(axis=1), 0.0))


def _gwet(ratings: Ratings, weights: Floats, power: int) -> Floats:
    """Return Gwet's AC1 (2008), and AC2 with quadratic weights (2014)."""
    size = ratings.values.size
    if size < 2:
        return np.full(weights.shape[0], np.nan)
    distances = _distances(ratings.scaled, power)
    distances = distances / distances.max()
    observed = 1 - _mean_disagreement(ratings, weights, _make_distance(distances))
    shares = _shares(ratings, weights)
    spread = (shares * (1 - shares)).sum(axis=1)
    chance = (1 - distances).sum() * spread / (size * (size - 1))
    return divide(observed - chance, 1 - chance)


COEFFICIENTS: Mapping[str, Statistic] = MappingProxyType(
    {
        "agreement": _percent_agreement,
        "kappa": partial(_kappa, power=0),
        "kappa_linear": partial(_kappa, power=1),
        "kappa_quadratic": partial(_kappa, power=2),
        "fleiss": _fleiss,
        "ac1": partial(_gwet, power=0),
        "ac2": partial(_gwet, power=2),
        **{
            f"alpha_{scale}": partial(_alpha, scale=scale)
            for scale in ("nominal", "ordinal", "interval", "ratio")
        },
    }
)
"""Coefficients by name: percent agreement, Cohen's kappa and its weighted forms, Fleiss's kappa,
Gwet's AC1 and AC2 (quadratic weights), Krippendorff's alpha of four scales."""


def choose_agreement(coefficient: str) -> Statistic:
    """Return the coefficient of a name, or raise OptionError."""
    if coefficient not in COEFFICIENTS:
        known = ", ".join(COEFFICIENTS)
        raise OptionError(f"unknown coefficient {coefficient!r} of agreement; there are {known}.")
    return COEFFICIENTS[coefficient]


def rater_agreement(
    labels: ArrayLike, coefficient: str = "alpha_nominal", *, categories: ArrayLike | None = None
) -> float:
    """Return a coefficient of agreement between raters.

    Parameters
    ----------
    labels : array_like, items x raters; NaN for a label that was not given
    coefficient : str, a name of `COEFFICIENTS`. Kappa of more than two raters is the mean over
        pairs of raters. Weighted kappa and AC2 weigh by the differences of the numbers.
    categories : array_like, optional, all labels of the scale; those that were used by default.
        AC1 and AC2 depend on their number.

    Returns
    -------
    float, NaN where the coefficient is undefined

    Raises
    ------
    DataError
        For infinite labels, labels that are not among the categories, negative ones of a ratio
        scale, and more than 1,000 different ones for kappa, AC1, AC2 and alpha_ratio.
    OptionError
        For an unknown coefficient.

    Examples
    --------
    >>> labels = [[1, 1], [2, 2], [3, 3], [3, 2], [1, float("nan")]]
    >>> rater_agreement(labels, "agreement")
    0.75
    >>> round(rater_agreement(labels, "alpha_ordinal"), 3)
    0.79
    """
    statistic = choose_agreement(coefficient)
    ratings = Ratings.of(labels, categories)
    return float(statistic(ratings, np.ones((1, ratings.codes.shape[0])))[0])


def bootstrap_agreement(
    labels: ArrayLike,
    coefficient: str = "alpha_nominal",
    *,
    categories: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    count: int = 1000,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """Return a coefficient of agreement and its bootstrap interval over items or clusters.

    Parameters
    ----------
    labels, coefficient, categories : as in `rater_agreement`
    clusters : array_like, optional, the cluster (a document, a prompt) of every item; whole
        clusters are drawn
    count, confidence, seed : resamples, coverage and seed

    Returns
    -------
    Interval, with NaN limits for a single item or cluster

    Examples
    --------
    >>> found = bootstrap_agreement([[1, 1], [2, 2], [3, 3], [3, 2]], "agreement", count=200)
    >>> found.value, found.high
    (0.75, 1.0)
    """
    statistic = choose_agreement(coefficient)
    ratings = Ratings.of(labels, categories)
    return bootstrap_statistic(
        partial(statistic, ratings),
        ratings.codes.shape[0],
        clusters,
        count=count,
        confidence=confidence,
        seed=seed,
    )
