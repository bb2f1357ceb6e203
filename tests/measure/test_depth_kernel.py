"""Ranks and supports against plain numpy, and clouds that share a product."""

import numpy as np
import pytest

import uncompiled_kernels
from nlgauge.core.errors import OptionError
from nlgauge.kernels import depth as kernels
from nlgauge.measure import depth as depths

TIE = depths.TIE
SHARES = np.linspace(0.3, 1.0, 5)


def table(n, count, *, repeated=0, seed=0):
    """Projections of n points, of which the last are those of the first again."""
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(n, count))
    if repeated:
        drawn[-repeated:] = drawn[:repeated] + 1e-15 * rng.normal(size=(repeated, count))
    return drawn


def clouds(dimension, sizes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, dimension)) for n in sizes]


def regions(points, **options):
    return next(depths.regions_of([points], **options))


def depth_distance(x, y, *, p=5.0, **options):
    return depths.region_distance(regions(x, **options), regions(y, **options), p=p)


def ranks_of(projected, count):
    found = np.empty(len(projected))
    kernels.mean_ranks(projected, count, TIE, found)
    return found


def supports_of(projected, deep, shares, count):
    found = np.empty((2, len(shares), count))
    kernels.fill_supports(projected, deep, np.quantile(deep, shares) - TIE, found)
    return found


def sorted_ranks(projected):
    """The mean over columns of min(F(x), 1 - F(x-)), by sorting."""
    n, count = projected.shape
    columns = np.ascontiguousarray(projected.T)
    order = np.argsort(columns, axis=1)
    ordered = np.take_along_axis(columns, order, axis=1)
    fresh = np.ones((count, n), dtype=bool)
    fresh[:, 1:] = np.diff(ordered, axis=1) > TIE  # a new value starts here
    place = np.arange(n)
    below = np.maximum.accumulate(np.where(fresh, place, 0), axis=1)
    ends = np.ones((count, n), dtype=bool)
    ends[:, :-1] = fresh[:, 1:]
    upto = np.minimum.accumulate(np.where(ends, place + 1, n)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.minimum(upto, n - below)
    return np.bincount(order.ravel(), weights=ranks.ravel(), minlength=n) / (n * count)


def plain_supports(projected, deep, shares):
    regions = [projected[deep >= cut - TIE] for cut in np.quantile(deep, shares)]
    return np.stack([[r.max(axis=0) for r in regions], [(-r).max(axis=0) for r in regions]])


def naive_ranks(projected):
    n = len(projected)
    upto = (projected[None] <= projected[:, None] + TIE).sum(axis=1)
    below = (projected[None] < projected[:, None] - TIE).sum(axis=1)
    return np.minimum(upto, n - below).mean(axis=1) / n


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 26, 150])
@pytest.mark.parametrize("count", [1, 127, 128, 300])
@pytest.mark.parametrize("share", [0, 0.3, 0.5])
def test_ranks_are_those_of_sorting(n, count, share):
    projected = table(n, count, repeated=int(share * n))
    found = ranks_of(projected, count)
    np.testing.assert_array_equal(found, sorted_ranks(projected))
    np.testing.assert_allclose(found, naive_ranks(projected), atol=1e-15)


def test_one_tie_in_one_direction_is_noticed():
    projected = table(9, 500)
    projected[4, 499] = projected[7, 499]
    found = ranks_of(projected, 500)
    np.testing.assert_array_equal(found, sorted_ranks(projected))
    assert (found != ranks_of(table(9, 500), 500)).any()


def test_equal_points_have_the_largest_depth():
    assert (ranks_of(np.ones((6, 40)), 40) == 1).all()


def test_a_chain_of_ties_longer_than_one_tie_is_ranked_by_counting():
    run = np.array([[0.0], [0.7], [1.4], [9.0]]) * TIE
    np.testing.assert_array_equal(ranks_of(run, 1), naive_ranks(run))
    np.testing.assert_array_equal(ranks_of(run, 1) * 4, [2, 3, 3, 1])
    np.testing.assert_array_equal(sorted_ranks(run) * 4, [3, 3, 3, 1])


def test_columns_after_the_count_do_not_count():
    projected = table(11, 136)
    wider = np.hstack([projected, np.full((11, 8), np.nan)])
    ranks = ranks_of(wider, 136)
    np.testing.assert_array_equal(ranks, ranks_of(projected, 136))
    found = supports_of(wider, ranks, SHARES, 136)
    np.testing.assert_array_equal(found, plain_supports(projected, ranks, SHARES))


@pytest.mark.parametrize("n", [1, 2, 3, 26, 150])
@pytest.mark.parametrize("levels", [1, 2, 5])
@pytest.mark.parametrize("even", [False, True])
def test_supports_are_those_of_nested_rings(n, levels, even):
    projected = table(n, 90)
    deep = np.full(n, 0.5) if even else sorted_ranks(projected)
    shares = np.linspace(0.2, 1.0, levels)
    found = supports_of(projected, deep, shares, 90)
    np.testing.assert_array_equal(found, plain_supports(projected, deep, shares))


@pytest.mark.parametrize("n", [1, 2, 3, 10, 26, 149])
def test_quantiles_are_numpys_to_the_bit(n):
    rng = np.random.default_rng(n)
    for _ in range(50):
        values = rng.random(n)
        shares = np.linspace(rng.random(), 1.0, 7)
        shares[0] = rng.choice([0.0, shares[0]])
        found = depths.quantiles(values, shares)
        np.testing.assert_array_equal(found, np.quantile(values, shares))


