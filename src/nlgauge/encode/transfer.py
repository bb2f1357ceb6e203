"""Copies between the memory of the host and that of a device, made while the device computes.

A device computes what it is given in order, and the host waits only where it reads a result. With
CUDA, copies from and to page-locked memory do not wait either. So token numbers are sent, states
are sent back in one copy for each batch, and the host reads the states of a batch after it has
started the next one. On other devices the same calls copy at once.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
import torch

from nlgauge.core.arrays import Floats

Item = TypeVar("Item")
Started = TypeVar("Started")


def to_device(values: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a tensor of the host on a device, without waiting for the copy if that is CUDA."""
    if device.type == "cuda":
        return values.pin_memory().to(device, non_blocking=True)
    return values.to(device)


class HostCopy:
    """A tensor on its way from a device to the host."""

    def __init__(self, values: torch.Tensor) -> None:
        self._done: Any = None
        if values.device.type == "cuda":
            self._values = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
            self._values.copy_(values, non_blocking=True)
            cuda: Any = torch.cuda
            self._done = cuda.Event()
            self._done.record()
        else:
            self._values = values.cpu()

    def tensor(self) -> torch.Tensor:
        """Wait for the copy and return it."""
        if self._done is not None:
            self._done.synchronize()
        return self._values

    def numpy(self) -> Floats:
        """Wait for the copy and return it as float32, in memory that is not page-locked."""
        found = self.tensor().float().numpy()
        return np.array(found) if self._done is not None else np.asarray(found)


def one_started(start: Callable[[Item], Started], items: Iterable[Item]) -> Iterator[Started]:
    """Yield what ``start`` returns for each item, after it was called for the next one."""
    waiting: list[Started] = []
    for item in items:
        waiting.append(start(item))
        if len(waiting) > 1:
            yield waiting.pop(0)
    yield from waiting
