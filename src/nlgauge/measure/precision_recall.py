"""Precision, recall and F of greedy matching: every token is matched to its most similar partner.

This is transport with one side free, ``match(1 - S, a, b, penalty_b=0).value = 1 - P``, written
for the similarities that BERTScore computes. Soft matching adds ``epsilon=temperature``.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.device import HOST, Array, current_device
from nlgauge.measure.batches import padded
from nlgauge.measure.cost import cosine_cost
from nlgauge.measure.one_sided import softmax
from nlgauge.measure.problem import Problem

_FAR = -1e300  # the similarity of padding: its exponential is 0 beside that of any other token


def best_partners(similarity: Floats, a: Floats, b: Floats) -> tuple[float, float]:
    """Return precision ``sum_i a_i max_j S_ij`` and recall ``sum_j b_j max_i S_ij`` of cosines.

    Both are at most 1, and exactly 1 if every token has an equal partner.
    """
    costs = (cosine_cost(similarity.max(axis=axis)) for axis in (1, 0))
    precision, recall = (1.0 - float(mass @ cost) for mass, cost in zip((a, b), costs, strict=True))
    return precision, recall


def expected_similarities(problems: Iterable[Problem], temperature: float) -> list[float]:
    """Return ``sum_ij a_i w_ij S_ij`` of every problem, whose cost is the similarity S.

    Each token draws its partner: ``w_ij`` is proportional to ``b_j exp(S_ij / temperature)``.
    """
    device = current_device()
    if device is HOST:  # padding would take longer than it saves
        return [float(a @ _expected(s, b, temperature, np)) for s, a, b in problems]
    known = [*problems]
    found = np.empty(len(known))
    for members, similarity, a, b in padded(known, device, fill=_FAR):
        expected = _expected(similarity, b, temperature, device.library)
        found[members] = device.fetch((a * expected).sum(axis=1))
    return [*found.tolist()]


def _expected(similarity: Array, b: Array, temperature: float, library: Any) -> Array:
    """Return the expected similarity of the partner of each token; b may be padded."""
    chances, _ = softmax(-similarity, b, temperature, library)
    return (chances * similarity).sum(axis=-1)


def f_measure(precision: float, recall: float, alpha: float) -> float:
    """Return ``PR / (alpha P + (1 - alpha) R)``: alpha 0 gives precision, 1 recall."""
    if precision <= 0 or recall <= 0:  # negative similarities count as no match
        return 0.0
    return precision * recall / (alpha * precision + (1 - alpha) * recall)
