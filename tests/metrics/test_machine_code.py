"""Machine code changes a metric's time, not its scores: numba's and numpy's are the same."""

import pytest

import nlgauge
from conftest import example, needs_embedded
from nlgauge.measure import balanced, barycenter, depth, unbalanced

pytest.importorskip("numba", reason="compiled by numba (pip install nlgauge[fast])")

SPECS = [
    "lazy_emd",
    "lazy_emd:penalty_reference=0.018,penalty_candidate=0.97",
    "lazy_emd:penalty_reference=inf",
    "bary",
    "bary:weights=idf",
    "depth",
]


@needs_embedded
@pytest.mark.parametrize("spec", SPECS)
def test_scores_are_the_same_without_numba(monkeypatch, spec):
    candidates, references = example("literal") + example("hasty"), example("reference.a") * 2
    scorer = nlgauge.Scorer(spec)
    quick = scorer.score(candidates, references)[spec]
    monkeypatch.setattr(balanced, "_warm_simplex", lambda: None)
    for room in (unbalanced, barycenter, depth):
        monkeypatch.setattr(room, "_machine", lambda: None)
    plain = scorer.score(candidates, references)[spec]
    assert quick.segments == pytest.approx(plain.segments, abs=1e-9)
    for name, values in plain.segment_components.items():
        assert quick.segment_components[name] == pytest.approx(values, abs=1e-9), name
