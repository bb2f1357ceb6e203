"""Levels of a study: documents, systems, ranks of metrics, and scores of unjudged outputs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.data import JudgedCorpus
from nlgauge.stats import Judgements, permutation_test, rank_metrics
from nlgauge.stats import correlate as correlate_matrices
from nlgauge.study import Study, correlate, matrix, measure, permutation, tune, williams
from nlgauge.study.level_scores import LevelScores

SYSTEMS, SEGMENTS = 5, 12
DOCUMENTS = tuple(f"d{i // 3}" for i in range(SEGMENTS))


def _judged(documents: bool = True) -> JudgedCorpus:
    rng = np.random.default_rng(5)
    human = np.round(rng.normal(size=(SYSTEMS, SEGMENTS)) + np.arange(SYSTEMS)[:, None], 1)
    stored = {
        name: np.round(human + scale * rng.normal(size=human.shape), 2).ravel()
        for name, scale in (("good", 0.3), ("fair", 1.0), ("poor", 4.0))
    }
    human[0, 2] = human[3, 5] = np.nan
    n = SYSTEMS * SEGMENTS
    corpus = Corpus.of(
        ["c"] * n,
        ["r"] * n,
        systems=[f"S{i}" for i in range(SYSTEMS) for _ in range(SEGMENTS)],
        ids=[str(j) for _ in range(SYSTEMS) for j in range(SEGMENTS)],
    )
    named = DOCUMENTS * SYSTEMS if documents else None
    return JudgedCorpus(corpus, {"q": human.ravel()}, (), stored, documents=named)


@pytest.fixture(scope="module")
def study() -> Study:
    return measure(_judged(), [], scores=["good", "fair", "poor"])


def _matrices(study: Study, name: str) -> tuple[np.ndarray, np.ndarray]:
    grid = study.grid("q")
    return grid.metric(f"stored:{name}"), grid.human


def test_documents_are_means_of_judged_segments(study: Study) -> None:
    metric, human = _matrices(study, "fair")
    means = []
    for values in (metric, human):
        means.append(
            [
                np.mean([v for v, h in zip(row, people, strict=True) if np.isfinite(h)])
                for row, people in zip(values.reshape(-1, 3), human.reshape(-1, 3), strict=True)
            ]
        )
    want = np.corrcoef(*means)[0, 1]
    found = correlate(study, levels="document")
    assert found.value("stored:fair", "q", "document") == pytest.approx(want, abs=1e-9)
    assert {entry.correlation.n for entry in found.entries} == {20}
    shared = matrix(study, level="document")
    assert shared.values[0, 2] == pytest.approx(want, abs=1e-9)
    assert williams(study, "q", level="document").n == 20
    assert permutation(study, "q", level="document", over="cells", count=20).cells == 20


def test_the_document_level_needs_documents() -> None:
    plain = measure(_judged(documents=False), [], scores="good")
    with pytest.raises(DataError, match="does not name the documents of its 12 segments"):
        correlate(plain, levels="document")
    with pytest.raises(DataError, match="does not name the documents"):
        williams(measure(_judged(False), [], scores=["good", "fair"]), "q", level="document")
    with pytest.raises(OptionError, match="another level than 'document'"):
        tune(_judged(), "chrf", {"beta": "1..2"}, level="document")


def test_a_segment_has_one_document() -> None:
    with pytest.raises(DataError, match="segment '1' is in the documents 'a' and 'b'"):
        Judgements.from_columns(["A", "B"], ["1", "1"], {"q": [1.0, 2.0]}, ["a", "b"])
    with pytest.raises(ShapeError, match="1 documents for 2 segments"):
        Judgements(("A",), ("1", "2"), ("q",), np.ones((1, 2, 1)), ("a",))


def test_micro_averages(study: Study) -> None:
    metric, human = _matrices(study, "poor")
    for level in ("text", "by_system"):
        found = correlate(
            study, levels=level, coefficients=["spearman", "pearson"], average="micro"
        )
        want = correlate_matrices(metric, human, level, "spearman", average="micro").value
        assert found.value("stored:poor", "q", level, "spearman") == pytest.approx(want)
        assert want != correlate_matrices(metric, human, level, "spearman").value
    mixed = correlate(study, levels=["segment", "text"], average="micro")
    plain = correlate_matrices(metric, human).value
    assert mixed.value("stored:poor", "q", "segment") == pytest.approx(plain)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"average": "micro"}, "pearson at the segment level has no such mean"),
        ({"average": "other"}, "average is 'other'"),
        ({"system_score": "corpus"}, "at the level segment; add the level 'system'"),
    ],
)
def test_options_that_no_coefficient_uses_are_refused(
    study: Study, options: dict[str, str], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        correlate(study, levels="segment", **options)


def test_scores_of_all_outputs_at_the_system_level(study: Study) -> None:
    """The mean of a metric includes the two outputs that nobody judged."""
    metric, human = _matrices(study, "poor")
    want = np.corrcoef(metric.mean(axis=1), np.nanmean(human, axis=1))[0, 1]
    found = correlate(study, levels="system", system_score="all")
    assert found.value("stored:poor", "q", "system") == pytest.approx(want, abs=1e-9)
    usual = correlate(study, levels="system")
    assert usual.value("stored:poor", "q", "system") != pytest.approx(want, abs=1e-6)
    with pytest.raises(OptionError, match="'mean', 'all' or 'corpus'"):
        correlate(study, system_score="sum")


def test_the_bootstrap_of_means_of_all_outputs_draws_inputs(study: Study) -> None:
    metric, human = _matrices(study, "poor")
    options = {"levels": "system", "system_score": "all", "confidence": 0.9}
    found = correlate(study, **options, count=200, seed=3).entries[-1]
    drawn = np.random.default_rng(3).integers(SEGMENTS, size=(200, SEGMENTS))
    values = [
        np.corrcoef(metric[:, each].mean(axis=1), np.nanmean(human[:, each], axis=1))[0, 1]
        for each in drawn
    ]
    want = np.quantile(values, [0.05, 0.95])
    assert (found.interval.low, found.interval.high) == pytest.approx(tuple(want))
    assert found.interval.over == "inputs"


@pytest.mark.parametrize(
    ("level", "name", "over"),
    [
        ("segment", "pearson", "cells"),
        ("by_system", "kendall_b", "cells"),
        ("text", "acc_eq", "pairs"),
        ("document", "spearman", "cells"),
        ("system", "pearson", "cells"),
        ("system", "spa", "cells"),
    ],
)
def test_ranks_are_those_of_permutation_tests(study: Study, level, name, over) -> None:
    labels = ["good", "fair", "poor"]
    data = [_matrices(study, label)[0] for label in labels]
    human = _matrices(study, "good")[1]
    data = [np.where(np.isfinite(human), values, np.nan) for values in data]
    if level == "document":
        data = [np.nanmean(values.reshape(SYSTEMS, 4, 3), axis=2) for values in data]
        human = np.nanmean(human.reshape(SYSTEMS, 4, 3), axis=2)
    if level == "system" and name != "spa":
        data = [np.nanmean(values, axis=1)[:, None] for values in data]
        human = np.nanmean(human, axis=1)[:, None]
    values = [correlate_matrices(each, human, level, name).value for each in data]
    p = np.ones((3, 3))
    for i, j in combinations(range(3), 2):
        test = permutation_test(data[i], data[j], human, level, name, over=over, count=60, seed=2)
        p[i, j], p[j, i] = test.p, test.p_reverse
    found = correlate(study, levels=level, coefficients=name, ranks=True, count=60, seed=2)
    assert [entry.rank for entry in found.entries] == rank_metrics(values, p)
    assert found.to_dict()["correlations"][0]["rank"] == 1


def test_without_ranks_there_are_none(study: Study) -> None:
    assert correlate(study).entries[0].rank is None
    assert "rank" not in correlate(study).entries[0].to_dict()


def test_ranks_of_corpus_scores() -> None:
    """The 8 exchanges of three system scores cannot give p <= .05."""
    texts = ["a b c d", "a b c", "z"]
    corpus = Corpus.of(
        [text for text in texts for _ in range(2)],
        ["a b c d e"] * 6,
        systems=[f"S{i}" for i in range(3) for _ in range(2)],
        ids=["1", "2"] * 3,
    )
    judged = JudgedCorpus(corpus, {"q": np.repeat([3.0, 2, 1], 2)}, ())
    found = correlate(judged, ["bleu", "chrf"], levels="system", system_score="corpus", ranks=True)
    assert [entry.rank for entry in found.entries] == [1, 1]


def test_corpus_scores_are_tested_against_stored_scores_too() -> None:
    """The tested difference is that of the reported correlations, of corpus scores for BLEU."""
    texts = ["a b c d", "a b c x", "a b y z", "d c b a e", "a b c d e"]
    corpus = Corpus.of(
        [text for long in texts for text in (long, "a", "b c d e f")],
        ["a b c d e", "a b", "b c d e f g"] * 5,
        systems=[f"S{i}" for i in range(5) for _ in range(3)],
        ids=["1", "2", "3"] * 5,
    )
    human = np.array([2.0, 5, 1, 4, 3])
    stored = {"other": np.repeat([2.5, 5, 2, 2, 3], 3)}
    study = measure(
        JudgedCorpus(corpus, {"q": np.repeat(human, 3)}, (), stored), "bleu", scores="other"
    )
    found = correlate(study, levels="system", system_score="corpus")
    one, other = (entry.correlation.value for entry in found.entries)
    assert one != pytest.approx(correlate(study, levels="system").entries[0].correlation.value)
    scores = LevelScores.of(study, "q", "system", "corpus")
    assert scores.differences("pearson", count=5)[0, 1][-1] == pytest.approx(one - other)
