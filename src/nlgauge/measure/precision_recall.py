"""Precision, recall and F of greedy matching: every token is matched to its most similar partner.

This is transport with one side free, ``match(1 - S, a, b, penalty_b=0).value = 1 - P``, written
for the similarities that BERTScore computes. Soft matching adds ``epsilon=temperature``.
"""

from nlgauge.core.arrays import Floats
from nlgauge.measure.one_sided import softmax


def best_partners(similarity: Floats, a: Floats, b: Floats) -> tuple[float, float]:
    """Return precision ``sum_i a_i max_j S_ij`` and recall ``sum_j b_j max_i S_ij``."""
    return float(a @ similarity.max(axis=1)), float(b @ similarity.max(axis=0))


def expected_partners(
    similarity: Floats, a: Floats, b: Floats, temperature: float
) -> tuple[float, float]:
    """Return the expected similarities when partners are drawn by a softmax, weighted by a and b.

    The chance of partner j of token i is proportional to ``b_j exp(S_ij / temperature)``.
    """
    if not (a.all() and b.all()):
        similarity, a, b = similarity[a > 0][:, b > 0], a[a > 0], b[b > 0]
    rows, _ = softmax(-similarity, b, temperature)
    columns, _ = softmax(-similarity.T, a, temperature)
    precision = a @ (rows * similarity).sum(axis=1)
    return float(precision), float(b @ (columns * similarity.T).sum(axis=1))


def f_measure(precision: float, recall: float, alpha: float) -> float:
    """Return ``PR / (alpha P + (1 - alpha) R)``: alpha 0 gives precision, 1 recall."""
    if precision <= 0 or recall <= 0:  # negative similarities count as no match
        return 0.0
    return precision * recall / (alpha * precision + (1 - alpha) * recall)
