"""Expected similarities of soft greedy matching and F, against loops and by hand."""

import numpy as np
import pytest

from nlgauge.measure.precision_recall import expected_similarities, f_measure
from nlgauge.measure.problem import Problem


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


def test_f_by_hand():
    assert f_measure(0.5, 1.0, 0.5) == pytest.approx(2 / 3)
    assert f_measure(0.5, 1.0, 0.0) == 0.5
    assert f_measure(0.5, 1.0, 1.0) == 1.0
    assert f_measure(0.5, 0.25, 0.9) == pytest.approx(0.125 / 0.475)
    for alpha in (0.0, 0.5, 1.0):
        for precision, recall in ((0.0, 0.5), (0.5, 0.0), (0.0, 0.0), (-0.1, 0.5), (0.5, -0.1)):
            assert f_measure(precision, recall, alpha) == 0.0
