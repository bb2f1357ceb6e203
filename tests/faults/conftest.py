"""A table that takes a second or two to score, and the files of an uninterrupted run on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.processes import run
from generated_rows import generate_rows, read_files, write_jsonl
from nlgauge.data.systems import InputFiles
from nlgauge.scale.run import Run

# Many parts, so that a fault falls between two of them, and few rows, for busy machines.
OPTIONS = ("-m", "chrf", "--part-rows", "20", "--confidence", "--resamples", "50")


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(tmp_path_factory.mktemp("faults") / "rows.jsonl", generate_rows(300))


@pytest.fixture(scope="session")
def uninterrupted(table: Path) -> dict[str, bytes]:
    folder = table.parent / "uninterrupted"
    done = run("score", "-c", table, *OPTIONS, "--parts", folder)
    assert done.returncode == 0, done.stderr
    return read_files(folder)


def ray_run(table: Path, folder: Path) -> Run:
    """Return a run on Ray with OPTIONS and two workers, not yet started."""
    return Run(
        InputFiles([str(table)]),
        ("chrf",),
        folder,
        part_rows=20,
        confidence=0.95,
        resamples=50,
        engine="ray",
        workers=2,
    )
