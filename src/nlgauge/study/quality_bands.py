"""Distributions of scores in bands of human quality."""

from itertools import pairwise

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError
from nlgauge.core.quality_band import QualityBand
from nlgauge.study.study import Study


def quality_bands(
    study: Study, criterion: str, count: int = 3
) -> dict[str, tuple[QualityBand, ...]]:
    """Return each metric's scores in equally large bands of human quality, the lowest first.

    Scores are not negated; densities are Gaussian with Silverman's bandwidth.

    Parameters
    ----------
    study : Study, the result of `measure`
    criterion : str
    count : int, number of bands, at least 2

    Returns
    -------
    dict of bands by metric

    Raises
    ------
    DataError
        If a band has fewer than 2 outputs.
    """
    people = study.judgements.matrix(criterion)
    judged = np.isfinite(people)
    edges = np.quantile(people[judged], np.linspace(0, 1, count + 1)) if judged.any() else [0, 0]
    within = np.where(judged, np.digitize(people, edges[1:-1]), -1)
    bands = [within == k for k in range(count)]
    if count < 2 or min(int(band.sum()) for band in bands) < 2:
        raise DataError(
            f"the {int(judged.sum())} judgements of {criterion!r} do not fall into {count} bands "
            "of 2 or more (too few, or too many ties); use at least 2 bands, and fewer."
        )
    names = [f"{low:.3g} to <{high:.3g}" for low, high in pairwise(edges)]
    names[-1] = names[-1].replace("<", "")  # only the last band includes its upper end
    bands_by_metric: dict[str, tuple[QualityBand, ...]] = {}
    grid = study.grid(criterion)
    for metric in study.metrics:
        aligned = grid.metric(metric.name)
        oriented = -aligned if metric.direction == "lower" else aligned
        scored = np.isfinite(oriented)
        low, high = (float(end(oriented[judged & scored])) for end in (np.min, np.max))
        margin = 0.1 * ((high - low) or 1.0)
        places = np.linspace(low - margin, high + margin, 200)
        scores = study.first_scores.get(metric.name)
        ends = (scores.scale.low, scores.scale.high) if scores else (-np.inf, np.inf)
        bands_by_metric[metric.name] = tuple(
            QualityBand(name, values, places, _density(values, places), *ends)
            for name, values in zip(names, (oriented[band & scored] for band in bands), strict=True)
        )
    return bands_by_metric


def _density(scores: Floats, places: Floats) -> Floats:
    """Return a Gaussian kernel density; NaN if the scores do not vary."""
    if scores.size < 2 or float(np.ptp(scores)) == 0:
        return np.full(places.shape, np.nan)
    quarter, three = np.quantile(scores, [0.25, 0.75])
    spread = min(float(scores.std(ddof=1)), float(three - quarter) / 1.34 or np.inf)
    width = 0.9 * spread * scores.size**-0.2
    sums = [np.exp(-0.5 * ((place - scores) / width) ** 2).sum() for place in places]
    return np.asarray(np.array(sums) / (scores.size * width * np.sqrt(2 * np.pi)))
