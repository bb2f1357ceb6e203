"""Costs: exact zeros, and the relations between the three costs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import ShapeError
from nlgauge.measure import cost
from nlgauge.measure.cost import SNAP, cosine, euclid, squared_euclid, unit, word_order


def clouds(seed=0, n=5, m=7, d=6):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * 3, rng.normal(size=(m, d))


def test_against_loops():
    x, y = clouds()
    for i, p in enumerate(x):
        for j, q in enumerate(y):
            cos = p @ q / np.linalg.norm(p) / np.linalg.norm(q)
            assert cosine(x, y)[i, j] == pytest.approx(1 - cos)
            gap = p / np.linalg.norm(p) - q / np.linalg.norm(q)
            assert euclid(x, y)[i, j] == pytest.approx(np.linalg.norm(gap))
            assert squared_euclid(x, y)[i, j] == pytest.approx(gap @ gap)
            raw = squared_euclid(x, y, normalise=False)[i, j]
            assert raw == pytest.approx(((p - q) ** 2).sum())


@pytest.mark.parametrize("cells", [1, 14, 1 << 19])
def test_costs_are_the_same_for_any_size_of_blocks(cells, monkeypatch):
    x, y = clouds()
    expected = [cosine(x, y), squared_euclid(x, y, normalise=False)]
    monkeypatch.setattr(cost, "BLOCK_CELLS", cells)
    found = [cosine(x, y), squared_euclid(x, y, normalise=False)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    blocks = [np.arange(5)[part] for part in cost.row_blocks(5, 7)]
    np.testing.assert_array_equal(np.concatenate(blocks), np.arange(5))
    assert {len(each) for each in blocks[:-1]} <= {max(1, cells // 7)}


@pytest.mark.parametrize("measure", [cosine, euclid, squared_euclid])
def test_equal_points_cost_exactly_nothing_despite_encoder_noise(measure):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 384)).astype(np.float32)
    noisy = (x * (1 + 1e-7 * rng.normal(size=x.shape))).astype(np.float32)
    assert np.all(np.diag(measure(x, noisy)) == 0)
    assert np.all(measure(x, noisy) >= 0)
    off = measure(x, noisy)[~np.eye(40, dtype=bool)]
    assert off.min() > 0.1


def test_the_threshold_is_the_documented_one():
    def apart(squared):
        return np.array([[0.0, 0.0]]), np.array([[np.sqrt(squared), 0.0]])

    assert squared_euclid(*apart(SNAP / 2), normalise=False)[0, 0] == 0
    assert squared_euclid(*apart(SNAP * 2), normalise=False)[0, 0] == pytest.approx(SNAP * 2)


def test_a_zero_vector_is_one_away_from_everything():
    x = np.array([[0.0, 0.0], [1.0, 2.0]])
    np.testing.assert_array_equal(cosine(x, x)[0], [1.0, 1.0])
    np.testing.assert_array_equal(unit(x)[0], [0.0, 0.0])


def test_float64_comes_out_of_float32():
    x, y = (part.astype(np.float32) for part in clouds())
    for measure in (cosine, euclid, squared_euclid):
        assert measure(x, y).dtype == np.float64


@given(n=st.integers(1, 12), m=st.integers(1, 12))
def test_word_order(n, m):
    matrix = word_order(n, m, weight=0.2)
    assert matrix.shape == (n, m)
    assert matrix[0, 0] == 0
    for i in range(n):
        for j in range(m):
            left = i / (n - 1) if n > 1 else 0.0
            right = j / (m - 1) if m > 1 else 0.0
            assert matrix[i, j] == pytest.approx(0.2 * abs(left - right))


def test_invalid_arguments_are_refused():
    with pytest.raises(ShapeError, match=r"\(2, 3\) and \(2, 4\)"):
        cosine(np.ones((2, 3)), np.ones((2, 4)))
