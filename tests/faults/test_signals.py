"""After a signal the parts in progress are finished, and a message says how to resume."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from faults.conftest import OPTIONS
from faults.processes import command_line, count_parts, descendant_pids, run, start, wait_for
from generated_rows import read_files

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("number", "code", "workers"), [(signal.SIGINT, 130, 1), (signal.SIGTERM, 143, 2)]
)
def test_a_signal_ends_the_run_between_parts(
    number: int,
    code: int,
    workers: int,
    table: Path,
    uninterrupted: dict[str, bytes],
    tmp_path: Path,
) -> None:
    folder = tmp_path / "out"
    arguments = ["score", "-c", table, *OPTIONS, "--parts", folder, "--workers", workers]
    with start(*arguments) as process:
        wait_for(lambda: count_parts(folder) >= 2, process)
        process.send_signal(number)
        out, messages = process.communicate(timeout=120)
    assert process.returncode == code, messages
    assert out == ""
    assert "finishing the parts in progress; a second signal ends the run at once" in messages
    assert "rows are scored and kept in" in messages
    assert "run the same command again to resume" in messages
    assert "Traceback" not in messages
    assert not list(folder.rglob("*.unfinished"))
    assert not (folder / "summary.json").exists()
    finished = count_parts(folder)
    assert 2 <= finished < 30
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    assert f"{finished} parts reused from an earlier run" in done.stderr
    assert read_files(folder) == uninterrupted


def test_a_second_signal_ends_the_run_at_once(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    arguments = ["score", "-c", table, "-m", "ter", "chrf", "--parts", folder, "--workers", 2]
    with start(*arguments) as process:
        wait_for(lambda: any(map(_is_worker, descendant_pids(process.pid))), process)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert any("finishing the parts" in line for line in lines)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=120)
    assert process.returncode == 130, messages
    assert "nlgauge: interrupted; run the same command again to resume" in messages
    assert "Traceback" not in messages
    assert "Warning" not in messages  # of multiprocessing
    assert not (folder / "summary.json").exists()


@pytest.mark.parametrize("signals", [1, 2])
def test_a_signal_also_ends_the_reader_of_the_messages(
    signals: int, table: Path, tmp_path: Path
) -> None:
    """In ``nlgauge score ... 2>&1 | tee log``, Ctrl-C ends tee, too."""
    folder = tmp_path / "out"
    with start("score", "-c", table, "-m", "ter", *OPTIONS, "--parts", folder) as process:
        wait_for(lambda: count_parts(folder) >= 2, process)
        assert process.stderr is not None
        process.stderr.close()
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 130
    assert 2 <= count_parts(folder) < 30


def _is_worker(pid: int) -> bool:
    return "spawn_main" in command_line(pid)
