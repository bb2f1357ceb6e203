"""Published numbers from published scores and judgements."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.stats import (
    Grid,
    Judgements,
    MetricScores,
    correlate,
    kendall_like,
    pairs_from_scores,
)
from nlgauge.stats.darr import pairs_from_names
from nlgauge.stats.matrix import coefficient_matrix

THREE = ("pearson", "spearman", "kendall_b")


@pytest.mark.parametrize(
    ("kind", "metric", "r", "tau"),
    [("abs", "rouge_2_recall", 0.983, 0.868), ("ext", "mover_score", 0.012, -0.018)],
)
def test_realsumm_system_level(records, kind, metric, r, tau):
    stored = {
        row["id"]: row["scores"][metric]
        for row in records("realsumm/stored_metric_scores.jsonl.gz")
    }
    rows = [row for row in records("realsumm/realsumm.jsonl.gz") if row["type"] == kind]
    judged = Judgements.from_rows((row["system"], row["doc_id"], row["human"]) for row in rows)
    measured = MetricScores.from_rows(
        metric, [(row["system"], row["doc_id"], stored[row["id"]]) for row in rows]
    )
    grid = Grid.align(judged, "litepyramid_recall", [measured])
    assert grid.report() == ()
    assert grid.human.shape == ({"abs": 14, "ext": 11}[kind], 100)
    got = [correlate(grid.metric(metric), grid.human, "system", c) for c in ("r", "tau")]
    assert [g.value for g in got] == pytest.approx([r, tau], abs=0.0006)
    assert got[0].n == grid.human.shape[0]


@pytest.fixture(scope="module")
def wmt15(records):
    rows = records("wmt15_da/de-en.jsonl")
    judged = Judgements.from_rows((row["system"], row["id"], row["human"]) for row in rows)
    stored = {
        row["column"]: row["scores"]
        for row in records("wmt15_da/stored_scores_colombo_de-en.jsonl.gz")
    }
    return judged, stored


COLUMN = "bert-base-mnli_idf_wsw_nbarycentersTrue_range(10, 13)"


def test_wmt15_distance_declared_lower_correlates_positively(wmt15):
    judged, stored = wmt15
    assert judged.systems == ("unknown",)
    grid = Grid.align(judged, "da_z", [MetricScores.like(judged, "bary", stored[COLUMN], "lower")])
    assert grid.negated == ("bary",)
    got = [100 * correlate(grid.metric("bary"), grid.human, "segment", c).value for c in THREE]
    assert got == pytest.approx([75.8, 74.5, 56.2], abs=0.06)


def test_wmt15_distance_declared_higher_shows_its_sign(wmt15):
    judged, stored = wmt15
    grid = Grid.align(judged, "da_z", [MetricScores.like(judged, "bary", stored[COLUMN])])
    got = 100 * correlate(grid.metric("bary"), grid.human).value
    assert got == pytest.approx(-75.8, abs=0.06)


def test_wmt15_matrix_of_stored_columns(wmt15):
    judged, stored = wmt15
    measured = [
        MetricScores.like(judged, "bary", stored[COLUMN], "lower"),
        MetricScores.like(judged, "bleu", stored["bleu"]),
    ]
    got = coefficient_matrix(Grid.align(judged, "da_z", measured))
    assert got.names == ("human", "bary", "bleu")
    assert got.values[0, 1] > got.values[0, 2] > 0.4
    assert got.p[0, 1] < 1e-50


def test_webnlg_correctness_against_data_coverage(records):
    judged = Judgements.from_rows(
        (row["system"], row["segment"], row["human"]) for row in records("webnlg2020/en.jsonl.gz")
    ).without("WebNLG-2020-reference")
    assert judged.values.shape == (16, 178, 5)
    people, coverage = judged.matrix("Correctness"), judged.matrix("DataCoverage")
    got = [correlate(coverage, people, "system", c) for c in THREE]
    assert [100 * g.value for g in got] == pytest.approx([97.8, 87.4, 73.3], abs=0.06)
    # One cell of FORGE2020 was never judged.
    assert (got[0].n, got[0].cells) == (16, 16 * 178 - 1)
    assert np.isnan(people).sum() == 1


@pytest.fixture(scope="module")
def wmt18(records):
    rows = records("wmt18_darr/cs-en.jsonl.gz")
    return rows, Judgements.from_rows((row["system"], row["segment"], row["human"]) for row in rows)


def test_wmt18_pairs_are_the_published_ones(wmt18, lines):
    _, judged = wmt18
    made = pairs_from_scores(judged.matrix("da_raw"))
    assert len(made) == 5110
    given = [line.split("\t") for line in lines("wmt18_darr/pairs/cs-en.darr.tsv.gz")[1:]]
    named = pairs_from_names(given, judged.systems, judged.segments)

    def as_set(pairs):
        return set(zip(pairs.segment, pairs.better, pairs.worse, strict=True))

    assert as_set(made) == as_set(named)
    assert len(named) == 5110


def test_wmt18_sentence_bleu(wmt18):
    from sacrebleu.metrics import BLEU

    rows, judged = wmt18
    bleu = BLEU(smooth_method="exp", effective_order=True)
    measured = MetricScores.from_rows(
        "bleu",
        [
            (
                row["system"],
                row["segment"],
                bleu.sentence_score(row["candidate"], row["references"]).score,
            )
            for row in rows
        ],
    )
    grid = Grid.align(judged, "da_raw", [measured])
    got = kendall_like(grid.metric("bleu"), pairs_from_scores(grid.human))
    assert got.concordant + got.discordant == 5110
    assert got.pairs_missing == 0
    assert got.value == pytest.approx(0.225, abs=0.003)
