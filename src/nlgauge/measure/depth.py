"""Distances of two clouds: by depth-trimmed regions, sliced Wasserstein, and MMD.

    IRW depth      D(x) = E_u min( F_u(<u, x>), 1 - F_u(<u, x>-) ),  u uniform on the sphere
    region         R(alpha) = the points at least as deep as the alpha-quantile of their own cloud
    support        h(u) = max over the region of <u, x>
    DR_{p,eps}     ( mean over alpha in [eps, 1] of  sup_u |h_X(u) - h_Y(u)|^p )^{1/p}

after Staerman et al. 2021 (arXiv 2103.12711), whose integral over alpha is taken as a mean over
`levels` equidistant values. F_u is the empirical distribution of the projections and x- its left
limit, without which the last of n points on a line would have depth 0 and the first 1/n.
Depth is the same along u and -u, so only the support functions need both.

Clouds of a few dozen points share one matrix product with the directions, which halves its time.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError, ShapeError
from nlgauge.kernels import depth as kernels
from nlgauge.measure.cost import squared_euclid

TIE = 1e-12  # projections and depths closer than this are equal
CUTOFF = 1e-8  # eigenvalues below this share of the largest are rounding
BANDWIDTH = 0.05  # of the kernel of MMD
BATCH_POINTS = 256  # projected at once; 64 take a sixth longer, 1024 a tenth less
MIN_SORTED = 384  # points whose ranks are found by sorting, not by counting
SORTED_DIRECTIONS = 128  # at a time
MIN_SHARED = 2**19  # least size of the directions for which clouds share a product


@dataclass(frozen=True, eq=False)
class Regions:
    """The support functions of a cloud's trimmed regions along shared directions."""

    support: Floats  # [2, levels, directions]: along u, then along -u
    depths: Floats


@lru_cache(maxsize=64)
def directions(dimension: int, count: int, seed: int) -> Floats:
    """Return `count` unit vectors, uniform on the sphere, the same for the same arguments."""
    if dimension < 1 or count < 1:
        raise OptionError(
            f"directions need a dimension and a count of at least 1, got {dimension} and {count}."
        )
    vectors = np.random.default_rng(seed).standard_normal((count, dimension))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors.flags.writeable = False
    return vectors


def irw(points: ArrayLike, *, count: int = 5000, seed: int = 0) -> Floats:
    """Return the depth of each point in its own cloud, in (0, 1]; duplicates share ranks."""
    _, projected = next(_project([_cloud(points)], count, seed))
    return _depths(projected, count)


def ai_irw(points: ArrayLike, *, count: int = 5000, seed: int = 0) -> Floats:
    """Return the affine-invariant depth: IRW of the cloud whitened in its span."""
    # No more points than dimensions whiten to a regular simplex, where all are equally deep.
    cloud = whiten(points)
    if cloud.shape[1] == 0:  # all points are equal
        return np.ones(len(cloud))
    return irw(cloud, count=count, seed=seed)


def whiten(points: ArrayLike) -> Floats:
    """Return the centred cloud with unit variance along each principal direction it extends in."""
    cloud = _cloud(points)
    scores, singular, _ = np.linalg.svd(cloud - cloud.mean(axis=0), full_matrices=False)
    scale = max(float(np.abs(cloud).max()), np.finfo(float).tiny)
    real = singular**2 > max(CUTOFF * singular[0] ** 2, (TIE * scale) ** 2)
    return np.asarray(scores[:, real] * np.sqrt(len(cloud)))


def regions_of(
    clouds: Iterable[ArrayLike],
    *,
    depth: str = "irw",
    count: int = 5000,
    seed: int = 0,
    eps: float = 0.3,
    levels: int = 5,
) -> Iterator[Regions]:
    """Yield the trimmed regions of each cloud; faster than one call per cloud."""
    if depth not in ("irw", "ai_irw"):
        raise OptionError(f"depth must be 'irw' or 'ai_irw', got {depth!r}.")
    if not 0 <= eps < 1 or levels < 1:
        raise OptionError(f"eps must lie in [0, 1) and levels be at least 1, got {eps}, {levels}.")
    shares = np.linspace(eps, 1.0, levels)
    for cloud, projected in _project(map(_cloud, clouds), count, seed):
        is_irw = depth == "irw"
        depths = _depths(projected, count) if is_irw else ai_irw(cloud, count=count, seed=seed)
        yield Regions(_supports(projected, depths, shares, count), depths)


