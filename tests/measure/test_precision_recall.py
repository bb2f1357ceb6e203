"""Expected similarities of soft greedy matching, against loops."""

import numpy as np
import pytest

from nlgauge.measure.precision_recall import expected_partners


def test_expected_partners_against_loops():
    rng = np.random.default_rng(0)
    s, a, b = rng.uniform(-1, 1, (3, 4)), np.array([0.2, 0.3, 0.5]), np.array([0.1, 0.2, 0.3, 0.4])

    def expected(rows, own, other):
        chances = [other * np.exp(row / 0.5) for row in rows]
        return sum(w * (c @ r) / c.sum() for w, c, r in zip(own, chances, rows, strict=True))

    found = expected_partners(s, a, b, 0.5)
    assert found == pytest.approx((expected(s, a, b), expected(s.T, b, a)))
