"""The published algorithms as their authors run them: pair by pair, with POT or numpy calls.

Each takes the states [layers, tokens, d] of two texts. The encoder is timed separately.
"""

import warnings

import numpy as np
import ot

Floats = np.ndarray


def mover_v2(x: Floats, y: Floats) -> float:
    """MoverScore v2: Euclid between unit vectors of the last layer, exact transport."""
    left, right = _unit(x[-1]), _unit(y[-1])
    return float(ot.emd2(_even(left), _even(right), ot.dist(left, right, metric="euclidean")))


BLURS = (10, 1, 5, 1, 0.1, 0.5, 0.01, 0.001)  # 1 occurs twice in the published list


def bary_published(x: Floats, y: Floats) -> list[float]:
    """All that BaryScore's published code computes for a pair: W, and a Sinkhorn cost per blur."""
    left, right = _centres(x, y)
    cost, a, b = ot.dist(left, right), _even(left), _even(right)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # the smallest blur underflows, as it does there
        blurred = [
            float(ot.sinkhorn2(a, b, cost, reg=blur, numItermax=10_000, warn=False))
            for blur in BLURS
        ]
    return [float(ot.emd2(a, b, cost)), *blurred]


def bary(x: Floats, y: Floats) -> float:
    """BaryScore without other outputs: the two barycenters, then exact transport."""
    left, right = _centres(x, y)
    return float(ot.emd2(_even(left), _even(right), ot.dist(left, right)))


def _centres(x: Floats, y: Floats) -> list[Floats]:
    """POT's free-support barycenter of the layers of each text, starting at the origin."""
    centres = []
    for states in (_unit(x), _unit(y)):
        weights = [_even(layer) for layer in states]
        start = np.zeros(states.shape[1:])
        centres.append(ot.lp.free_support_barycenter(list(states), weights, start))
    return centres


def bary_fixed_point(states: Floats, mass: Floats, tolerance: float = 1e-10) -> Floats:
    """A barycenter of weighted layers: the plain fixed-point loop with ``ot.emd``."""
    layers = _unit(states)
    points, best, before = layers.mean(axis=0), layers[0], np.inf
    even = _even(points)
    while True:
        plans, value = [], 0.0
        for layer in layers:
            cost = ot.dist(points, layer)
            plans.append(ot.emd(even, mass, cost))
            value += float((plans[-1] * cost).sum()) / len(layers)
        if value >= before:
            return best
        best = points
        if before - value <= tolerance * value:
            return best
        before = value
        pulls = [len(points) * plan @ layer for plan, layer in zip(plans, layers, strict=True)]
        points = np.mean(pulls, axis=0)


def depth(x: Floats, y: Floats, *, count: int = 10_000, levels: int = 5, p: float = 5) -> float:
    """DepthScore: fresh directions for every pair, ranks, and the support of trimmed regions."""
    left, right = _unit(x[-1]), _unit(y[-1])
    source = np.random.RandomState(0)
    dimension = left.shape[1]
    drawn = []
    for _ in range(2):
        normal = source.multivariate_normal(np.zeros(dimension), np.eye(dimension), size=count)
        drawn.append(normal / np.linalg.norm(normal, axis=1, keepdims=True))
    supports = []
    for cloud in (left, right):
        n = len(cloud)
        ranks = np.argsort(np.argsort(cloud @ drawn[0].T, axis=0), axis=0) + 1
        depths = (np.minimum(ranks, n - ranks) / n).mean(axis=1)
        cuts = np.percentile(depths, np.linspace(30, 100, levels))
        projected = cloud @ drawn[1].T
        supports.append(np.stack([projected[depths >= cut].max(axis=0) for cut in cuts]))
    return float((np.abs(supports[0] - supports[1]) ** p).max(axis=1).mean() ** (1 / p))


def lazy_emd(cost: Floats, *, epsilon: float, penalties: tuple[float, float]) -> Floats:
    """Lazy-EMD's entropic plan by POT's unbalanced Sinkhorn, to marginals as exact as ours."""
    n, m = cost.shape
    return ot.unbalanced.sinkhorn_unbalanced(
        np.full(n, 1 / n),
        np.full(m, 1 / m),
        cost,
        epsilon,
        penalties,
        method="sinkhorn",
        reg_type="entropy",
        numItermax=20_000,
        stopThr=1e-10,
    )


def _unit(states: Floats) -> Floats:
    points = np.asarray(states, dtype=np.float64)
    return points / np.linalg.norm(points, axis=-1, keepdims=True)


def _even(points: Floats) -> Floats:
    return np.full(len(points), 1 / len(points))
