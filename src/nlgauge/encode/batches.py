"""Batches of texts of similar length, so that padding and passes cost the least."""

from collections.abc import Sequence


def batches(lengths: Sequence[int], *, most: int, overhead: int) -> list[list[int]]:
    """Return the numbers of the texts of each batch, the longest texts first, at the least cost.

    A batch costs its number of texts times its longest length, at most ``most`` tokens (a longer
    text is alone), plus ``overhead`` tokens for the pass itself.
    """
    order = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    costs, starts = [0], [0]  # of the first n texts: the least cost, the start of the last batch
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
    found, end = [], len(order)
    while end > 0:
        found.append(order[starts[end] : end])
        end = starts[end]
    return found[::-1]
