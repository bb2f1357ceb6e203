"""Studies of stored scores with gaps, and of documents."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.core.corpus import Corpus
from nlgauge.data import JudgedCorpus
from nlgauge.stats import MetricScores, williams_test
from nlgauge.study import correlate, measure, plan_metrics, quality_bands
from nlgauge.study.study import Study

RNG = np.random.default_rng(0)
SYSTEMS, INPUTS = 4, 12
HUMAN = RNG.normal(size=(SYSTEMS, INPUTS))
GOOD, BAD = (HUMAN + noise * RNG.normal(size=HUMAN.shape) for noise in (0.5, 2))


def _study(**scores: np.ndarray) -> Study:
    """Return a study of these scores, with documents of three segments."""
    systems = np.repeat([f"s{i}" for i in range(SYSTEMS)], INPUTS).tolist()
    ids = [f"i{i}" for i in range(INPUTS)] * SYSTEMS
    corpus = Corpus.of(["a b"] * len(ids), ["a b"] * len(ids), systems=systems, ids=ids)
    documents = tuple(f"d{int(name[1:]) // 3}" for name in ids)
    judged = JudgedCorpus(corpus, {"q": HUMAN.ravel().tolist()}, (), documents=documents)
    study = measure(judged, "bleu", missing="keep")
    metrics = [MetricScores.like(study.judgements, name, values) for name, values in scores.items()]
    return Study(study.corpus, study.judgements, tuple(metrics), {"s0": {}}, (), "keep")


def test_bands_of_quality_leave_out_missing_scores() -> None:
    gaps = GOOD.copy()
    gaps[1, 3] = np.nan
    found = quality_bands(_study(good=gaps), "q", 3)["good"]
    assert sum(band.scores.size for band in found) == SYSTEMS * INPUTS - 1
    for band in found:
        assert np.isfinite([*band.scores, *band.places, *band.density]).all()


def test_metrics_are_planned_for_documents() -> None:
    pytest.importorskip("scipy")
    study = _study(good=GOOD, bad=BAD)
    (pilot,) = plan_metrics(study, "q", level="document").pilots
    grid = study.grid("q", "document")
    assert pilot.test.n == 16
    assert pilot.test == williams_test(grid.metric("good"), grid.metric("bad"), grid.human)


def test_notes_name_what_is_undefined() -> None:
    constant = GOOD.copy()
    constant[0] = 1
    notes = correlate(_study(good=constant), levels="by_system").notes
    text = "1 of 4 systems are undefined (constant, or fewer than 2 judged inputs)"
    assert any(text in note for note in notes)
    constant[:, 2] = 1
    notes = correlate(_study(good=constant), levels="text").notes
    text = "1 of 12 inputs are undefined (constant, or fewer than 2 judged systems)"
    assert any(text in note for note in notes)
