"""Scores by how good people found the texts: bands of quality and their densities."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nlgauge.core.errors import DataError
from nlgauge.study.study import Study

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Band:
    """The scores of the rows that people put into one band of quality, and their density."""

    name: str
    scores: Array
    places: Array
    density: Array
    low: float = -np.inf
    high: float = np.inf
    """The range of the metric, where it is known."""


def bands(study: Study, criterion: str, count: int = 3) -> dict[str, tuple[Band, ...]]:
    """By metric, its scores in ``count`` equally large bands of human quality, the lowest first.

    Scores are the metric's own (not negated); densities are Gaussian with Silverman's bandwidth.
    """
    people = study.judgements.matrix(criterion)
    judged = np.isfinite(people)
    edges = np.quantile(people[judged], np.linspace(0, 1, count + 1)) if judged.any() else None
    within = np.full(people.shape, -1) if edges is None else np.digitize(people, edges[1:-1])
    sizes = [int((judged & (within == k)).sum()) for k in range(count)]
    if edges is None or count < 2 or min(sizes) < 2:
        raise DataError(
            f"the {int(judged.sum())} judgements of {criterion!r} do not fall into {count} bands "
            "of 2 or more (too few, or too many ties); ask for at least 2 bands, and for fewer."
        )
    names = [f"{low:.3g} to {high:.3g}" for low, high in pairwise(edges)]
    found: dict[str, tuple[Band, ...]] = {}
    for metric in study.measured:
        aligned = study.grid(criterion).metric(metric.name)
        own = -aligned if metric.direction == "lower" else aligned
        places = _places(own[judged])
        parts = [own[judged & (within == k)] for k in range(count)]
        scores = next(iter(study.board.values())).get(metric.name)
        ends = (scores.scale.low, scores.scale.high) if scores else (-np.inf, np.inf)
        found[metric.name] = tuple(
            Band(name, part, places, _density(part, places), *ends)
            for name, part in zip(names, parts, strict=True)
        )
    return found


def _places(scores: Array, count: int = 200) -> Array:
    """Where densities are evaluated: the range of the scores and a tenth more on both sides."""
    low, high = float(scores.min()), float(scores.max())
    room = 0.1 * ((high - low) or 1.0)
    return np.linspace(low - room, high + room, count)


def _density(scores: Array, places: Array) -> Array:
    """A Gaussian kernel density; NaN where the scores do not vary and have none."""
    if scores.size < 2 or float(np.ptp(scores)) == 0:
        return np.full(places.shape, np.nan)
    quarter, three = np.quantile(scores, [0.25, 0.75])
    spread = min(float(scores.std(ddof=1)), float(three - quarter) / 1.34 or np.inf)
    width = 0.9 * spread * scores.size**-0.2
    kernels = np.exp(-0.5 * ((places[:, None] - scores[None, :]) / width) ** 2)
    return np.asarray(kernels.sum(axis=1) / (scores.size * width * np.sqrt(2 * np.pi)))
