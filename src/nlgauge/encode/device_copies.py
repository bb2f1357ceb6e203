"""Asynchronous copies between the memory of the host and of a device.

A device runs operations in order, and the host only waits when it reads a result. With CUDA, copies
from and to page-locked memory are asynchronous, too. Token ids are sent and states are returned in
one copy per batch, and the host reads the states of a batch after it has started the next one. On
other devices the same calls copy synchronously.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
import torch

from nlgauge.core.arrays import Floats

Item = TypeVar("Item")
Started = TypeVar("Started")


def to_device(values: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Copy a tensor from the host to a device, asynchronously with CUDA."""
    if device.type == "cuda":
        return values.pin_memory().to(device, non_blocking=True)
    return values.to(device)


class HostCopy:
    """A tensor that is being copied from a device to the host."""

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
        array = self.tensor().float().numpy()
        return np.array(array) if self._done is not None else np.asarray(array)


def one_started(start: Callable[[Item], Started], items: Iterable[Item]) -> Iterator[Started]:
    """Yield the result of ``start`` for each item after starting the next item."""
    waiting: list[Started] = []
    for item in items:
        waiting.append(start(item))
        if len(waiting) > 1:
            yield waiting.pop(0)
    yield from waiting
