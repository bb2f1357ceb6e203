"""Engines score every part once, survive lost workers, and pass on errors of workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from generated_rows import generate_rows
from nlgauge.core.errors import UsageError
from nlgauge.data.text_rows import Row
from nlgauge.scale.engine import ProcessPool, open_engine
from nlgauge.scale.parts import Part
from nlgauge.scale.worker import Worker, WorkerConfig

CONFIG = WorkerConfig(("chrf",))
ROWS = generate_rows(40)


@pytest.fixture
def parts() -> list[Part]:
    rows = [Row("", r["system"], r["id"], r["candidate"], tuple(r["references"])) for r in ROWS]
    return [Part(i, tuple(rows[8 * i : 8 * i + 8]), ()) for i in range(10)]


def test_unknown_engines_are_refused() -> None:
    with pytest.raises(UsageError, match="unknown engine 'spark'"):
        open_engine("spark", CONFIG, workers=1)
    with pytest.raises(UsageError, match="invalid number of workers 0"):
        open_engine("local", CONFIG, workers=0)
    with pytest.raises(UsageError, match="local workers have none"):
        open_engine("local", CONFIG, workers=1, address="auto")


def test_parts_of_killed_workers_are_scored_again(parts: list[Part]) -> None:
    """A worker is killed between parts; all parts are scored, each once."""
    expected = {scored.name: scored for scored in map(Worker(CONFIG).score, parts)}
    before = dict(os.environ)
    with ProcessPool(CONFIG, 1) as engine, pytest.warns(UserWarning, match="a worker died"):
        found = []
        for scored in engine.run(Worker.score, parts):
            found.append(scored)
            if len(found) == 3:
                (process,) = engine._pool._processes.values()
                process.kill()
    assert len(found) == len(expected) == 10
    assert {scored.name: scored for scored in found} == expected
    assert dict(os.environ) == before


def test_results_come_in_the_order_of_the_tasks_if_that_is_wanted(parts: list[Part]) -> None:
    with ProcessPool(CONFIG, 2) as engine:
        found = [scored.name for scored in engine.run_in_order(Worker.score, parts)]
    assert found == [part.name for part in parts]


def test_a_signal_while_a_worker_starts_is_handled_when_the_worker_is_known(
    parts: list[Part], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool could not kill a worker whose start was interrupted."""
    started: list[SpawnProcess] = []
    start = SpawnProcess.start

    def interrupted(process: SpawnProcess) -> None:
        signal.raise_signal(signal.SIGINT)
        start(process)
        started.append(process)

    monkeypatch.setattr(SpawnProcess, "start", interrupted)
    with pytest.raises(KeyboardInterrupt), ProcessPool(CONFIG, 1) as engine:
        list(engine.run(Worker.score, parts))
    (worker,) = started
    worker.join(60)
    assert worker.exitcode == -signal.SIGKILL


def test_workers_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    program = (
        "import os, time\n"
        "from nlgauge.scale.engine import ProcessPool\n"
        "from nlgauge.scale.worker import Worker, WorkerConfig\n"
        "from nlgauge.scale.parts import Part\n"
        "if __name__ == '__main__':\n"
        "    engine = ProcessPool(WorkerConfig(('chrf',)), 1).__enter__()\n"
        "    list(engine.run(Worker.score, [Part(0, (), ())]))\n"
        "    print(*engine._pool._processes, flush=True)\n"
        "    time.sleep(1000)\n"
    )
    (tmp_path / "program.py").write_text(program)
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "program.py")], stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
    for _ in range(1200):
        if not _is_alive(worker):
            return
        time.sleep(0.1)
    os.kill(worker, signal.SIGKILL)
    pytest.fail("the worker waits for a parent that is gone")


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_workers_share_the_cores_that_this_process_may_use(monkeypatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    with ProcessPool(CONFIG, 2):
        assert os.environ["OMP_NUM_THREADS"] == "3"
