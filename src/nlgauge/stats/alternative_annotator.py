"""The alternative annotator test: may a judge replace one of the human annotators?

Calderon, Reichart and Dror 2025 (arXiv 2501.10970). Each person in turn is left out, and judge and
person are compared with the labels of the others on every item. The null hypothesis for a person is
that the share of items on which the judge is as good as or better than the person is smaller by at
least epsilon than the share on which the person is as good as or better than the judge. Epsilon is
the advantage granted to the judge for its lower cost.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Bools, Floats, Ints
from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.stats.coefficients import TOLERANCE, divide
from nlgauge.stats.validation import as_floats, check_share, require_scipy

Scoring = Literal["accuracy", "rmse"]
MIN_PEOPLE = 3
"""Minimum number of people, so that at least two remain when one is left out."""
MIN_ITEMS_OF_T_TEST = 30
"""Minimum number of items for the t-test; with fewer, the authors advise Wilcoxon's test."""


@dataclass(frozen=True)
class LeftOutPerson:
    """The judge against one person, both compared with the other people."""

    person: str
    n: int
    """Items that judge, person and another person labelled."""
    judge_advantage: float
    """Share of items on which the judge is as close to the others as this person, or closer."""
    person_advantage: float
    """The same share for the person."""
    p: float
    """One-sided p; NaN without items."""
    test: str
    """"t" or "wilcoxon" (signed ranks, exact)."""
    wins: bool
    """Whether the judge wins after the correction for several people."""


