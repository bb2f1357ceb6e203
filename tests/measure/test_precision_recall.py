"""Expected similarities of soft greedy matching and F, against loops and by hand."""

import numpy as np
import pytest

from nlgauge.measure.precision_recall import best_partners, expected_similarities, f_measure
from nlgauge.measure.problem import Problem
from nlgauge.measure.transport import match


def expected_partners(similarity, a, b, temperature):
    """Return precision and recall."""
    problem = Problem(similarity, a, b).without_zeros()
    return tuple(expected_similarities([problem, problem.transposed()], temperature))


def test_expected_similarities_against_loops():
    rng = np.random.default_rng(0)
    s, a, b = rng.uniform(-1, 1, (3, 4)), np.array([0.2, 0.3, 0.5]), np.array([0.1, 0.2, 0.3, 0.4])

    def expected(rows, own, other):
        chances = [other * np.exp(row / 0.5) for row in rows]
        return sum(w * (c @ r) / c.sum() for w, c, r in zip(own, chances, rows, strict=True))

    found = expected_partners(s, a, b, 0.5)
    assert found == pytest.approx((expected(s, a, b), expected(s.T, b, a)))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([0.5, 0.5, 0.0], [1.0, 0.0], (0.5 * 0.2 + 0.5 * 0.4, 0.4)),
        ([0.5, 0.5, 0.0], [0.5, 0.5], (0.5 * 0.9 + 0.5 * 0.8, 0.5 * 0.4 + 0.5 * 0.9)),
        ([0.2, 0.3, 0.5], [1.0, 0.0], (0.2 * 0.2 + 0.3 * 0.4 + 0.5 * 0.5, 0.5)),
    ],
)
def test_a_token_without_weight_is_no_partner(a, b, expected):
    """At a low temperature every token has the most similar partner that has weight."""
    similarity = np.array([[0.2, 0.9], [0.4, 0.8], [0.5, 0.1]])
    found = expected_partners(similarity, np.array(a), np.array(b), 1e-4)
    assert found == pytest.approx(expected)


def problem():
    rng = np.random.default_rng(3)
    return rng.uniform(-1, 1, (6, 4)), rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(4))


@pytest.mark.parametrize("temperature", [1e-12, 0.1, 2.0, 1e6])
def test_expected_similarities_are_those_of_the_two_plans(temperature):
    similarity, a, b = problem()
    precision, recall = expected_partners(similarity, a, b, temperature)
    options = {"epsilon": temperature}
    rows = match(1 - similarity, a, b, penalty_b=0, **options)
    columns = match(1 - similarity, a, b, penalty_a=0, **options)
    assert precision == pytest.approx(1 - rows.value, abs=1e-12)
    assert recall == pytest.approx(1 - columns.value, abs=1e-12)


def test_limits_are_the_best_and_the_mean_similarity():
    similarity, a, b = problem()
    assert expected_partners(similarity, a, b, 1e-9) == pytest.approx(
        best_partners(similarity, a, b), abs=1e-12
    )
    mean = a @ similarity @ b
    assert expected_partners(similarity, a, b, 1e6) == pytest.approx((mean, mean), abs=1e-5)


def test_tokens_without_weight_are_left_out():
    similarity, a, b = problem()
    a[2], b[1] = 0, 0
    kept = similarity[np.ix_(a > 0, b > 0)], a[a > 0], b[b > 0]
    assert expected_partners(similarity, a, b, 1e-12) == expected_partners(*kept, 1e-12)


def test_f_by_hand():
    assert f_measure(0.5, 1.0, 0.5) == pytest.approx(2 / 3)
    assert f_measure(0.5, 1.0, 0.0) == 0.5
    assert f_measure(0.5, 1.0, 1.0) == 1.0
    assert f_measure(0.5, 0.25, 0.9) == pytest.approx(0.125 / 0.475)
    for alpha in (0.0, 0.5, 1.0):
        for precision, recall in ((0.0, 0.5), (0.5, 0.0), (0.0, 0.0), (-0.1, 0.5), (0.5, -0.1)):
            assert f_measure(precision, recall, alpha) == 0.0
