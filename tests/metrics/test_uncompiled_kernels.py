"""Metrics have the same scores with uncompiled kernels."""

import pytest

import nlgauge
import uncompiled_kernels
from conftest import needs_embedded

SPECS = [
    "lazy_emd",
    "lazy_emd:penalty_reference=0.018,penalty_candidate=0.97",
    "lazy_emd:penalty_reference=inf",
    "mover",
    "bary",
    "bary:weights=idf",
    "depth:directions=200",
]
CANDIDATES = ["A man stands on a boat.", "Two dogs play.", "It rains."]
REFERENCES = ["A guy is standing in a canoe.", "Dogs are playing outside.", "It rains."]


@needs_embedded
@pytest.mark.parametrize("spec", SPECS)
def test_scores_are_the_same_uncompiled(monkeypatch, spec):
    scorer = nlgauge.Scorer(spec)
    compiled = scorer.score(CANDIDATES, REFERENCES)[spec]
    uncompiled_kernels.use(monkeypatch)
    plain = scorer.score(CANDIDATES, REFERENCES)[spec]
    assert compiled.segments == pytest.approx(plain.segments, abs=1e-9)
    for name, values in plain.segment_components.items():
        assert compiled.segment_components[name] == pytest.approx(values, abs=1e-9), name
