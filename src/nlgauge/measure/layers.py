"""Many layers of one text reduced to one cloud: states [layers, tokens, d] to points [tokens, D].

Layers of a transformer differ in length by an order of magnitude, so every reduction first scales
each layer's vectors to length 1, as the public implementations of MoverScore and BaryScore do.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError, ShapeError
from nlgauge.measure.cost import unit

NGRAMS_AT_ONCE = 64  # of a product of matrices
ROUTING_TOLERANCE, ROUTING_STEPS = 1e-6, 2000


class Shares(NamedTuple):
    """Consecutive n-grams, the tokens that they consist of, and their shares [grams, tokens]."""

    grams: slice
    tokens: slice
    shares: Floats


def mean(states: ArrayLike) -> Floats:
    """Return the mean of the unit-normalised layers, [tokens, d]."""
    return np.asarray(_layers(states).mean(axis=0))


def concatenate(states: ArrayLike, *, length: float = 1.0) -> Floats:
    """Return the layers, scaled to this length, side by side; their cosine is the mean of all."""
    layers, tokens, d = (by_layer := _check_layers(states)).shape
    by_token = unit(by_layer.swapaxes(0, 1), length=length)  # in the order of the result: one copy
    return by_token.reshape(tokens, layers * d)


def join(states: ArrayLike) -> Floats:
    """Return unit vectors whose cosine is the mean of the layers' cosines."""
    return concatenate(states, length=1 / np.sqrt(max(len(np.asarray(states)), 1)))


def power_means(states: ArrayLike) -> Floats:
    """Return minimum, mean and maximum over the unit-normalised layers (MoverScore Eq. 4)."""
    layers = _layers(states)
    return np.concatenate([layers.min(axis=0), layers.mean(axis=0), layers.max(axis=0)], axis=1)


def routing(states: ArrayLike) -> Floats:
    """Return one point for each token, where its layers agree most (MoverScore, Algorithm 1).

    From v = mean of the layers z_i and logits b = 0, repeat with k_i = exp(-||v - z_i||^2 / 2):
    g = softmax(b), v = sum g_i k_i z_i / sum g_i k_i, b_i += k_i, until ln sum g_i k_i is constant
    or the steps are used up (its changes fall with the square of the steps).
    The paper's update lacks g in the denominator and would shrink v to 0; it states neither
    bandwidth, rate nor number of steps.
    """
    z = _layers(states)
    v: Floats = z.mean(axis=0)
    logits = np.zeros(z.shape[:2])
    kernels = _gaussian(z, v)
    loss = np.full(z.shape[1], -np.inf)
    for _ in range(ROUTING_STEPS):
        shares = np.exp(logits - logits.max(axis=0))
        shares /= shares.sum(axis=0)
        weights = shares * kernels
        v = np.einsum("ln,lnd->nd", weights / weights.sum(axis=0), z)
        kernels = _gaussian(z, v)
        logits += kernels
        before, loss = loss, np.log((shares * kernels).sum(axis=0))
        if np.abs(loss - before).max(initial=0.0) < ROUTING_TOLERANCE:
            break
    return v


def _gaussian(z: Floats, v: Floats) -> Floats:
    """Return exp(-||z - v||^2 / 2) of each layer."""
    return np.asarray(np.exp(((z - v) ** 2).sum(axis=2) / -2))


def pool_ngrams(points: ArrayLike, weights: ArrayLike, n: int) -> tuple[Floats, Floats]:
    """Return the weighted means of n consecutive points, and the summed weights of each window.

    MoverScore Eq. 1 and 2, for points [tokens, d] or [layers, tokens, d]. A text shorter than n is
    one window; one without weight gets its mean.
    """
    cloud, mass = np.asarray(points, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if cloud.ndim not in (2, 3) or mass.shape != cloud.shape[-2:-1] or not len(mass):
        raise ShapeError(
            f"pooling needs points [tokens, d] and one weight for each of at least one token, "
            f"got shapes {cloud.shape} and {mass.shape}."
        )
    if n < 1:
        raise OptionError(f"n must be at least 1, got {n}.")
    if n == 1:  # nothing to average
        return cloud, mass
    totals = ngram_totals(mass, n)
    means = np.empty((*cloud.shape[:-2], len(totals), cloud.shape[-1]))
    for grams, tokens, shares in ngram_shares(mass, totals):
        # A fourth of the time of sums of shifted vectors (26 tokens), although most shares are 0.
        np.matmul(shares, cloud[..., tokens, :], out=means[..., grams, :])
    return means, totals


def ngram_totals(mass: Floats, n: int) -> Floats:
    """Return the summed weights of n consecutive tokens, or of all if there are fewer."""
    return np.convolve(mass, np.ones(min(n, len(mass))), "valid")


def ngram_shares(mass: Floats, totals: Floats) -> Iterator[Shares]:
    """Yield blocks of n-grams as mixtures of tokens, given the weights of tokens and n-grams."""
    width = len(mass) - len(totals) + 1
    for start in range(0, len(totals), NGRAMS_AT_ONCE):
        grams = slice(start, min(start + NGRAMS_AT_ONCE, len(totals)))
        tokens = slice(start, grams.stop + width - 1)
        total = totals[grams, None]
        windows = _windows(width)[: grams.stop - start, : tokens.stop - start]
        shares = windows * np.where(total > 0, mass[tokens], 1.0)
        shares /= np.where(total > 0, total, width)
        yield Shares(grams, tokens, shares)


@lru_cache(maxsize=8)
def _windows(width: int) -> Floats:
    """Return 1 where a token belongs to an n-gram, for a block of n-grams."""
    shape = NGRAMS_AT_ONCE, NGRAMS_AT_ONCE + width - 1
    return np.tri(*shape, width - 1) - np.tri(*shape, -1)


def unit_ngrams(points: Floats, mass: Floats, totals: Floats) -> list[Shares]:
    """Return the n-grams as mixtures of the points of tokens [tokens, d], of length 1."""
    blocks = []
    for grams, tokens, shares in ngram_shares(mass, totals):
        products = points[tokens] @ points[tokens].T
        lengths = np.sqrt(np.maximum(((shares @ products) * shares).sum(axis=1, keepdims=True), 0))
        blocks.append(Shares(grams, tokens, shares / np.where(lengths > 0, lengths, 1.0)))
    return blocks


def _layers(states: ArrayLike) -> Floats:
    return unit(_check_layers(states))


def _check_layers(states: ArrayLike) -> Floats:
    layers = np.asarray(states)
    if layers.ndim != 3 or not len(layers):
        raise ShapeError(
            f"layers must be an array [layers, tokens, d] with at least one layer, "
            f"got shape {layers.shape}."
        )
    return layers


AGGREGATES: dict[str, Callable[[ArrayLike], Floats]] = {
    "concat": concatenate,
    "pmeans": power_means,
    "mean": mean,
    "routing": routing,
}
