"""The numbers of mt-metrics-eval on random scores with ties and missing judgements."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import golden
from nlgauge.stats import correlate, rank_metrics, soft_pairwise_accuracy

STORED = golden("mt_metrics_eval")


@pytest.mark.parametrize("case", STORED["cases"])
def test_every_level_coefficient_and_average(case):
    human, metric = (np.array(case[name], dtype=float) for name in ("human", "metric"))
    for key, want in case["values"].items():
        level, coefficient, average = key.split()
        got = correlate(metric, human, level, coefficient, average=average)
        assert got.value == pytest.approx(want, abs=1e-9), key
    human[:, np.isnan(human).any(axis=0)] = np.nan
    got = soft_pairwise_accuracy(metric, human, compat="mt-metrics-eval")
    assert got.value == pytest.approx(case["spa_of_full_inputs"], abs=1e-9)


@pytest.mark.parametrize("case", STORED["ranks"])
def test_ranks(case):
    assert rank_metrics(np.arange(6)[::-1], case["p"]) == case["ranks"]
