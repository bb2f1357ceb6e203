"""The script for Hugging Face evaluate loads and gives the scores of the library."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlgauge import score
from nlgauge.adapters.evaluate import SCRIPT

evaluate = pytest.importorskip("evaluate", reason="evaluate is not installed")


@pytest.mark.parametrize("references", [["a c", "d e f"], [["a c", "b"], ["d e f", "g"]]])
def test_the_script_loads_with_a_spec_as_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, references: list
) -> None:
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    module = evaluate.load(SCRIPT, "chrf:word_order=2", cache_dir=str(tmp_path))
    found = module.compute(predictions=["a b", "d e"], references=references)
    (expected,) = score(["a b", "d e"], references, metrics="chrf:word_order=2").values()
    assert found["score"] == expected.value
    assert found["segments"] == expected.segments.tolist()
    assert found["signature"] == str(expected.signature)
