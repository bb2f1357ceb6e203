"""A run that is killed and started again writes the same bytes as an uninterrupted one.

``NLGAUGE_KILLS=20 pytest tests/faults/test_kills.py`` kills 20 times instead of twice.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from faults.conftest import OPTIONS
from faults.processes import command_line, count_parts, descendant_pids, run, start, wait_for
from generated_rows import generate_rows, read_files, write_jsonl
from nlgauge.data.systems import InputFiles
from nlgauge.scale.run import Run

KILLS = int(os.environ.get("NLGAUGE_KILLS", "2"))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLS))
def test_a_run_killed_at_a_random_moment_resumes_with_the_same_bytes(
    number: int, table: Path, uninterrupted: dict[str, bytes], tmp_path: Path
) -> None:
    draw = random.Random(number)
    folder = tmp_path / "out"
    arguments = ["score", "-c", table, *OPTIONS, "--parts", folder, "--workers", 1 + number % 2]
    parts = sum(name.startswith("parts/") and name.endswith(".json") for name in uninterrupted)
    moment = draw.randrange(parts)
    with start(*arguments) as process:
        wait_for(lambda: count_parts(folder) >= moment, process)
        time.sleep(draw.random() * 0.05)
        process.kill()
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    assert read_files(folder) == uninterrupted
    _assert_every_row_once(folder, 600)


def _assert_every_row_once(folder: Path, count: int) -> None:
    files = (folder / "parts").glob("*.jsonl")
    rows = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    keys = {(row["system"], row["id"]) for row in rows}
    assert len(rows) == len(keys) == count


class _Killed(BaseException):
    """Like a kill, it passes every `except Exception`."""


def test_a_run_killed_at_any_sync_or_rename_resumes_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small run is ended before each of its fsync and rename calls in turn."""
    table = write_jsonl(tmp_path / "rows.jsonl", generate_rows(12))
    options: dict[str, Any] = {"metrics": ("chrf",), "part_rows": 12, "confidence": 0.9}
    sources = InputFiles([str(table)], [])
    Run(sources, folder=tmp_path / "whole", resamples=5, **options).execute()
    steps = 0

    def counted(real: Any) -> Any:
        def step(*given: Any) -> Any:
            nonlocal steps
            steps -= 1
            if steps == 0:
                raise _Killed
            return real(*given)

        return step

    for last in range(1, 100):
        folder = tmp_path / f"killed-{last}"
        run_ = Run(sources, folder=folder, resamples=5, **options)
        with monkeypatch.context() as patched:
            steps = last
            patched.setattr(os, "fsync", counted(os.fsync))
            patched.setattr(Path, "replace", counted(Path.replace))
            try:
                run_.execute()
            except _Killed:
                pass
            else:
                break
        run_.execute()
        assert read_files(folder) == read_files(tmp_path / "whole")
    assert last > 15  # two parts of two files, and three files of the run, in several steps


@pytest.mark.slow
def test_parts_of_a_killed_worker_are_scored_again(
    table: Path, uninterrupted: dict[str, bytes], tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    arguments = ["score", "-c", table, *OPTIONS, "--parts", folder, "--workers", 2]
    with start(*arguments) as process:
        wait_for(lambda: count_parts(folder) >= 3, process)
        workers = [pid for pid in descendant_pids(process.pid) if "spawn_main" in command_line(pid)]
        assert workers
        os.kill(workers[0], signal.SIGKILL)
        _, messages = process.communicate(timeout=120)
    assert process.returncode == 0, messages
    assert "note: a worker died; the parts in progress are scored again" in messages
    assert read_files(folder) == uninterrupted
