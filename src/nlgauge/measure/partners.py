"""Precision, recall and F of greedy matching, where every token takes its most similar partner.

This is transport with one side free, ``match(1 - S, a, b, penalty_b=0).value = 1 - P``, written
for similarities because that is what the hot path of BERTScore needs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlgauge.core.cloud import Floats

Weighted = tuple[Floats, Floats]


def greedy_scores(
    candidates: Sequence[Weighted], references: Sequence[Weighted], alpha: float
) -> Floats:
    """F, precision and recall of every pair of (unit vectors, masses)."""
    rows = []
    for (left, a), (right, b) in zip(candidates, references, strict=True):
        precision, recall = best_partners(left @ right.T, a, b)
        rows.append((f_measure(precision, recall, alpha), precision, recall))
    return np.array(rows)


def best_partners(similarity: Floats, a: Floats, b: Floats) -> tuple[float, float]:
    """Precision ``sum_i a_i max_j S_ij`` and recall ``sum_j b_j max_i S_ij``."""
    return float(a @ similarity.max(axis=1)), float(b @ similarity.max(axis=0))


def f_measure(precision: float, recall: float, alpha: float) -> float:
    """``PR / (alpha P + (1 - alpha) R)``: 0 gives precision, 1 recall, .5 the harmonic mean.

    The formula means nothing for negative similarities; there the value is 0, as for no match.
    """
    if precision <= 0 or recall <= 0:
        return 0.0
    return precision * recall / (alpha * precision + (1 - alpha) * recall)
