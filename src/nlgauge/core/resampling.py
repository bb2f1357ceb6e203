"""Poisson bootstrap with draws that only depend on the seed and the segment id.

Every resample counts every segment a Poisson(1) number of times (Chamandy et al. 2012, Estimating
Uncertainty for Massive Data Streams). The count is a hash of seed, segment id and resample, so
streams, lists and parts in any order give the same draws, and systems are resampled jointly.
"""

import hashlib
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError

_LARGEST = 16  # P(Poisson(1) > 16) = 1e-15, below the resolution of the thresholds' sum
_STEP = np.uint64(0x9E3779B97F4A7C15)


def draw_counts(ids: Sequence[str], resamples: int, seed: int) -> Floats:
    """Return Poisson(1) counts [resamples, segments]."""
    if resamples < 1:
        raise OptionError(f"resamples must be at least 1, got {resamples}; 1000 is usual")
    if not -(2**127) <= seed < 2**127:
        bits = seed.bit_length()
        raise OptionError(f"a seed of {bits} bits is too large; the maximum is 127 bits")
    key = seed.to_bytes(16, "little", signed=True)
    names = (name.encode("utf-8", "surrogatepass") for name in ids)
    digests = [hashlib.blake2b(name, digest_size=8, key=key).digest() for name in names]
    states = np.frombuffer(b"".join(digests), dtype="<u8")
    numbers = np.arange(1, resamples + 1, dtype=np.uint64)
    uniform = _mixed(states[None, :] + numbers[:, None] * _STEP)
    counts = np.zeros(uniform.shape, dtype=np.int8)
    for threshold in _thresholds():
        above = uniform >= threshold
        if not above.any():
            break
        counts += above
    return counts.astype(np.float64)


def _mixed(states: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Apply the finaliser of SplitMix64 (Steele, Lea, Flood 2014) to get uniform 64-bit words."""
    words = (states ^ (states >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))


def _thresholds() -> NDArray[np.uint64]:
    """Return the quantiles of Poisson(1) as 64-bit words."""
    shares = np.cumsum([math.exp(-1) / math.factorial(count) for count in range(_LARGEST)])
    return np.array([min(int(share * 2.0**64), 2**64 - 1) for share in shares], dtype=np.uint64)
