"""Seen: which names were met before, at 8 bytes for each of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.cloud import Bools


class Seen:
    """A set of names that keeps digests of 64 bits: two of 100 million collide once in 3,700 runs.

    Digests lie in sorted runs, each at least twice as long as the next, so that few of them have to
    be searched and adding stays cheap.
    """

    def __init__(self) -> None:
        self._runs: list[NDArray[np.uint64]] = []

    def admit(self, names: Iterable[object]) -> Bools:
        """Which names are new, also among themselves; from now on they are all known."""
        digests = b"".join(map(_digest, names))
        keys, first = np.unique(np.frombuffer(digests, dtype="<u8"), return_index=True)
        known = np.zeros(len(keys), dtype=bool)
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, keys), len(run) - 1)
            known |= run[places] == keys
        new = np.zeros(len(digests) // 8, dtype=bool)
        new[first[~known]] = True
        self._add(keys[~known])
        return new

    def _add(self, run: NDArray[np.uint64]) -> None:
        if not len(run):
            return
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            merged = np.concatenate([self._runs.pop(), run])
            merged.sort(kind="stable")  # which merges what is sorted already in one pass
            run = merged
        self._runs.append(run)


def _digest(name: object) -> bytes:
    return hashlib.blake2b(json.dumps(name).encode(), digest_size=8).digest()
