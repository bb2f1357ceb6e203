"""Meta-evaluation on matrices: does a metric agree with people, how surely, and better than whom?

Rows are systems, columns are inputs, NaN is "not judged". No text enters this room.
"""

from __future__ import annotations

from nlgauge.stats.accuracy import (
    Accuracy,
    SoftAccuracy,
    calibrate_ties,
    pairwise_accuracy,
    soft_pairwise_accuracy,
)
from nlgauge.stats.coefficients import (
    COEFFICIENTS,
    TOLERANCE,
    Coefficient,
    kendall_b,
    kendall_c,
    pearson,
    spearman,
)
from nlgauge.stats.darr import (
    KendallLike,
    RankedPairs,
    bootstrap_kendall_like,
    kendall_like,
    pairs_from_names,
    pairs_from_scores,
)
from nlgauge.stats.intervals import (
    Interval,
    bootstrap,
    bootstrap_correlation,
    bootstrap_difference,
    resample_weights,
)
from nlgauge.stats.judgements import Gap, Grid, Judgements, Measured
from nlgauge.stats.levels import LEVELS, Correlation, correlate, per_input
from nlgauge.stats.matrix import (
    CoefficientMatrix,
    PermutationMatrix,
    WilliamsMatrix,
    coefficient_matrix,
    permutation_matrix,
    williams_matrix,
)
from nlgauge.stats.paired_tests import Paired, paired_bootstrap, paired_randomisation
from nlgauge.stats.selection import Split, Sweep, Tried, split, sweep
from nlgauge.stats.significance import (
    Cluster,
    Permutation,
    Williams,
    holm,
    permutation_test,
    rank_clusters,
    williams,
    williams_test,
)

__all__ = [
    "COEFFICIENTS",
    "LEVELS",
    "TOLERANCE",
    "Accuracy",
    "Cluster",
    "Coefficient",
    "CoefficientMatrix",
    "Correlation",
    "Gap",
    "Grid",
    "Interval",
    "Judgements",
    "KendallLike",
    "Measured",
    "Paired",
    "Permutation",
    "PermutationMatrix",
    "RankedPairs",
    "SoftAccuracy",
    "Split",
    "Sweep",
    "Tried",
    "Williams",
    "WilliamsMatrix",
    "bootstrap",
    "bootstrap_correlation",
    "bootstrap_difference",
    "bootstrap_kendall_like",
    "calibrate_ties",
    "coefficient_matrix",
    "correlate",
    "holm",
    "kendall_b",
    "kendall_c",
    "kendall_like",
    "paired_bootstrap",
    "paired_randomisation",
    "pairs_from_names",
    "pairs_from_scores",
    "pairwise_accuracy",
    "pearson",
    "per_input",
    "permutation_matrix",
    "permutation_test",
    "rank_clusters",
    "resample_weights",
    "soft_pairwise_accuracy",
    "spearman",
    "split",
    "sweep",
    "williams",
    "williams_matrix",
    "williams_test",
]
