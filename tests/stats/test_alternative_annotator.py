"""The alternative annotator test: the authors' program, scipy, definitions by brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from conftest import golden
from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.alternative_annotator import (
    alternative_annotator_test,
    benjamini_yekutieli,
    wilcoxon_less,
)

pytest.importorskip("scipy", reason="the extra 'stats' is not installed")
GOLDEN = golden("alternative_annotator")
N = float("nan")


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"{len(case['judge'])} items")
def test_the_rates_of_the_authors_program(case: dict) -> None:
    people = np.array(case["people"], dtype=float)
    for epsilon, (rate, advantage) in case["rates"].items():
        found = alternative_annotator_test(
            case["judge"], people, scoring=case["scoring"], epsilon=float(epsilon)
        )
        assert found.winning_rate == pytest.approx(rate, abs=1e-12)
        assert found.advantage == pytest.approx(advantage, abs=1e-12)
        assert found.passed == (rate >= 0.5)
        assert {person.test for person in found.people} == {"t"}


def _labels(items: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=items)
    people = np.where(
        rng.random((items, 4)) < 0.4, rng.integers(4, size=(items, 4)), truth[:, None]
    )
    judge = np.where(rng.random(items) < 0.3, rng.integers(4, size=items), truth)
    return judge.astype(float), np.where(rng.random((items, 4)) < 0.1, N, people)


@pytest.mark.parametrize("scoring", ["accuracy", "rmse"])
@pytest.mark.parametrize(("items", "seed"), [(60, 0), (60, 1), (12, 2)])
def test_shares_and_p_by_brute_force(scoring: str, items: int, seed: int) -> None:
    from scipy.stats import ttest_1samp

    judge, people = _labels(items, seed)

    def score(label: float, others: list[float]) -> float:
        if scoring == "accuracy":
            return sum(label == other for other in others) / len(others)
        return -np.sqrt(sum((label - other) ** 2 for other in others) / len(others))

    found = alternative_annotator_test(judge, people, scoring=scoring, epsilon=0.15)
    for k, entry in enumerate(found.people):
        judged, human = [], []
        for i in range(items):
            others = [people[i, j] for j in range(4) if j != k and people[i, j] == people[i, j]]
            if not np.isnan(people[i, k]) and others:
                first, second = score(judge[i], others), score(people[i, k], others)
                judged.append(first >= second)
                human.append(second >= first)
        assert entry.n == len(judged)
        assert entry.judge_advantage == pytest.approx(np.mean(judged))
        assert entry.person_advantage == pytest.approx(np.mean(human))
        difference = np.array(human, float) - np.array(judged, float)
        if entry.n >= 30:
            expected = ttest_1samp(difference, 0.15, alternative="less").pvalue
            assert (entry.test, entry.p) == ("t", pytest.approx(expected, abs=1e-12))
        else:
            assert (entry.test, entry.p) == ("wilcoxon", wilcoxon_less(difference - 0.15))


def test_wilcoxon_against_scipy_and_all_signs() -> None:
    from scipy.stats import wilcoxon

    rng = np.random.default_rng(0)
    for shift in (-0.5, 0.0, 0.5):
        values = rng.normal(shift, 1, size=14)
        expected = wilcoxon(values, alternative="less").pvalue
        assert wilcoxon_less(values) == pytest.approx(expected, abs=1e-12)
    tied = np.array([-1.1, -1.1, -0.1, -0.1, -0.1, 0.9, 0.9, -0.1, -1.1])
    ranks = np.array([np.mean(np.sort(np.abs(tied)).searchsorted([abs(v)])) for v in tied])
    sizes = np.array([(np.abs(tied) == abs(v)).sum() for v in tied])
    ranks = ranks + (sizes + 1) / 2
    observed = ranks[tied > 0].sum()
    sums = [np.dot(signs, ranks) for signs in product((0, 1), repeat=tied.size)]
    assert wilcoxon_less(tied) == pytest.approx(np.mean(np.array(sums) <= observed), abs=1e-12)
    assert wilcoxon_less([0, 0]) == 1
    assert wilcoxon_less([-1] * 5) == pytest.approx(2**-5)
    assert wilcoxon_less([1] * 5) == 1


def test_benjamini_yekutieli() -> None:
    """Limits of 3 tests at .05: .05/3 x k / (1 + 1/2 + 1/3) = .0091, .0182, .0273."""
    assert benjamini_yekutieli([0.009, 0.5, 0.6]).tolist() == [True, False, False]
    assert benjamini_yekutieli([0.0095, 0.5, 0.6]).tolist() == [False, False, False]
    assert benjamini_yekutieli([0.027, 0.0272, 0.02]).tolist() == [True, True, True]
    assert benjamini_yekutieli([0.009, N, 0.6, 0.5]).tolist() == [True, False, False, False]
    assert benjamini_yekutieli([N]).tolist() == [False]


def test_a_judge_that_agrees_with_all_people() -> None:
    people = np.tile(np.arange(40.0)[:, None] % 3, (1, 3))
    same = alternative_annotator_test(people[:, 0], people, epsilon=0.1)
    assert (same.winning_rate, same.advantage) == (1, 1)  # all differences 0, below epsilon
    assert {entry.p for entry in same.people} == {0.0}
    equal = alternative_annotator_test(people[:, 0], people, epsilon=0)
    assert (equal.winning_rate, equal.passed) == (0, False)
    worse = alternative_annotator_test(people[:, 0] + 5, people, epsilon=0.2)
    assert (worse.winning_rate, worse.advantage) == (0, 0)


@pytest.mark.parametrize(("items", "test"), [(29, "wilcoxon"), (30, "t")])
def test_thirty_items_are_enough_for_the_t_test(items: int, test: str) -> None:
    judge, people = np.arange(items) % 3, np.tile(np.arange(items)[:, None] % 3, (1, 3))
    found = alternative_annotator_test(judge, people, epsilon=0.1)
    assert {entry.test for entry in found.people} == {test}


def test_people_without_items_are_not_counted() -> None:
    people = np.array([[1, 1, N], [2, 2, N], [3, 3, N], [1, 1, N], [N, N, 2]], dtype=float)
    found = alternative_annotator_test([1, 2, 3, 1, 2], people, names=["a", "b", "c"], epsilon=0.2)
    alone = found.people[2]
    assert (alone.person, alone.n, alone.wins) == ("c", 0, False)
    assert np.isnan([alone.p, alone.judge_advantage]).all()
    assert found.to_dict()["people"][2]["p"] is None
    assert found.advantage == 1


@pytest.mark.parametrize(
    ("judge", "people", "options", "error", "message"),
    [
        ([1, 2], [[1, 1], [2, 2]], {}, DataError, "at least 3 people, but there are 2"),
        ([1], [[1, 1, 1], [2, 2, 2]], {}, ShapeError, "items differ"),
        ([1], [[1, 1, 1]], {"epsilon": 1.5}, OptionError, "epsilon is 1.5"),
        ([N], [[1, 1, 1]], {}, DataError, "no item was labelled by the judge and at least 2"),
    ],
)
def test_invalid_arguments_are_refused(judge, people, options, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        alternative_annotator_test(judge, people, **options)
