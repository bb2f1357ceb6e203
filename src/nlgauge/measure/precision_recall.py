"""Precision, recall and F of greedy matching: every token is matched to its most similar partner.

This is transport with one side free, ``match(1 - S, a, b, penalty_b=0).value = 1 - P``, written
for the similarities that BERTScore computes.
"""

from nlgauge.core.arrays import Floats


def best_partners(similarity: Floats, a: Floats, b: Floats) -> tuple[float, float]:
    """Return precision ``sum_i a_i max_j S_ij`` and recall ``sum_j b_j max_i S_ij``."""
    return float(a @ similarity.max(axis=1)), float(b @ similarity.max(axis=0))


def f_measure(precision: float, recall: float, alpha: float) -> float:
    """Return ``PR / (alpha P + (1 - alpha) R)``: alpha 0 gives precision, 1 recall."""
    if precision <= 0 or recall <= 0:  # negative similarities count as no match
        return 0.0
    return precision * recall / (alpha * precision + (1 - alpha) * recall)
