"""How far the numbers of one encoder may lie apart on two processors.

An encoder computes in float32 (unit roundoff 6e-8). Which instructions a processor has decides the
order of its sums, and after six layers the sums differ in the sixth or seventh digit: by up to
2.5e-6 of the length of a token's vector, or of the largest logit, between SSE, AVX2 and AVX-512
and between the matrix libraries. A test that compares numbers from an encoder with stored numbers,
with another implementation or with other batches allows for that, times what the metric makes of
it; everything after the encoder is float64 and adds nothing that counts.
"""

from __future__ import annotations

import math

ENCODER_NOISE = 2.5e-6
"""The relative difference of a float32 vector between two processors."""


def tolerance(amplification: float) -> float:
    """Return the absolute difference that the noise of the encoder explains.

    ``amplification`` is how much larger the noise of the compared number is than the relative noise
    of a vector.
    """
    return ENCODER_NOISE * amplification


COSINE = tolerance(2 * 2)
"""For cosines and distances of unit vectors: two vectors on each of the two sides compared.

Means, matchings, barycenters and depths of such numbers do not amplify them.
"""


def l1_tolerance(dimension: int) -> float:
    """Return the tolerance of an L1 distance of unit vectors.

    It is at most the root of the dimension times the Euclidean distance.
    """
    return COSINE * math.sqrt(dimension)


def log_probability_tolerance(
    *, largest_logit: float, temperature: float = 1, power: float = 1
) -> float:
    """Return the tolerance of the logarithm of a probability to a power.

    The noise of logits is relative to the largest; a softmax divides it by the temperature. As the
    logarithm's, it is also the relative tolerance of the probability and of sums of such powers.
    """
    return tolerance(largest_logit / temperature * power)