def region_distance(x: Regions, y: Regions, *, p: float = 5.0) -> float:
    """Return DR_{p,eps} of two clouds trimmed alike: symmetric, and 0 for equal ones."""
    hausdorff = np.abs(x.support - y.support).max(axis=(0, 2))
    largest = float(hausdorff.max())
    if largest < TIE:
        return 0.0
    mean = float(((hausdorff / largest) ** p).mean())  # powers of small distances would be 0
    return largest * math.pow(mean, 1.0 / p)


def sliced_wasserstein(x: ArrayLike, y: ArrayLike, *, count: int = 5000, seed: int = 0) -> float:
    """Return the root of mean_u W2^2(<u, x>, <u, y>) of two clouds whose points weigh the same."""
    first, second = _check_pair(x, y)
    n, m = len(first), len(second)
    # On a line optimal transport couples equal quantiles. Their levels in units of 1/(n m) are
    # whole numbers, the same for all directions.
    steps = np.union1d(np.arange(n) * m, np.arange(m) * n)
    widths = np.diff(np.append(steps, n * m)) / (n * m)
    projections = directions(first.shape[1], count, seed).T
    first_quantiles = np.sort(first @ projections, axis=0)[steps // m]
    second_quantiles = np.sort(second @ projections, axis=0)[steps // n]
    return math.sqrt(widths @ ((first_quantiles - second_quantiles) ** 2).mean(axis=1))


def mmd(x: ArrayLike, y: ArrayLike) -> float:
    """Return the squared maximum mean discrepancy of two clouds whose points weigh the same.

    It is mean K(x, x) - 2 mean K(x, y) + mean K(y, y) with K = exp(-||x - y||^2 / (2 BANDWIDTH^2)),
    the biased estimate, of which nlg_eval (through geomloss, blur .05) reports one half.
    """
    first, second = _check_pair(x, y)

    def mean_kernel(rows: Floats, columns: Floats) -> float:
        squared = squared_euclid(rows, columns, normalise=False)
        return float(np.exp(-squared / (2.0 * BANDWIDTH**2)).mean())

    within = mean_kernel(first, first) + mean_kernel(second, second)
    return max(within - 2.0 * mean_kernel(first, second), 0.0)


def _project(clouds: Iterable[Floats], count: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Yield every cloud with its projections [points, directions], which the next call overwrites.

    With OpenBLAS a point has the same projections in any batch of at least two points if the number
    of directions is large and a multiple of 8, so there may be more than `count`.
    """
    table = np.empty((0, 0))
    for batch in _batches(clouds, count):
        padded = count + -count % 8 if count > 0 else count  # directions() refuses 0
        units = directions(batch[0].shape[1], padded, seed)
        points = np.vstack(batch if len(batch) > 1 or len(batch[0]) > 1 else batch * 2)
        if len(table) < len(points):
            table = np.empty((len(points), len(units)))
        np.matmul(points, units.T, out=table[: len(points)])
        start = 0
        for cloud in batch:
            yield cloud, table[start : start + len(cloud)]
            start += len(cloud)


def _batches(clouds: Iterable[Floats], count: int) -> Iterator[list[Floats]]:
    """Yield consecutive clouds of one dimension with at most BATCH_POINTS points in all."""
    # No more points than dimensions, so that projections take no more memory than directions.
    batch: list[Floats] = []
    points = 0
    for cloud in clouds:
        dimension = cloud.shape[1]
        full = points + len(cloud) > min(BATCH_POINTS, dimension) or dimension * count < MIN_SHARED
        if batch and (full or batch[0].shape[1] != dimension):
            yield batch
            batch, points = [], 0
        batch.append(cloud)
        points += len(cloud)
    if batch:
        yield batch


def _depths(projected: Floats, count: int) -> Floats:
    if len(projected) >= MIN_SORTED:
        return _sorted_ranks(projected, count)
    depths = np.empty(len(projected))
    kernels.mean_ranks(projected, count, TIE, depths)
    return depths


def _sorted_ranks(projected: Floats, count: int) -> Floats:
    """Return the result of `mean_ranks` by sorting, since counting takes quadratic time."""
    n, sums = len(projected), np.zeros(len(projected))
    places = np.minimum(np.arange(1.0, n + 1), np.arange(n, 0.0, -1))
    for start in range(0, count, SORTED_DIRECTIONS):
        values = np.ascontiguousarray(projected[:, start : min(start + SORTED_DIRECTIONS, count)].T)
        order = values.argsort(axis=1)
        ordered = np.take_along_axis(values, order, axis=1)
        ranks = np.broadcast_to(places, values.shape).copy()
        for k in np.flatnonzero(~(np.diff(ordered, axis=1) > 2 * TIE).all(axis=1)):  # with ties
            below = ordered[k].searchsorted(ordered[k] - TIE)
            upto = ordered[k].searchsorted(ordered[k] + TIE, side="right")
            ranks[k] = np.minimum(upto, n - below)
        sums += np.bincount(order.ravel(), weights=ranks.ravel(), minlength=n)
    return sums / (n * count)


def _supports(projected: Floats, depths: Floats, shares: Floats, count: int) -> Floats:
    """Return the support functions of the regions at least as deep as each share of the points."""
    supports = np.full((2, len(shares), count), np.nan)
    # A point that is not finite has no finite projection, so one direction is enough to detect it.
    if np.isfinite(projected[:, 0]).all():
        kernels.fill_supports(projected, depths, quantiles(depths, shares) - TIE, supports)
    return supports


def quantiles(values: Floats, shares: Floats) -> Floats:
    """Return the bits of `np.quantile` without its checks, which take as long as the supports."""
    ordered = np.sort(values)
    place = shares * (len(ordered) - 1)
    index = place.astype(np.intp)
    low, high = ordered[index], ordered[np.minimum(index + 1, len(ordered) - 1)]
    fraction, gap = place - index, high - low
    return np.where(fraction < 0.5, low + gap * fraction, high - gap * (1 - fraction))


def _cloud(points: ArrayLike) -> Floats:
    cloud = np.asarray(points, dtype=np.float64)
    if cloud.ndim != 2 or 0 in cloud.shape:
        raise ShapeError(
            f"depth needs points [tokens, d], at least one of each, got shape {cloud.shape}."
        )
    return cloud


def _check_pair(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    first, second = _cloud(x), _cloud(y)
    if first.shape[1] != second.shape[1]:
        raise ShapeError(
            f"clouds must have one dimension, got shapes {first.shape}, {second.shape}."
        )
    return first, second


def nlg_eval_distance(
    x: ArrayLike, y: ArrayLike, *, p: float, eps: float = 0.3, levels: int = 5, count: int = 10_000
) -> float:
    """Return what `dr_distance` of the nlg_eval repository computes for IRW, errors included.

    The supremum is signed (so odd p is not symmetric and gives NaN when X lies inside Y), ranks
    have no left limit, eps is cut to whole percent, and directions come from the legacy generator.
    """
    clouds = _check_pair(x, y)
    for_depth, for_support = _legacy_directions(clouds[0].shape[1], count)
    percents = np.linspace(int(eps * 100), 100, levels)
    supports = []
    for cloud in clouds:
        depths = _legacy_rank(cloud @ for_depth.T)
        projected = cloud @ for_support.T
        cuts = np.percentile(depths, percents)
        supports.append(np.stack([projected[depths >= cut].max(axis=0) for cut in cuts]))
    total = float(((supports[0] - supports[1]) ** p).max(axis=1).mean())
    if p == 1:
        return total
    return total ** (1.0 / p) if total >= 0 else math.nan


def _legacy_rank(projected: Floats) -> Floats:
    """Return the mean over columns of min(r, n - r)/n for ranks r = 1..n."""
    n = len(projected)
    ranks = np.argsort(np.argsort(projected, axis=0), axis=0) + 1
    return np.asarray((np.minimum(ranks, n - ranks) / n).mean(axis=1))


@lru_cache(maxsize=2)
def _legacy_directions(dimension: int, count: int) -> list[Floats]:
    source = np.random.RandomState(0)  # a generator of its own; the global state stays untouched
    mean, covariance = np.zeros(dimension), np.eye(dimension)
    normals = [source.multivariate_normal(mean, covariance, size=count) for _ in range(2)]
    return [normal / np.linalg.norm(normal, axis=1, keepdims=True) for normal in normals]
