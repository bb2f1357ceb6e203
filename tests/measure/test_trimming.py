"""Ranks and supports in machine code against plain numpy, and clouds that share a product."""

import numpy as np
import pytest

from nlgauge.core.errors import OptionError
from nlgauge.measure import depth as depths

pytest.importorskip("numba", reason="ranks are compiled by numba (pip install nlgauge[fast])")

from nlgauge.measure import trimming

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
    found = trimming.mean_ranks(projected, count, TIE)
    np.testing.assert_array_equal(found, depths._mean_rank(projected))
    np.testing.assert_allclose(found, naive_ranks(projected), atol=1e-15)


def test_one_tie_in_one_direction_is_noticed():
    projected = table(9, 500)
    projected[4, 499] = projected[7, 499]
    found = trimming.mean_ranks(projected, 500, TIE)
    np.testing.assert_array_equal(found, depths._mean_rank(projected))
    assert (found != trimming.mean_ranks(table(9, 500), 500, TIE)).any()


def test_equal_points_are_all_as_deep_as_can_be():
    assert (trimming.mean_ranks(np.ones((6, 40)), 40, TIE) == 1).all()


def test_a_run_of_ties_longer_than_a_tie_is_told_apart_by_counting_only():
    run = np.array([[0.0], [0.7], [1.4], [9.0]]) * TIE
    np.testing.assert_array_equal(trimming.mean_ranks(run, 1, TIE), naive_ranks(run))
    np.testing.assert_array_equal(trimming.mean_ranks(run, 1, TIE) * 4, [2, 3, 3, 1])
    np.testing.assert_array_equal(depths._mean_rank(run) * 4, [3, 3, 3, 1])


def test_columns_after_the_count_do_not_count():
    projected = table(11, 136)
    wider = np.hstack([projected, np.full((11, 8), np.nan)])
    ranks = trimming.mean_ranks(wider, 136, TIE)
    np.testing.assert_array_equal(ranks, trimming.mean_ranks(projected, 136, TIE))
    found = np.empty((2, 5, 136))
    trimming.fill_supports(wider, ranks, SHARES, TIE, found)
    np.testing.assert_array_equal(found, depths._nested_supports(projected, ranks, SHARES))


@pytest.mark.parametrize("n", [1, 2, 3, 26, 150])
@pytest.mark.parametrize("levels", [1, 2, 5])
@pytest.mark.parametrize("even", [False, True])
def test_supports_are_those_of_nested_rings(n, levels, even):
    projected = table(n, 90)
    deep = np.full(n, 0.5) if even else depths._mean_rank(projected)
    shares = np.linspace(0.2, 1.0, levels)
    found = np.empty((2, levels, 90))
    trimming.fill_supports(projected, deep, shares, TIE, found)
    np.testing.assert_array_equal(found, depths._nested_supports(projected, deep, shares))


@pytest.mark.parametrize("n", [1, 2, 3, 10, 26, 149])
def test_quantiles_are_numpys_to_the_bit(n):
    rng = np.random.default_rng(n)
    for _ in range(50):
        values = rng.random(n)
        shares = np.linspace(rng.random(), 1.0, 7)
        shares[0] = rng.choice([0.0, shares[0]])
        found = trimming.quantiles(values, shares)
        np.testing.assert_array_equal(found, np.quantile(values, shares))


@pytest.mark.parametrize("kind", ["irw", "ai_irw"])
@pytest.mark.parametrize("n", [1, 2, 26, 151])
def test_regions_are_the_same_without_numba(monkeypatch, kind, n):
    (points,) = clouds(7, [n])
    points[n // 2 + 1 :] = points[: n - n // 2 - 1]
    ours = depths.regions(points, depth=kind, count=203)
    monkeypatch.setattr(depths, "_machine", lambda: None)
    plain = depths.regions(points, depth=kind, count=203)
    np.testing.assert_array_equal(ours.depths, plain.depths)
    np.testing.assert_array_equal(ours.support, plain.support)


@pytest.mark.parametrize(("dimension", "count"), [(384, 1400), (384, 1403), (6, 50)])
@pytest.mark.parametrize("kind", ["irw", "ai_irw"])
def test_a_cloud_is_the_same_alone_and_in_company(dimension, count, kind):
    sizes = [1, 26, 2, 150, 26, 1, 300, 1, 9] if kind == "irw" else [1, 5, 2]
    drawn = clouds(dimension, sizes)
    together = list(depths.regions_of(drawn, depth=kind, count=count))
    backwards = list(depths.regions_of(drawn[::-1], depth=kind, count=count))[::-1]
    assert [len(one.depths) for one in together] == sizes
    for points, one, other in zip(drawn, together, backwards, strict=True):
        alone = depths.regions(points, depth=kind, count=count)
        for found in (one, other):
            np.testing.assert_array_equal(found.depths, alone.depths)
            # Other libraries than OpenBLAS may round a product as its other rows demand.
            np.testing.assert_allclose(found.support, alone.support, rtol=0, atol=1e-12)
            assert found.options == alone.options


def test_directions_come_in_eights_without_changing():
    np.testing.assert_array_equal(depths.directions(5, 16, 3)[:11], depths.directions(5, 11, 3))
    (points,) = clouds(5, [12])
    straight = points @ depths.directions(5, 11, 3).T
    found = depths.irw(points, count=11, seed=3)
    np.testing.assert_array_equal(found, depths._mean_rank(straight))


def test_clouds_of_several_dimensions_are_not_stacked():
    mixed = [*clouds(300, [3, 4]), *clouds(400, [5]), *clouds(300, [2])]
    found = list(depths.regions_of(mixed, count=2000))
    assert [one.options[0] for one in found] == [300, 300, 400, 300]
    for points, one in zip(mixed, found, strict=True):
        support = depths.regions(points, count=2000).support
        np.testing.assert_allclose(one.support, support, rtol=0, atol=1e-12)


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_what_is_not_finite_is_not_hidden(odd):
    good, bad = clouds(4, [6, 6])
    bad[2, 1] = odd
    assert not np.isfinite(depths.depth_distance(good, bad, count=30, eps=0.0))


def test_a_stack_takes_no_more_room_than_directions():
    def stacked(dimension, sizes, count):
        made = depths._stacks(clouds(dimension, sizes), count)
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
