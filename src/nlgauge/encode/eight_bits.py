"""Numbers to eight bits and back, each in one sweep through memory, in machine code of numba.

The same in torch takes a sweep for every operation, which is as much time as the product itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.cloud import Floats
from nlgauge.core.machine_code import compiled

Whole = NDArray[np.int8]
Sums = NDArray[np.int32]

_LEVELS = np.float32(127)
_TINY = np.float32(1e-30)
_ROUNDING = np.float32(3 << 22)  # so large that float32 has no room for a fraction beside it
_ALL_BUT_SIGN = np.int32(0x7FFFFFFF)


def to_eight_bits(rows: Floats, whole: Whole, scales: Floats) -> None:
    """Fill in round(rows / scales), with each row's largest absolute value / 127 as its scale."""
    _to_eight_bits(rows, rows.view(np.int32), whole, scales, scales.view(np.int32))


@compiled(kept=True, careless=True)
def _to_eight_bits(rows: Floats, bits: Any, whole: Whole, scales: Floats, scale_bits: Any) -> None:
    for i in range(len(rows)):
        largest = np.int32(0)
        for k in range(rows.shape[1]):  # floats without sign are in the order of their bits
            largest = max(largest, bits[i, k] & _ALL_BUT_SIGN)
        scale_bits[i] = largest
        scales[i] = max(scales[i], _TINY) / _LEVELS
        for k in range(rows.shape[1]):
            whole[i, k] = np.int32((rows[i, k] / scales[i] + _ROUNDING) - _ROUNDING)


@compiled(kept=True, careless=True)
def from_eight_bits(
    sums: Sums, row_scales: Floats, column_scales: Floats, bias: Floats, made: Floats
) -> None:
    """Fill in sums * row scale * column scale + bias."""
    for i in range(len(sums)):
        for k in range(sums.shape[1]):
            made[i, k] = np.float32(sums[i, k]) * row_scales[i] * column_scales[k] + bias[k]
