"""Pooled corpus scores of parts equal the corpus score of the whole, with its interval."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from generated_rows import generate_rows
from nlgauge import score
from nlgauge.core.errors import OptionError, UsageError
from nlgauge.core.resampling import draw_counts
from nlgauge.core.scores import Scores
from nlgauge.core.totals import CorpusScore, Resampled
from nlgauge.stats.intervals import bootstrap

ROWS = generate_rows(300, systems=["A"])
SPECS = ["bleu", "chrf", "bertscore:model=hashing"]


@pytest.fixture(scope="module")
def scores_by_metric() -> dict[str, Scores]:
    return score(
        [row["candidate"] for row in ROWS],
        [row["references"] for row in ROWS],
        ids=[row["id"] for row in ROWS],
        metrics=SPECS,
    )


def _cut(scores: Scores, *places: int) -> list[Scores]:
    ends = [0, *places, len(scores)]
    return [
        dataclasses.replace(scores, ids=scores.ids[a:b], statistics=scores.statistics[a:b])
        for a, b in pairwise(ends)
    ]


@pytest.mark.parametrize("spec", SPECS)
def test_parts_add_up_to_the_whole(scores_by_metric: dict[str, Scores], spec: str) -> None:
    whole = scores_by_metric[spec].resample(200, seed=5)
    pooled = CorpusScore.pool(
        [part.resample(200, seed=5) for part in _cut(scores_by_metric[spec], 17, 180)]
    )
    assert pooled.count == whole.count == 300
    assert pooled.value == pytest.approx(whole.value, rel=1e-12)
    assert pooled.components == pytest.approx(whole.components, rel=1e-12)
    assert pooled.details == pytest.approx(whole.details, rel=1e-12)
    np.testing.assert_allclose(pooled.resampled_values, whole.resampled_values, rtol=1e-12)
    assert pooled.interval() == pytest.approx(whole.interval(), rel=1e-12)


@pytest.mark.parametrize("spec", SPECS)
def test_the_interval_is_that_of_the_usual_bootstrap(
    scores_by_metric: dict[str, Scores], spec: str
) -> None:
    scores = scores_by_metric[spec]
    low, high = scores.resample(2000).interval(0.95)
    rows = np.hstack([scores.statistics, np.ones((len(scores), 1))])
    finish = scores.metric.finish
    usual = bootstrap(rows, lambda total: finish(total[None, :-1], total[-1:])[0, 0], count=2000)
    width = usual.high - usual.low
    assert low == pytest.approx(usual.low, abs=width * 0.1)
    assert high == pytest.approx(usual.high, abs=width * 0.1)


def test_resampling_is_counts_times_rows() -> None:
    rows = np.random.default_rng(0).random((700, 3))
    ids = [str(i) for i in range(700)]
    drawn = Resampled.of(ids, rows, 1000, seed=2)  # more than one block
    counts = draw_counts(ids, 1000, seed=2)
    np.testing.assert_allclose(drawn.totals, counts @ rows, rtol=1e-12)
    np.testing.assert_array_equal(drawn.counts, counts.sum(axis=1))
    one, two = drawn.split([1, 2])
    np.testing.assert_array_equal(np.hstack([one.totals, two.totals]), drawn.totals)


def test_notes_add_up(scores_by_metric: dict[str, Scores]) -> None:
    first, second = _cut(scores_by_metric["bleu"], 100)
    parts = [
        dataclasses.replace(first, notes={"short": 2, "odd": 1}).corpus_score,
        dataclasses.replace(second, notes={"short": 3}).corpus_score,
    ]
    assert CorpusScore.pool(parts).warnings == (
        "5 of 300 segments: short",
        "1 of 300 segments: odd",
    )


def test_sums_of_different_metrics_are_refused(scores_by_metric: dict[str, Scores]) -> None:
    bleu, chrf = scores_by_metric["bleu"], scores_by_metric["chrf"]
    with pytest.raises(UsageError, match="one metric and one system"):
        CorpusScore.pool([bleu.corpus_score, chrf.corpus_score])
    for other in (bleu.corpus_score, bleu.resample(10, seed=1), bleu.resample(20)):
        with pytest.raises(UsageError, match="different resampling"):
            CorpusScore.pool([bleu.resample(10), other])
    with pytest.raises(UsageError, match="was not resampled"):
        bleu.corpus_score.interval()
    with pytest.raises(OptionError, match=r"in \(0, 1\)"):
        bleu.resample(10).interval(95)


def test_an_interval_from_no_draw_at_all_is_refused() -> None:
    (scores,) = score(["a b"], ["a b"], metrics="chrf").values()
    seed = next(s for s in range(50) if not scores.resample(1, seed=s).resampled.counts.any())
    with pytest.raises(OptionError, match="no resample contains any of the 1 segments"):
        scores.resample(1, seed=seed).interval()


def test_the_dictionary_holds_the_requested_interval(scores_by_metric: dict[str, Scores]) -> None:
    content = scores_by_metric["chrf"].resample(100).to_dict(confidence=0.9)
    interval = content["interval"]
    assert interval["low"] < content["value"] < interval["high"]
    assert interval["confidence"] == 0.9
    assert "interval" not in scores_by_metric["chrf"].corpus_score.to_dict()
