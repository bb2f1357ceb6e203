"""Input that is no array of numbers is a DataError in every function."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge import stats
from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.partial_correlation import partial_correlation

FUNCTIONS = {
    "correlate": lambda x: stats.correlate(x, x),
    "pearson": lambda x: stats.pearson(x, x),
    "spearman": lambda x: stats.spearman(x, x),
    "kendall_b": lambda x: stats.kendall_b(x, x),
    "kendall_c": lambda x: stats.kendall_c(x, x),
    "bootstrap": lambda x: stats.bootstrap(x, sum),
    "paired_bootstrap": lambda x: stats.paired_bootstrap(x, x, sum),
    "paired_permutation": lambda x: stats.paired_permutation(x, x, sum),
    "permutation_test": lambda x: stats.permutation_test(x, x, x),
    "williams_test": lambda x: stats.williams_test(x, x, x),
    "calibrate_ties": lambda x: stats.calibrate_ties(x, x),
    "soft_pairwise_accuracy": lambda x: stats.soft_pairwise_accuracy(x, x),
    "score_pairs": lambda x: stats.score_pairs(x, x),
    "fit_isotonic": stats.fit_isotonic,
    "fit_logistic": lambda x: stats.fit_logistic(x, x, x),
    "holm": stats.holm,
    "mcnemar": lambda x: stats.mcnemar(x, x),
    "rater_agreement": stats.rater_agreement,
    "alternative_annotator_test": lambda x: stats.alternative_annotator_test(x, x),
    "length_bias": lambda x: stats.length_bias(x, x),
    "self_preference": lambda x: stats.self_preference(x, x),
    "partial_correlation": lambda x: partial_correlation(x, x, x),
    "pilot_of": stats.pilot_of,
    "rank_metrics": lambda x: stats.rank_metrics(x, x),
    "rank_clusters": lambda x: stats.rank_clusters("ab", x, x),
    "pairs_from_scores": stats.pairs_from_scores,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "values",
    [["a", "b"], [[1, 2], [3]], [{}, 1], [[1, np.inf, 2]], [1, np.inf]],
    ids=["text", "ragged", "objects", "infinite", "infinite vector"],
)
def test_no_numbers(name, values):
    with pytest.raises(DataError):
        FUNCTIONS[name](values)


def test_masked_values_are_missing():
    human = [1.0, 2.0, 4.0, 3.0]
    metric = np.ma.masked_array([1, 2, -99, 5], mask=[0, 0, 1, 0])
    want = stats.correlate([1, 2, np.nan, 5], human)
    assert stats.correlate(metric, human) == want
    assert stats.correlate([1, 2, 5], human[:2] + human[3:]).value == want.value
    with pytest.raises(DataError, match="1 of 4 rows of rows have NaN"):
        stats.bootstrap(metric, sum)


def test_ragged_rows_name_the_argument():
    with pytest.raises(DataError, match=r"metric is not an array of numbers.*inhomogeneous"):
        stats.correlate([[1, 2], [3]], [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"scoring": "mse"}, OptionError, "scoring is 'mse'"),
        ({"alpha": 5}, OptionError, "alpha is 5"),
        ({"epsilon": -1}, OptionError, "epsilon is -1"),
        ({"names": ["a", "b"]}, ShapeError, "3 people have 2 names"),
    ],
)
def test_options_of_the_alternative_annotator_test(options, error, message):
    with pytest.raises(error, match=message):
        stats.alternative_annotator_test([1, 2], [[1, 2, 1], [2, 2, 2]], **options)
