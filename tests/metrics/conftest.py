"""Shared by tests of metrics: scores of a named metric, and files of word vectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nlgauge import metric, score
from nlgauge.core.scores import Scores


def score_with(name: str, candidates: list[str], references: list[Any], **options: Any) -> Scores:
    """Return the scores of one metric with options."""
    built = metric(name, **options)
    return score(candidates, references, metrics=built)[built.label()]


@pytest.fixture
def write_vectors(tmp_path: Path) -> Callable[[str], str]:
    """A function that writes word vectors to a file and returns its path, a value for `model`."""

    def write(lines: str) -> str:
        path = tmp_path / "vectors.txt"
        path.write_text(lines, "utf-8")
        return str(path)

    return write
