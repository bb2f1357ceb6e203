"""The conductors of studies: texts are scored once, then matrices go to the statistics.

Texts meet people's judgements here and nowhere else: the readers know no metric, the metrics no
judgement, and the statistics see only matrices.
"""

from __future__ import annotations

from nlgauge.studying.agreement import Agreed, Agreement, correlate
from nlgauge.studying.bands import Band, bands
from nlgauge.studying.comparison import (
    Compared,
    Comparison,
    Differing,
    compare,
    compare_scored,
)
from nlgauge.studying.matrices import matrix, permutation, williams
from nlgauge.studying.ranking import Ranked, Ranking, darr, in_pairs, rank_pairs
from nlgauge.studying.rescaling import fit_baseline
from nlgauge.studying.study import Study, choose_criteria, measure
from nlgauge.studying.sweeping import Sweeps, Swept, sweep
from nlgauge.studying.tuning import LayerTuning, TunedLayers, tune_layers

__all__ = [
    "Agreed",
    "Agreement",
    "Band",
    "Compared",
    "Comparison",
    "Differing",
    "LayerTuning",
    "Ranked",
    "Ranking",
    "Study",
    "Sweeps",
    "Swept",
    "TunedLayers",
    "bands",
    "choose_criteria",
    "compare",
    "compare_scored",
    "correlate",
    "darr",
    "fit_baseline",
    "in_pairs",
    "matrix",
    "measure",
    "permutation",
    "rank_pairs",
    "sweep",
    "tune_layers",
    "williams",
]
