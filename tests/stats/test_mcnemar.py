"""McNemar's test against enumeration, numbers of scipy, and the coverage of its interval."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from nlgauge.core.errors import DataError, ShapeError
from nlgauge.stats import mcnemar, paired_permutation


def outcomes(b: int, c: int, both: int = 3, neither: int = 2) -> tuple[list[int], list[int]]:
    """Return outcomes of two systems, b solved by the first only and c by the second only."""
    return (
        [1] * b + [0] * c + [1] * both + [0] * neither,
        [0] * b + [1] * c + [1] * both + [0] * neither,
    )


# scipy.stats.binomtest(b, b + c, 0.5).pvalue of scipy 1.17.1
SCIPY = {
    (3, 0): 0.25,
    (10, 3): 0.09228515625,
    (2, 7): 0.1796875,
    (100, 70): 0.025844387581341693,
    (1000, 1100): 0.03072070786424249,
    (100_000, 101_000): 0.02586239243973295,
}


@pytest.mark.parametrize(("b", "c"), SCIPY)
def test_exact_p_is_that_of_the_binomial_test(b: int, c: int) -> None:
    assert mcnemar(*outcomes(b, c)).p == pytest.approx(SCIPY[b, c], rel=1e-8)


@pytest.mark.parametrize(("b", "c"), [*itertools.product(range(6), repeat=2)])
def test_both_p_equal_enumeration(b: int, c: int) -> None:
    gap = abs(b - c)
    sums = [abs(sum(signs)) for signs in itertools.product((-1, 1), repeat=b + c)]
    larger, equal = (sum(s > gap for s in sums), sum(s == gap for s in sums))
    assert mcnemar(*outcomes(b, c)).p == pytest.approx((larger + equal) / len(sums), rel=1e-12)
    mid = 1.0 if gap == 0 else (larger + equal / 2) / len(sums)
    assert mcnemar(*outcomes(b, c), mid_p=True).p == pytest.approx(mid, rel=1e-12)


@pytest.mark.parametrize(("b", "c"), [(5, 2), (0, 4), (7, 7), (1, 9), (0, 0)])
def test_it_is_the_exact_permutation_test_of_means(b: int, c: int) -> None:
    first, second = outcomes(b, c)
    found = paired_permutation(first, second, lambda total: float(total[0]))
    assert found.p == pytest.approx(mcnemar(first, second).p, rel=1e-12)


def test_equal_systems_have_p_1_and_the_method_is_named() -> None:
    same = [1, 0, 1, 1]
    for mid_p, method in ((False, "McNemar's exact test"), (True, "McNemar's mid-p test")):
        found = mcnemar(same, same, mid_p=mid_p)
        assert (found.p, found.difference, found.method, found.count) == (1.0, 0.0, method, 0)
        assert found.interval.low < 0 < found.interval.high


def test_difference_and_interval_by_hand() -> None:
    found = mcnemar(*outcomes(6, 1, both=2, neither=1))  # n = 10
    assert found.difference == pytest.approx(0.5)
    # (6 + 1) / 12 = 7 / 12 and (1 + 1) / 12 = 2 / 12: 5 / 12 +- 1.96 sqrt((9/12 - 25/144) / 12)
    half = 1.959963984540054 * math.sqrt((9 / 12 - 25 / 144) / 12)
    assert found.interval.low == pytest.approx(5 / 12 - half)
    assert found.interval.high == pytest.approx(5 / 12 + half)


@pytest.mark.parametrize(("only_first", "only_second"), [(0.1, 0.1), (0.3, 0.1), (0.05, 0.3)])
def test_the_interval_covers_95_percent(only_first: float, only_second: float) -> None:
    n, rest = 40, 1 - only_first - only_second
    covered = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            ways = math.comb(n, b) * math.comb(n - b, c)
            chance = ways * only_first**b * only_second**c * rest ** (n - b - c)
            if chance > 1e-9:
                interval = mcnemar(*outcomes(b, c, n - b - c, 0)).interval
                covered += chance * (interval.low <= only_first - only_second <= interval.high)
    assert 0.93 < covered < 0.98


def test_invalid_outcomes_are_refused() -> None:
    with pytest.raises(DataError, match=r"2 of 3 scores of second are not 0 or 1 \(such as 0.5\)"):
        mcnemar([1, 0, 1], [0.5, 0, 2])
    with pytest.raises(DataError, match="1 of 2 scores of first"):
        mcnemar([1, np.nan], [0, 1])
    with pytest.raises(ShapeError, match="3 outcomes, the second 2"):
        mcnemar([1, 0, 1], [0, 1])
    with pytest.raises(ShapeError, match=r"shape \(0,\)"):
        mcnemar([], [])
