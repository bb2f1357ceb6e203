"""Batches: every text once, within the budget, and at the least cost."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from nlgauge.encode.batches import batches


def cost(lengths, cut, overhead):
    return sum(overhead + len(batch) * max(lengths[k] for k in batch) for batch in cut)


def cheapest(lengths, most, overhead):
    """The least cost of all cuts of the sorted texts, by trying each."""
    order = sorted(lengths, reverse=True)
    found = []
    for count in range(len(order)):
        for places in combinations(range(1, len(order)), count):
            edges = [0, *places, len(order)]
            parts = [order[i:j] for i, j in pairwise(edges)]
            if all(len(part) * part[0] <= most or len(part) == 1 for part in parts):
                found.append(sum(overhead + len(part) * part[0] for part in parts))
    return min(found)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("overhead", [0, 3, 20, 1000])
def test_batches_have_the_least_cost_of_all_cuts(seed, overhead):
    lengths = np.random.default_rng(seed).integers(1, 30, size=9).tolist()
    cut = batches(lengths, most=60, overhead=overhead)
    assert sorted(k for batch in cut for k in batch) == list(range(9))
    assert all(len(b) * max(lengths[k] for k in b) <= 60 or len(b) == 1 for b in cut)
    assert cost(lengths, cut, overhead) == cheapest(lengths, 60, overhead)


def test_the_longest_text_comes_first():
    lengths = [3, 9, 1, 7, 7]
    flat = [lengths[k] for batch in batches(lengths, most=14, overhead=2) for k in batch]
    assert flat == sorted(lengths, reverse=True)


def test_a_text_beyond_the_budget_is_alone():
    assert batches([5, 100, 5], most=10, overhead=50) == [[1], [0, 2]]


def test_no_texts_make_no_batch():
    assert batches([], most=10, overhead=1) == []


def test_without_overhead_nothing_is_padded():
    cut = batches([4, 2, 4, 3, 2, 2], most=100, overhead=0)
    assert [sorted(batch) for batch in cut] == [[0, 2], [3], [1, 4, 5]]
