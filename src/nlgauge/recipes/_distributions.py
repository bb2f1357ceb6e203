"""Distributions of scores by people's judgement, each within the range of its metric."""

from __future__ import annotations

from collections.abc import Sequence

from nlgauge.figures.distributions import Curve
from nlgauge.study import Study, quality_bands


def curves(study: Study, criterion: str, names: Sequence[str]) -> dict[str, list[Curve]]:
    """By metric, a curve for each band of quality under its name, the lowest first."""
    return {
        metric: [
            Curve(name, band.scores, band.places, band.density, band.low, band.high)
            for name, band in zip(names, found, strict=True)
        ]
        for metric, found in quality_bands(study, criterion, len(names)).items()
    }
