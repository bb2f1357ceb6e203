"""The plan in the answer of /v1/align, and the matches of greedy metrics."""

from typing import Any

import numpy as np

from nlgauge.core.metric import Metric
from nlgauge.core.plan import Plan
from nlgauge.core.word_plan import WordGroups, nearest_tokens

_GREEDY = ("f", "precision", "recall")


def plan_answer(plan: Plan, metric: Metric, *, words: bool) -> dict[str, Any]:
    """The plan, and its matches if the metric takes the nearest token of every token."""
    precision, recall = nearest_tokens(plan)
    shown = plan
    if words:
        groups = WordGroups.of(plan)
        shown = groups.join(plan)
        precision, recall = (groups.sums(each.astype(float)) > 0 for each in (precision, recall))
    matches = None
    if metric.components[: len(_GREEDY)] == _GREEDY:
        matches = [
            {
                "candidate": int(i),
                "reference": int(j),
                "cosine": float(1 - shown.cost[i, j]),
                "precision": bool(precision[i, j]),
                "recall": bool(recall[i, j]),
            }
            for i, j in np.argwhere(precision | recall)
        ]
    return {"plan": shown.to_dict(), "matches": matches}
