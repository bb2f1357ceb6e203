"""Reductions of layers against naive loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.core.errors import OptionError, ShapeError
from nlgauge.measure import layers
from nlgauge.measure.cost import cosine, unit


def states(seed=0, count=4, n=5, d=3):
    return (np.random.default_rng(seed).normal(size=(count, n, d)) * 5).astype(np.float32)


def test_mean_and_power_means_against_loops():
    z = states().astype(float)
    for i in range(5):
        vectors = [z[k, i] / np.linalg.norm(z[k, i]) for k in range(4)]
        np.testing.assert_allclose(layers.mean(z)[i], sum(vectors) / 4, rtol=1e-12)
        low = [min(v[c] for v in vectors) for c in range(3)]
        high = [max(v[c] for v in vectors) for c in range(3)]
        wanted = np.r_[low, sum(vectors) / 4, high]
        np.testing.assert_allclose(layers.power_means(z)[i], wanted, rtol=1e-12)


def test_the_cosine_of_concatenated_layers_is_the_mean_of_cosines():
    x, y = states(1), states(2, n=6)
    wanted = np.mean([cosine(x[k], y[k]) for k in range(4)], axis=0)
    both = cosine(layers.concatenate(x), layers.concatenate(y))
    np.testing.assert_allclose(both, wanted, atol=1e-12)
    assert layers.concatenate(x).shape == (5, 12)


def test_one_layer_is_itself():
    z = states(3, count=1)
    np.testing.assert_allclose(layers.mean(z), unit(z[0]))
    np.testing.assert_allclose(layers.concatenate(z), unit(z[0]))
    np.testing.assert_allclose(layers.routing(z), unit(z[0]), atol=1e-12)


def naive_routing(vectors):
    """Route one token, with plain loops."""
    v, b, loss = sum(vectors) / len(vectors), np.zeros(len(vectors)), -np.inf
    for _ in range(layers.ROUTING_STEPS):
        g = np.exp(b) / np.exp(b).sum()
        gw = g * [np.exp(-((v - z) ** 2).sum() / 2) for z in vectors]
        v = sum(weight * z for weight, z in zip(gw, vectors, strict=True)) / gw.sum()
        near = np.array([np.exp(-((v - z) ** 2).sum() / 2) for z in vectors])
        b = b + near
        before, loss = loss, np.log((g * near).sum())
        if abs(loss - before) < layers.ROUTING_TOLERANCE:
            break
    return v


@pytest.mark.parametrize("seed", range(6))
def test_routing_of_one_token_against_loops(seed):
    z = states(seed, n=1)
    np.testing.assert_allclose(layers.routing(z)[0], naive_routing(list(unit(z)[:, 0])), atol=1e-9)


def test_routing_ignores_an_outlying_layer():
    rng = np.random.default_rng(5)
    base = rng.normal(size=(6, 8))
    z = np.stack([base + 0.01 * rng.normal(size=base.shape) for _ in range(4)] + [-base])
    found = layers.routing(z)
    kept = np.einsum("nd,nd->n", unit(found), unit(base))
    assert kept.min() > 0.99
    assert np.all(np.linalg.norm(found, axis=1) > np.linalg.norm(layers.mean(z), axis=1))


LENGTHS = st.one_of(st.integers(1, 8), st.integers(60, 140))  # the longer ones take several blocks


@given(seed=st.integers(0, 999), length=LENGTHS, n=st.integers(1, 10))
@settings(max_examples=50)
def test_pooling_against_loops(seed, length, n):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(length, 3)), rng.gamma(1, size=length)
    weights[rng.random(length) < 0.2] = 0
    pooled, totals = layers.pool_ngrams(points, weights, n)
    width = min(n, length)
    assert len(pooled) == len(totals) == length - width + 1
    for i in range(len(pooled)):
        w, p = weights[i : i + width], points[i : i + width]
        assert totals[i] == pytest.approx(w.sum())
        wanted = (w[:, None] * p).sum(axis=0) / w.sum() if w.sum() > 0 else p.mean(axis=0)
        np.testing.assert_allclose(pooled[i], wanted, atol=1e-12)


def test_invalid_arguments_are_refused():
    with pytest.raises(ShapeError, match=r"\(5, 3\)"):
        layers.mean(np.ones((5, 3)))
    with pytest.raises(ShapeError, match=r"at least one layer, got shape \(0, 5, 3\)"):
        layers.mean(np.ones((0, 5, 3)))
    with pytest.raises(OptionError, match="n must be at least 1"):
        layers.pool_ngrams(np.ones((2, 3)), np.ones(2), 0)
    with pytest.raises(ShapeError, match=r"\(2, 3\) and \(4,\)"):
        layers.pool_ngrams(np.ones((2, 3)), np.ones(4), 1)


def test_ngrams_have_length_1():
    rng = np.random.default_rng(1)
    points, mass = rng.normal(size=(9, 4)), rng.gamma(1, size=9)
    (block,) = layers.unit_ngrams(points, mass, layers.ngram_totals(mass, 3))
    pooled, _ = layers.pool_ngrams(points, mass, 3)
    np.testing.assert_allclose(block.shares @ points[block.tokens], unit(pooled), atol=1e-12)


def test_ngrams_of_opposite_points_have_no_direction():
    """The mean of x, y and -x - y is 0 but for rounding, whose square may be below 0."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        x, y = rng.normal(size=(2, 4))
        points, mass = np.stack([x, y, -x - y]), np.ones(3)
        totals = layers.ngram_totals(mass, 3)
        (block,) = layers.unit_ngrams(points, mass, totals)
        assert np.isfinite(block.shares).all()
