"""Readers of the real judgements; tests that need them are skipped if they are missing."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def lines(shared_data: Path) -> Callable[[str], list[str]]:
    def read(name: str) -> list[str]:
        path = shared_data / name
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
        return [line for line in text.split("\n") if line]

    return read


@pytest.fixture(scope="session")
def records(lines: Callable[[str], list[str]]) -> Callable[[str], list[dict[str, Any]]]:
    return lambda name: [json.loads(line) for line in lines(name)]
