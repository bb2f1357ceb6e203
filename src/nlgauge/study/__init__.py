"""The conductors of studies: texts are scored once, then matrices go to the statistics.

Texts meet people's judgements here and nowhere else: the readers know no metric, the metrics no
judgement, and the statistics see only matrices.
"""

from __future__ import annotations

from nlgauge.stats import CoefficientMatrix, PermutationMatrix, WilliamsMatrix
from nlgauge.stats.coefficients import choose_coefficient
from nlgauge.stats.levels import choose_level
from nlgauge.study.compare import (
    Compared,
    Comparison,
    Differing,
    compare,
    compare_scored,
)
from nlgauge.study.correlate import Agreed, Agreement, correlate
from nlgauge.study.darr import Ranked, Ranking, darr, in_pairs, rank_pairs
from nlgauge.study.matrix import matrix, permutation, williams
from nlgauge.study.quality_bands import Band, bands
from nlgauge.study.rescale import fit_baseline
from nlgauge.study.study import Study, choose_criteria, measure
from nlgauge.study.sweep import Sweeps, Swept, sweep
from nlgauge.study.tune import LayerTuning, TunedLayers, tune_layers

__all__ = [
    "Agreed",
    "Agreement",
    "Band",
    "CoefficientMatrix",
    "Compared",
    "Comparison",
    "Differing",
    "LayerTuning",
    "PermutationMatrix",
    "Ranked",
    "Ranking",
    "Study",
    "Sweeps",
    "Swept",
    "TunedLayers",
    "WilliamsMatrix",
    "bands",
    "choose_coefficient",
    "choose_criteria",
    "choose_level",
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
