"""Meta-evaluation statistics: how well metrics agree with people, and how certain that is.

Every matrix has one row per system and one column per input (a source text, a document, a segment
of a test set); NaN is a cell that was not scored or not judged. A vector is treated as one row:
data without names of systems has one system. Higher must mean better; `Grid.align` negates
distances.

Resampling inputs (columns) generalises to new texts for the same systems, resampling systems (rows)
to new systems on the same texts, and both to both (Deutsch et al. 2021). `count` is the number of
resamples, `confidence` the coverage of an interval, `seed` an integer or `numpy.random.Generator`.
Errors are `DataError`, `OptionError` and `ShapeError` of `nlgauge.core.errors`, all ValueErrors.
"""

from nlgauge.stats.accuracy import (
    calibrate_ties,
    chance_accuracy,
    pairwise_accuracy,
    soft_pairwise_accuracy,
)
from nlgauge.stats.alternative_annotator import alternative_annotator_test
from nlgauge.stats.calibration import calibrate, fit_isotonic, fit_logistic, score_pairs
from nlgauge.stats.coefficients import COEFFICIENTS, kendall_b, kendall_c, pearson, spearman
from nlgauge.stats.darr import bootstrap_kendall_like, kendall_like, pairs_from_scores
from nlgauge.stats.groups import document_means, sum_groups
from nlgauge.stats.intervals import (
    Interval,
    bootstrap,
    bootstrap_correlation,
    bootstrap_difference,
    fisher_interval,
)
from nlgauge.stats.judge_bias import length_bias, self_preference, wilson_interval
from nlgauge.stats.judgements import Grid, Judgements, MetricScores
from nlgauge.stats.levels import Correlation, correlate
from nlgauge.stats.mcnemar import mcnemar
from nlgauge.stats.named_coefficients import LEVELS
from nlgauge.stats.paired_tests import (
    paired_bootstrap,
    paired_permutation,
    paired_randomisation,
    rank_clusters,
)
from nlgauge.stats.permutation_tests import permutation_test, rank_metrics
from nlgauge.stats.power import (
    contributions,
    detectable_difference,
    pilot_of,
    power_of_difference,
    segments_needed,
)
from nlgauge.stats.rater_agreement import bootstrap_agreement, rater_agreement
from nlgauge.stats.selection import split, sweep
from nlgauge.stats.significance import holm, williams, williams_test
from nlgauge.stats.williams_power import detectable_correlation, points_needed, power_of_williams

__all__ = [
    "COEFFICIENTS",
    "LEVELS",
    "Correlation",
    "Grid",
    "Interval",
    "Judgements",
    "MetricScores",
    "alternative_annotator_test",
    "bootstrap",
    "bootstrap_agreement",
    "bootstrap_correlation",
    "bootstrap_difference",
    "bootstrap_kendall_like",
    "calibrate",
    "calibrate_ties",
    "chance_accuracy",
    "contributions",
    "correlate",
    "detectable_correlation",
    "detectable_difference",
    "document_means",
    "fisher_interval",
    "fit_isotonic",
    "fit_logistic",
    "holm",
    "kendall_b",
    "kendall_c",
    "kendall_like",
    "length_bias",
    "mcnemar",
    "paired_bootstrap",
    "paired_permutation",
    "paired_randomisation",
    "pairs_from_scores",
    "pairwise_accuracy",
    "pearson",
    "permutation_test",
    "pilot_of",
    "points_needed",
    "power_of_difference",
    "power_of_williams",
    "rank_clusters",
    "rank_metrics",
    "rater_agreement",
    "score_pairs",
    "segments_needed",
    "self_preference",
    "soft_pairwise_accuracy",
    "spearman",
    "split",
    "sum_groups",
    "sweep",
    "williams",
    "williams_test",
    "wilson_interval",
]
