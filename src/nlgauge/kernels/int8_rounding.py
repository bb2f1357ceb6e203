"""Rows of float32 rounded to 8-bit integers, and products of such rows scaled back to float32.

Each takes one pass through memory. In torch every operation is a pass of its own, and all of them
together take as long as the product itself.
"""

import numpy as np
from numpy.typing import NDArray

try:
    import cython
except ModuleNotFoundError:
    from nlgauge.kernels import without_cython as cython

if not cython.compiled:
    round_half_even = np.rint

Int8 = NDArray[np.int8]
Int32 = NDArray[np.int32]
Float32 = NDArray[np.float32]

WITHOUT_SIGN = 0x7FFFFFFF


def find_largest(bits: Int32, largest: Int32) -> None:
    """Write the bits of the largest absolute value of each row of float32 numbers.

    Absolute values of floats are in the order of their bits, and the largest integer is found
    several times faster than the largest float. NaN is larger than all numbers.
    """
    with cython.nogil:
        for i in range(len(bits)):
            found = 0
            for k in range(bits.shape[1]):
                found = max(found, bits[i, k] & WITHOUT_SIGN)
            largest[i] = found


def round_rows(rows: Float32, scales: Float32, rounded: Int8) -> None:
    """Write round(row / scale)."""
    with cython.nogil:
        for i in range(len(rows)):
            scale = scales[i]
            for k in range(rows.shape[1]):
                rounded[i, k] = round_half_even(rows[i, k] / scale)


def scale_products(
    products: Int32, row_scales: Float32, column_scales: Float32, bias: Float32, output: Float32
) -> None:
    """Write products * row scale * column scale + bias."""
    with cython.nogil:
        for i in range(len(products)):
            row_scale = row_scales[i]
            for k in range(products.shape[1]):
                output[i, k] = products[i, k] * row_scale * column_scales[k] + bias[k]
