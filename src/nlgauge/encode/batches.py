"""Texts put together for the passes of a model, so that padding and passes cost the least."""

from __future__ import annotations

from collections.abc import Sequence


def batches(lengths: Sequence[int], *, most: int, overhead: int) -> list[list[int]]:
    """Return the numbers of the texts of each batch, the longest texts first.

    A batch takes its number of texts times its longest length, at most ``most`` tokens (a longer
    text is alone), and ``overhead`` tokens for the pass itself. Of all ways to cut the texts in
    order of their lengths this is the one with the least sum, by dynamic programming.
    """
    order = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    least, begins = [0], [0]  # of the first so many texts: the cost, and where the last batch began
    for end in range(1, len(order) + 1):
        start = end - 1
        best, begin = least[start] + lengths[order[start]], start
        while start > 0 and lengths[order[start - 1]] * (end - start + 1) <= most:
            start -= 1
            cost = least[start] + lengths[order[start]] * (end - start)
            if cost <= best:
                best, begin = cost, start
        least.append(best + overhead)
        begins.append(begin)
    cuts, end = [], len(order)
    while end > 0:
        cuts.append(order[begins[end] : end])
        end = begins[end]
    return cuts[::-1]