@pytest.mark.parametrize("kind", ["irw", "ai_irw"])
@pytest.mark.parametrize("n", [1, 2, 26, 151])
def test_regions_are_those_of_plain_numpy(kind, n):
    (points,) = clouds(7, [n])
    points[n // 2 + 1 :] = points[: n - n // 2 - 1]
    ours = regions(points, depth=kind, count=203)
    along = depths.directions(7, 208, 0)
    projected = (np.vstack([points, points]) @ along.T)[:n, :203]
    if kind == "irw":
        np.testing.assert_array_equal(ours.depths, sorted_ranks(projected))
    np.testing.assert_array_equal(ours.support, plain_supports(projected, ours.depths, SHARES))


@pytest.mark.parametrize("kind", ["irw", "ai_irw"])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_regions_are_the_same_uncompiled(monkeypatch, kind, n):
    (points,) = clouds(7, [n])
    points[n // 2 + 1 :] = points[: n - n // 2 - 1]
    ours = regions(points, depth=kind, count=203)
    uncompiled_kernels.use(monkeypatch)
    plain = regions(points, depth=kind, count=203)
    np.testing.assert_array_equal(ours.depths, plain.depths)
    np.testing.assert_array_equal(ours.support, plain.support)


@pytest.mark.parametrize(("dimension", "count"), [(384, 1400), (384, 1403), (6, 50)])
@pytest.mark.parametrize("kind", ["irw", "ai_irw"])
def test_a_cloud_gives_the_same_result_alone_and_in_a_batch(dimension, count, kind):
    sizes = [1, 26, 2, 150, 26, 1, 300, 1, 9] if kind == "irw" else [1, 5, 2]
    drawn = clouds(dimension, sizes)
    together = list(depths.regions_of(drawn, depth=kind, count=count))
    backwards = list(depths.regions_of(drawn[::-1], depth=kind, count=count))[::-1]
    assert [len(one.depths) for one in together] == sizes
    for points, one, other in zip(drawn, together, backwards, strict=True):
        alone = regions(points, depth=kind, count=count)
        for found in (one, other):
            np.testing.assert_array_equal(found.depths, alone.depths)
            # Other libraries than OpenBLAS may round a product as its other rows demand.
            np.testing.assert_allclose(found.support, alone.support, rtol=0, atol=1e-12)


def test_the_first_directions_do_not_depend_on_their_number():
    np.testing.assert_array_equal(depths.directions(5, 16, 3)[:11], depths.directions(5, 11, 3))
    (points,) = clouds(5, [12])
    straight = points @ depths.directions(5, 11, 3).T
    found = depths.irw(points, count=11, seed=3)
    np.testing.assert_array_equal(found, sorted_ranks(straight))


def test_clouds_of_several_dimensions_are_not_stacked():
    mixed = [*clouds(300, [3, 4]), *clouds(400, [5]), *clouds(300, [2])]
    found = list(depths.regions_of(mixed, count=2000))
    assert [len(one.depths) for one in found] == [3, 4, 5, 2]
    for points, one in zip(mixed, found, strict=True):
        support = regions(points, count=2000).support
        np.testing.assert_allclose(one.support, support, rtol=0, atol=1e-12)


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_nan_and_infinity_are_propagated(odd):
    good, bad = clouds(4, [6, 6])
    bad[2, 1] = odd
    assert not np.isfinite(depth_distance(good, bad, count=30, eps=0.0))


def test_a_stack_is_no_larger_than_the_directions():
    def stacked(dimension, sizes, count):
        made = depths._batches(clouds(dimension, sizes), count)
        return [[len(cloud) for cloud in stack] for stack in made]

    assert stacked(400, [200, 50, 7, 300, 1, 1], 2000) == [[200, 50], [7], [300], [1, 1]]
    assert stacked(60, [30, 30, 1], 10_000) == [[30, 30], [1]]
    assert stacked(60, [30, 30, 1], 100) == [[30], [30], [1]]


@pytest.mark.parametrize("count", [0, -3])
def test_no_directions_are_refused_by_their_number(count):
    with pytest.raises(OptionError, match=f"got 5 and {count}"):
        depths.irw(np.ones((2, 5)), count=count)


def test_no_clouds_have_no_regions_but_options_are_read():
    assert list(depths.regions_of([])) == []
    with pytest.raises(OptionError, match="levels"):
        list(depths.regions_of([], levels=0))


@pytest.mark.parametrize("repeated", [0, 1, 40])
def test_ranks_of_long_texts_are_the_same_by_sorting(monkeypatch, repeated):
    projected = table(90, 300, repeated=repeated)
    counted = ranks_of(projected, 290)
    monkeypatch.setattr(depths, "MIN_SORTED", 2)
    np.testing.assert_array_equal(depths._depths(projected, 290), counted)
    np.testing.assert_allclose(counted, naive_ranks(projected[:, :290]), atol=1e-15)


def test_ties_that_are_not_transitive_are_ranked_by_counting():
    """Ties are no equivalence: 0 and 1.4 ties differ, but both are tied with 0.7."""
    projected = np.array([[0.0], [0.7 * TIE], [1.4 * TIE], [1.0]])
    np.testing.assert_array_equal(depths._sorted_ranks(projected, 1), ranks_of(projected, 1))
