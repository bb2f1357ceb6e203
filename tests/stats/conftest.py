"""Where the real judgements lie; tests that need them skip, with the reason, when they do not."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"


def _existing(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"needs {path}, which is not part of the project")
    return path


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(_existing(SHARED / "golden.json").read_text("utf-8"))
    return content["meta_evaluation"]


@pytest.fixture(scope="session")
def lines() -> Callable[[str], list[str]]:
    def read(name: str) -> list[str]:
        path = _existing(SHARED / "data" / name)
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
        return [line for line in text.split("\n") if line]

    return read


@pytest.fixture(scope="session")
def records(lines: Callable[[str], list[str]]) -> Callable[[str], list[dict[str, Any]]]:
    return lambda name: [json.loads(line) for line in lines(name)]
