"""Where batched solvers compute: in numpy on the host, or on a device with another array library.

A solver is written once. It calls functions that have the same names in numpy and torch; a `Device`
holds what differs: copies, the inverse of matrices, and the batches that suit it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.core.arrays import Floats

Array = Any  # of the library of a device


@dataclass(frozen=True)
class Device:
    """An array library, copies to its arrays and back, and the batches that suit it."""

    library: Any
    send: Callable[[Floats], Array]
    fetch: Callable[[Array], Floats]  # waits until the device has computed the values
    inverse: Callable[[Array], Array]  # of the matrices of a batch, without waiting
    cells: int  # of the matrices of one batch
    length_step: int  # lengths are padded to a multiple of this


HOST = Device(
    library=np,
    send=lambda values: values,
    fetch=lambda values: values,
    inverse=np.linalg.inv,
    cells=1 << 15,  # a handful of such arrays fits into the L2 cache
    length_step=8,
)
_CURRENT: ContextVar[Device] = ContextVar("device", default=HOST)


def current_device() -> Device:
    """Return the device of batched solvers: HOST outside of `solving_on`."""
    return _CURRENT.get()


@contextmanager
def solving_on(device: Device | None) -> Iterator[None]:
    """Run batched solvers on this device in the block; None changes nothing."""
    token = _CURRENT.set(device or _CURRENT.get())
    try:
        yield
    finally:
        _CURRENT.reset(token)
