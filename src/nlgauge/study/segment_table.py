"""Tables of segment scores: of compared systems, and of judged outputs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nlgauge.core.jsonable import to_jsonable
from nlgauge.study.comparison import Comparison, order_of
from nlgauge.study.study import Study


def compared_segments(found: Comparison) -> dict[str, Any]:
    """Return the score of every segment by metric and system, and its difference from the baseline.

    All lists are in the order of ``ids``.
    """
    first = found.scores[found.baseline]
    ids = next(iter(first.values())).ids
    metrics: dict[str, Any] = {}
    for label, base in first.items():
        baseline = np.asarray(base.segments)
        metrics[label] = {}
        for system, by_label in found.scores.items():
            scores = by_label[label]
            values = np.asarray(scores.segments)[order_of(scores, ids)]
            differences = None if system == found.baseline else to_jsonable(values - baseline)
            metrics[label][system] = {"values": to_jsonable(values), "differences": differences}
    return {"ids": list(ids), "metrics": metrics}


def judged_cells(study: Study, criteria: Sequence[str]) -> dict[str, Any]:
    """Return human scores and metric scores of every output that was judged by a criterion.

    All lists have one entry per output; None where it was not judged. Scores are not negated.
    """
    human = {name: study.judgements.matrix(name) for name in criteria}
    judged = np.any([np.isfinite(values) for values in human.values()], axis=0)
    rows, columns = np.nonzero(judged)
    return {
        "systems": [study.judgements.systems[i] for i in rows],
        "segments": [study.judgements.segments[j] for j in columns],
        "human": {name: to_jsonable(values[rows, columns]) for name, values in human.items()},
        "scores": {
            metric.name: to_jsonable(metric.values[rows, columns]) for metric in study.metrics
        },
    }
