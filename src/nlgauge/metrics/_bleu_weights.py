"""BLEU with weights of the n-gram orders, from the precisions that sacrebleu computes."""

from typing import Any

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError


def parse_weights(text: str, orders: int) -> Floats:
    """Parse weights such as ``0.5+0.5``; raise an error unless there is one for each order."""
    try:
        weights = np.array([float(part) for part in text.split("+")])
    except ValueError:
        weights = np.zeros(0)
    if len(weights) != orders or not (weights >= 0).all() or not abs(weights.sum() - 1) < 1e-6:
        numbers = "the number 1" if orders == 1 else f"{orders} numbers of at least 0 with sum 1"
        raise OptionError(
            f"option weights={text!r}: write {numbers}, one for each order up to "
            f"max_ngram_order={orders}, such as 0.5+0.5 with max_ngram_order=2"
        )
    return weights


def weighted_bleu(score: Any, weights: Floats, *, effective_order: bool) -> float:
    """Return the weighted geometric mean of a score's precisions, times its brevity penalty.

    With effective order, weights are scaled to sum to 1 over the orders of the candidate.
    """
    precisions = np.array(score.precisions)
    active = np.array(weights)
    if effective_order:
        active *= np.cumprod(np.array(score.totals) > 0)
    counted = active > 0
    if not counted.any() or (precisions[counted] == 0).any():
        return 0.0
    mean = active[counted] @ np.log(precisions[counted]) / active.sum()
    return float(score.bp * np.exp(mean))
