"""Runtime settings reach models and metrics, and invalid ones are refused."""

from __future__ import annotations

import pytest

from nlgauge import Runtime, Scorer, score
from nlgauge.core.errors import OptionError
from nlgauge.runtime.threads import limit_threads, thread_count


@pytest.mark.parametrize("field", ["batch_tokens", "threads"])
def test_counts_are_at_least_one(field: str) -> None:
    with pytest.raises(OptionError, match=f"{field} must be at least 1, got 0"):
        Runtime(**{field: 0})


def test_downloads_are_off_unless_set_or_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NLGAUGE_DOWNLOAD", raising=False)
    assert not Runtime().may_download
    assert Runtime(download=True).may_download
    monkeypatch.setenv("NLGAUGE_DOWNLOAD", "1")
    assert Runtime().may_download
    assert not Runtime(download=False).may_download


def test_precision_is_the_default_of_metrics_that_set_none() -> None:
    runtime = Runtime(precision="bfloat16")
    specs = ["bertscore:model=hashing", "wmd:model=hashing,precision=float32", "chrf"]
    metrics = list(Scorer(specs, runtime=runtime).metrics.values())
    assert [getattr(each, "precision", None) for each in metrics] == ["bfloat16", "float32", None]


def test_threads_are_limited_while_scoring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    seen = []
    score(["a"], ["a"], runtime=Runtime(threads=1), progress=lambda *_: seen.append(thread_count()))
    assert set(seen) == {1}
    with limit_threads(1), limit_threads(None):
        assert thread_count() == 1
