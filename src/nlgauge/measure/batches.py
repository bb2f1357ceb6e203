"""Transport problems of different shapes in padded batches, on the device that solves them.

The padded shape of a problem depends on its own shape only, so a pair gets the same bits alone and
in any corpus.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from nlgauge.core.device import Array, Device
from nlgauge.measure.problem import Problem


def padded(
    problems: Sequence[Problem], device: Device, fill: float = 0.0
) -> Iterator[tuple[list[int], Array, Array, Array]]:
    """Yield the numbers of the problems of a batch, their costs [k, n, m] and weights, padded.

    A padded token has weight 0 and costs `fill`. A batch is sent to the device in one copy.
    """
    shapes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, problem in enumerate(problems):
        n, m = (-(-length // device.length_step) for length in problem.cost.shape)
        shapes[n * device.length_step, m * device.length_step].append(index)
    for (n, m), indices in shapes.items():
        size = max(1, device.cells // (n * m))
        for members in (indices[start : start + size] for start in range(0, len(indices), size)):
            values = np.zeros(len(members) * (n * m + n + m))
            cost, a, b = _split(values, n, m)
            cost[:] = fill
            for row, (matrix, mass_a, mass_b) in enumerate(problems[index] for index in members):
                cost[row, : len(mass_a), : len(mass_b)] = matrix
                a[row, : len(mass_a)], b[row, : len(mass_b)] = mass_a, mass_b
            yield members, *_split(device.send(values), n, m)


def _split(values: Array, n: int, m: int) -> tuple[Array, Array, Array]:
    """Return views [k, n, m], [k, n] and [k, m] of the values of a batch."""
    count = len(values) // (n * m + n + m)
    cells, rows = count * n * m, count * n
    cost, a, b = values[:cells], values[cells : cells + rows], values[cells + rows :]
    return cost.reshape(count, n, m), a.reshape(count, n), b.reshape(count, m)
