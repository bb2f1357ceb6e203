"""Batches of texts of similar length, chosen to minimise the cost of padding and passes."""

from collections.abc import Sequence


def batches(lengths: Sequence[int], *, most: int, overhead: int) -> list[list[int]]:
    """Return the indices of the texts of each batch, longest texts first, at the minimum cost.

    The cost of a batch is its number of texts times the longest length, which is at most ``most``
    tokens (a longer text is a batch of its own), plus ``overhead`` tokens for the pass itself.
    """
    order = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    # For the first n texts: the minimum cost, and the start of the last batch.
    costs, starts = [0], [0]
    for end in range(1, len(order) + 1):
        start = end - 1
        best, begin = costs[start] + lengths[order[start]], start
        while start > 0 and lengths[order[start - 1]] * (end - start + 1) <= most:
            start -= 1
            cost = costs[start] + lengths[order[start]] * (end - start)
            if cost <= best:
                best, begin = cost, start
        costs.append(best + overhead)
        starts.append(begin)
    groups, end = [], len(order)
    while end > 0:
        groups.append(order[starts[end] : end])
        end = starts[end]
    return groups[::-1]
