"""A table that takes a second or two to score, and what an undisturbed run makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.processes import run
from generated_rows import generate_rows, read_files, write_jsonl

# Enough parts to be hit between two of them, small enough for a machine that is busy.
OPTIONS = ("-m", "chrf", "--part-rows", "20", "--confidence", "--resamples", "50")


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(tmp_path_factory.mktemp("faults") / "rows.jsonl", generate_rows(300))


@pytest.fixture(scope="session")
def undisturbed(table: Path) -> dict[str, bytes]:
    folder = table.parent / "undisturbed"
    done = run("score", "-c", table, *OPTIONS, "--parts", folder)
    assert done.returncode == 0, done.stderr
    return read_files(folder)