@dataclass(frozen=True)
class AlternativeAnnotatorTest:
    """Whether a judge may replace a person, at the given epsilon."""

    epsilon: float
    winning_rate: float
    """Omega: share of people against whom the judge wins."""
    advantage: float
    """Rho: mean over people of the judge's advantage."""
    passed: bool
    """Whether omega is at least .5."""
    scoring: Scoring
    people: tuple[LeftOutPerson, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        content: dict[str, Any] = to_jsonable(asdict(self))
        return content


def alternative_annotator_test(
    judge: ArrayLike,
    people: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    scoring: Scoring = "accuracy",
    epsilon: float = 0.1,
    alpha: float = 0.05,
) -> AlternativeAnnotatorTest:
    """Return the alternative annotator test of a judge.

    An item counts for a person if judge, person and at least one other person labelled it. With 30
    items or more, a person's p is that of a one-sided t-test of the differences between person and
    judge against epsilon; with fewer, that of Wilcoxon's signed-rank test, exact and with mean
    ranks of ties. p is corrected for several people by the false discovery rate of Benjamini and
    Yekutieli. (The authors' program leaves out people with fewer than 30 items.)

    Parameters
    ----------
    judge : array_like, one label per item, NaN for none
    people : array_like, items x people
    names : sequence of str, optional, the names of the people
    scoring : "accuracy", the share of the others with the same label, or "rmse", the root mean
        squared difference from them, for ordered labels
    epsilon : float, 0 to 1; the authors advise .2 for experts, .15 for trained people and .1 for
        crowd workers
    alpha : float, rate of false discoveries

    Returns
    -------
    AlternativeAnnotatorTest

    Raises
    ------
    DataError, ShapeError
        For fewer than 3 people, or if no item counts for any person; for another number of judge's
        labels or of names.
    OptionError
        For an unknown scoring, and for epsilon or alpha out of range.

    Examples
    --------
    >>> people = [[1, 1, 1], [2, 2, 1], [3, 3, 3], [1, 2, 1], [2, 2, 2], [3, 3, 1], [1, 1, 1]]
    >>> found = alternative_annotator_test([1, 2, 3, 1, 2, 3, 1], people, epsilon=0.2)
    >>> found.winning_rate, round(found.advantage, 3), found.passed
    (1.0, 1.0, True)
    """
    first, others = as_floats(judge, "judge"), as_floats(people, "people")
    if others.ndim != 2 or first.shape != others.shape[:1]:
        raise ShapeError(f"the judge has shape {first.shape}, people {others.shape}: items differ.")
    if others.shape[1] < MIN_PEOPLE:
        raise DataError(
            f"the alternative annotator test needs at least {MIN_PEOPLE} people, but there are "
            f"{others.shape[1]}; let more people label the same items."
        )
    if not 0 <= epsilon <= 1:
        raise OptionError(f"epsilon is {epsilon:g}; it lies between 0 and 1, .1 to .2 is usual.")
    check_share("alpha", alpha, ".05")
    if scoring not in get_args(Scoring):
        raise OptionError(f"scoring is {scoring!r}; it is 'accuracy' or 'rmse'.")
    require_scipy("the alternative annotator test")
    annotators = names or [str(k + 1) for k in range(others.shape[1])]
    if len(annotators) != others.shape[1]:
        raise ShapeError(f"{others.shape[1]} people have {len(annotators)} names; give each one.")
    compared = [_compare(first, others, k, scoring) for k in range(others.shape[1])]
    tests = [_test((person * 1.0 - judged), epsilon) for judged, person in compared]
    p = np.array([value for value, _ in tests])
    wins = benjamini_yekutieli(p, alpha)
    entries = tuple(
        LeftOutPerson(
            name, judged.size, _share(judged), _share(person), float(value), test, bool(won)
        )
        for name, (judged, person), (value, test), won in zip(
            annotators, compared, tests, wins, strict=True
        )
    )
    tested = [entry for entry in entries if entry.n]
    if not tested:
        raise DataError(
            "no item was labelled by the judge and at least 2 people, so that nobody can be "
            "compared; use the same item ids for all."
        )
    rate = sum(entry.wins for entry in tested) / len(tested)
    advantage = float(np.mean([entry.judge_advantage for entry in tested]))
    return AlternativeAnnotatorTest(epsilon, rate, advantage, rate >= 0.5, scoring, entries)


def _share(outcomes: Bools) -> float:
    return float(outcomes.mean()) if outcomes.size else float("nan")


def _compare(judge: Floats, people: Floats, person: int, scoring: Scoring) -> tuple[Bools, Bools]:
    """Return on which of the items judge and person are as close to the others, or closer."""
    other_labels = np.delete(people, person, axis=1)
    person_labels = people[:, person]
    count = (~np.isnan(other_labels)).sum(axis=1)
    comparable = ~np.isnan(judge) & ~np.isnan(person_labels) & (count > 0)
    distances = []
    for label in (judge, person_labels):
        gap = label[:, None] - other_labels
        gap = np.where(gap == 0, 0.0, 1.0) if scoring == "accuracy" else gap**2
        gap[np.isnan(other_labels)] = 0.0
        distances.append(divide(gap.sum(axis=1), count)[comparable])
    judged, human = distances
    slack = TOLERANCE * np.maximum(judged, human)  # equal distances may differ by rounding
    return judged <= human + slack, human <= judged + slack


def _test(differences: Floats, epsilon: float) -> tuple[float, str]:
    """Return the one-sided p of "the mean difference is less than epsilon", and the test's name."""
    n = differences.size
    if n == 0:
        return float("nan"), ""
    if n < MIN_ITEMS_OF_T_TEST:
        return wilcoxon_less(differences - epsilon), "wilcoxon"
    from scipy.special import stdtr  # unlike scipy.stats, imported in an instant

    mean, deviation = differences.mean() - epsilon, differences.std(ddof=1)
    if deviation == 0:  # all items are equal: t is infinite, or undefined at exactly epsilon
        return (0.0 if mean < 0 else 1.0), "t"
    return float(stdtr(n - 1, mean / (deviation / np.sqrt(n)))), "t"


def wilcoxon_less(differences: ArrayLike) -> float:
    """Return the exact p of Wilcoxon's signed-rank test that differences are below 0.

    Zeros are left out and ties share their mean rank. p is the share of the 2^n assignments of
    signs with a sum of positive ranks as small as the observed one or smaller.
    """
    values = np.asarray(differences, dtype=np.float64)
    values = values[values != 0]
    if values.size == 0:
        return 1.0
    # Differences of -1, 0 and 1 minus epsilon: equal ones may differ by rounding.
    _, place, size = np.unique(np.abs(values).round(9), return_inverse=True, return_counts=True)
    doubled: Ints = (2 * np.cumsum(size) - size + 1)[place]  # twice the mean ranks, whole numbers
    probabilities = np.ones(1)
    for rank in doubled:
        shifted = np.zeros(probabilities.size + int(rank))
        shifted[: probabilities.size] += probabilities
        shifted[int(rank) :] += probabilities
        probabilities = shifted / 2
    observed = int(doubled[values > 0].sum())
    return float(min(1.0, probabilities[: observed + 1].sum()))


def benjamini_yekutieli(p_values: ArrayLike, alpha: float = 0.05) -> Bools:
    """Return which hypotheses are rejected at a false discovery rate, whatever their dependence.

    Those with the k smallest p, for the largest k with p(k) <= k alpha / (m sum of 1/i for i to m).
    NaN is not tested, and does not count among the m.
    """
    p = np.asarray(p_values, dtype=np.float64)
    tested = np.sort(p[~np.isnan(p)])
    m = tested.size
    ranks = np.arange(1, m + 1)
    below = tested <= ranks * alpha / (m * (1 / ranks).sum())
    limit = tested[below].max() if below.any() else -1.0
    return np.asarray(p <= limit)
