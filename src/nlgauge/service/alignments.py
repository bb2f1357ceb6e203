"""The response of /v1/align: the plan, the matches of greedy metrics, and predicted errors."""

from dataclasses import asdict
from typing import Any

import numpy as np

from nlgauge.core.metric import Metric
from nlgauge.core.plan import Plan
from nlgauge.core.word_plan import WordGroups, nearest_tokens
from nlgauge.scoring import Aligned
from nlgauge.service.errors import ServiceError

_MAX_CELLS = 2_000_000  # of all plans of a response: about 50 MB of JSON
_GREEDY = ("f", "precision", "recall")


def predicted_spans(
    aligned: Aligned, minor: float | None, major: float | None
) -> list[dict[str, Any]] | None:
    """Return predicted errors, None if the metric has no alignments or no known thresholds."""
    metric, has_thresholds = aligned.scores.metric, minor is not None or major is not None
    if aligned.word_costs is None or (metric.span_thresholds is None and not has_thresholds):
        return None
    spans = aligned.word_costs.spans(*metric.choose_thresholds(minor, major))
    return [asdict(span) for span in spans]


def plan_answer(plan: Plan, metric: Metric, *, words: bool, plans: int) -> dict[str, Any]:
    """Return one of ``plans`` plans, and the matches of every token if the metric is greedy."""
    precision, recall = nearest_tokens(plan)
    joined = plan
    if words:
        groups = WordGroups.of(plan)
        joined = groups.join(plan)
        precision, recall = (groups.sums(each.astype(float)) > 0 for each in (precision, recall))
    rows, columns = joined.coupling.shape
    if plans * rows * columns > _MAX_CELLS:
        size = f"{plans} plan{'s' * (plans > 1)} of {rows:,} by {columns:,} tokens"
        message = f"{size}, but this server returns at most {_MAX_CELLS:,} pairs of tokens"
        raise ServiceError(413, "too_large_plan", f"{message}; align shorter texts")
    matches = None
    if metric.components[: len(_GREEDY)] == _GREEDY:
        matches = [
            {
                "candidate": int(i),
                "reference": int(j),
                "cosine": float(1 - joined.cost[i, j]),
                "precision": bool(precision[i, j]),
                "recall": bool(recall[i, j]),
            }
            for i, j in np.argwhere(precision | recall)
        ]
    return {"plan": joined.to_dict(), "matches": matches}
