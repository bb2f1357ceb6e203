"""Any Unicode text gets a finite score within the range of the metric."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import NEED_OPTIONS
from nlgauge import Scorer, metric, metric_names

texts = st.text(max_size=60)


def _specs() -> list[str]:
    return [
        NEED_OPTIONS.get(name, name)
        if metric(name).needs.kind == "text"
        else f"{name}:model=hashing"
        for name in metric_names()
    ]


@pytest.mark.parametrize("spec", _specs())
@given(rows=st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_text_gets_a_number(spec: str, rows: list[tuple[str, list[str]]]) -> None:
    scorer = Scorer(spec).fitted([references for _, references in rows])
    (scores,) = scorer.score([text for text, _ in rows], [refs for _, refs in rows]).values()
    assert len(scores.segments) == len(rows)
    assert np.isfinite(scores.segments).all()
    assert np.isfinite(scores.value)
    assert (scores.segments >= scores.scale.low - 1e-9).all()
    assert (scores.segments <= scores.scale.high + 1e-9).all()


@pytest.mark.parametrize("spec", _specs())
@given(text=texts)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_text_scores_better_than_the_best_value(spec: str, text: str) -> None:
    scorer = Scorer(spec).fitted([text])
    (scores,) = scorer.score([text, text], [text, text]).values()
    assert scores.segments[0] == scores.segments[1]
    assert scores.scale.low <= scores.segments[0] <= scores.scale.high + 1e-9
