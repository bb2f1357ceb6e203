"""Studies: texts are scored once, then their matrices are analysed with `nlgauge.stats`.

Only this package combines texts, metrics and judgements; readers, metrics and statistics are
independent of each other. The command line and the service import statistics from here.
"""

from nlgauge.stats.levels import choose_level
from nlgauge.stats.matrix import CoefficientMatrix, PermutationMatrix, WilliamsMatrix
from nlgauge.stats.named_coefficients import choose_coefficient
from nlgauge.stats.validation import require_scipy
from nlgauge.study.compare import compare, compare_scored
from nlgauge.study.comparison import Comparison, SegmentDifference
from nlgauge.study.correlate import Correlations, correlate
from nlgauge.study.darr import DarrResult, darr
from nlgauge.study.interpretation import (
    Calibration,
    Interpretation,
    fit_preferences,
    interpret,
    interpret_comparison,
    read_calibrations,
    select_calibrations,
)
from nlgauge.study.judge import JudgeResult, judge
from nlgauge.study.matrix import matrix, permutation, williams
from nlgauge.study.quality_bands import quality_bands
from nlgauge.study.rescale import fit_baseline
from nlgauge.study.sample_size import plan_metrics, plan_systems
from nlgauge.study.spans import SpanStudy, evaluate_spans
from nlgauge.study.study import Study, choose_criteria, measure
from nlgauge.study.task_ranking import TaskRanking, rank_by_tasks
from nlgauge.study.tasks import TaskSet, read_tasks, task_set_names
from nlgauge.study.tune import OptionSweep, TunedOptions, Tuning, tune

__all__ = [
    "Calibration",
    "CoefficientMatrix",
    "Comparison",
    "Correlations",
    "DarrResult",
    "Interpretation",
    "JudgeResult",
    "OptionSweep",
    "PermutationMatrix",
    "SegmentDifference",
    "SpanStudy",
    "Study",
    "TaskRanking",
    "TaskSet",
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
    "evaluate_spans",
    "fit_baseline",
    "fit_preferences",
    "interpret",
    "interpret_comparison",
    "judge",
    "matrix",
    "measure",
    "permutation",
    "plan_metrics",
    "plan_systems",
    "quality_bands",
    "rank_by_tasks",
    "read_calibrations",
    "read_tasks",
    "require_scipy",
    "select_calibrations",
    "task_set_names",
    "tune",
    "williams",
]
