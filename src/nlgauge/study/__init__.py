"""Studies: texts are scored once, then their matrices are analysed with `nlgauge.stats`.

Only here are texts, metrics and judgements combined; readers, metrics and statistics do not know
each other. The command line and the service import statistics from here.
"""

from nlgauge.stats.levels import choose_level
from nlgauge.stats.matrix import CoefficientMatrix, PermutationMatrix, WilliamsMatrix
from nlgauge.stats.named_coefficients import choose_coefficient
from nlgauge.stats.validation import require_scipy
from nlgauge.study.compare import Comparison, SegmentDifference, compare, compare_scored
from nlgauge.study.correlate import Correlations, correlate
from nlgauge.study.darr import DarrResult, darr
from nlgauge.study.judge import JudgeResult, judge
from nlgauge.study.matrix import matrix, permutation, williams
from nlgauge.study.quality_bands import quality_bands
from nlgauge.study.rescale import fit_baseline
from nlgauge.study.study import Study, choose_criteria, measure
from nlgauge.study.tune import OptionSweep, TunedOptions, Tuning, tune

__all__ = [
    "CoefficientMatrix",
    "Comparison",
    "Correlations",
    "DarrResult",
    "JudgeResult",
    "OptionSweep",
    "PermutationMatrix",
    "SegmentDifference",
    "Study",
    "TunedOptions",
    "Tuning",
    "WilliamsMatrix",
    "choose_coefficient",
    "choose_criteria",
    "choose_level",
    "compare",
    "compare_scored",
    "correlate",
    "darr",
    "fit_baseline",
    "judge",
    "matrix",
    "measure",
    "permutation",
    "quality_bands",
    "require_scipy",
    "tune",
    "williams",
]
