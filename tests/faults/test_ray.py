"""Runs on Ray give the bytes of local runs, also after a killed actor or a signal."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import example, needs_embedded
from faults.conftest import OPTIONS, ray_run
from faults.processes import command_line, count_parts, descendant_pids, start, wait_for
from generated_rows import read_files, write_jsonl
from nlgauge.core.errors import DataError, NlgaugeError, UsageError
from nlgauge.data.systems import InputFiles
from nlgauge.data.text_rows import Row
from nlgauge.runtime import Runtime
from nlgauge.scale.parts import Part
from nlgauge.scale.run import Run
from nlgauge.scale.worker import Worker, WorkerConfig

ray = pytest.importorskip("ray")
from nlgauge.scale.ray_engine import RayEngine  # noqa: E402 (which needs ray)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A local Ray cluster with two CPUs, whose workers run at normal priority."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RAY_worker_niceness", "0")
        ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield
        ray.shutdown()


def _examples() -> list[dict[str, Any]]:
    references = example("reference.a")
    return [
        {"id": f"{system} {i}", "candidate": candidate, "references": [references[i]]}
        for system in ("fluent", "literal", "hasty")
        for i, candidate in enumerate(example(system))
    ]


@needs_embedded
@pytest.mark.usefixtures("cluster")
def test_ray_writes_the_bytes_of_local_workers(tmp_path: Path) -> None:
    """Parts and batches are the same, and every worker has one thread, so bits are equal."""
    table = write_jsonl(tmp_path / "rows.jsonl", _examples())
    options: dict[str, Any] = {
        "metrics": ("bleu", "bertscore", "bary:weights=idf"),
        "part_rows": 25,
        "confidence": 0.95,
        "resamples": 100,
        "workers": 2,
    }
    sources = InputFiles([str(table)], [])
    local = Run(sources, folder=tmp_path / "local", **options).execute()
    spread = Run(sources, folder=tmp_path / "ray", engine="ray", **options).execute()
    assert spread.scored == local.scored == 108
    assert read_files(tmp_path / "ray") == read_files(tmp_path / "local")


@pytest.mark.usefixtures("cluster")
def test_parts_of_a_killed_actor_are_scored_again(
    table: Path, uninterrupted: dict[str, bytes], tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill_one(stage: str, rows: int) -> None:
        if stage == "scoring" and rows >= 60 and not killed:
            actors = [
                pid for pid in descendant_pids(os.getpid()) if "ray::Worker" in command_line(pid)
            ]
            killed.append(actors[0])
            os.kill(actors[0], signal.SIGKILL)

    run_ = ray_run(table, tmp_path / "out")
    outcome = run_.execute(kill_one)
    assert killed
    assert outcome.scored == 600
    assert read_files(tmp_path / "out") == uninterrupted


@pytest.mark.usefixtures("cluster")
def test_more_workers_than_the_cluster_has_are_refused() -> None:
    with pytest.raises(UsageError, match="3 workers need 3 CPUs, but the Ray cluster has 2"):
        RayEngine(WorkerConfig(("chrf",)), 3, None).__enter__()
    with pytest.raises(UsageError, match="1 workers need 1 GPUs, but the Ray cluster has 0"):
        RayEngine(WorkerConfig(("chrf",), Runtime(device="cuda")), 1, None).__enter__()


def _score_on_ray(spec: str, candidate: str) -> None:
    part = Part(0, (Row("rows, line 1", "A", "1", candidate, ("b",)),), ())
    with RayEngine(WorkerConfig((spec,)), 1, None) as engine:
        list(engine.run(Worker.score, [part]))


@needs_embedded
@pytest.mark.usefixtures("cluster")
def test_errors_of_an_actor_keep_their_message() -> None:
    with pytest.raises(DataError, match="choose long_text=window") as raised:
        _score_on_ray("bertscore:long_text=error", "word " * 2000)
    assert "ray::" not in str(raised.value)


@pytest.mark.usefixtures("cluster")
def test_an_actor_that_cannot_start_reports_the_reason() -> None:
    """For example on a machine of the cluster that lacks a model."""
    with pytest.raises(NlgaugeError, match=r"a worker cannot start: .*nowhere/nothing") as raised:
        _score_on_ray("bertscore:model=nowhere/nothing", "a")
    assert "\n" not in str(raised.value)


def test_sigterm_ends_a_run_on_ray_between_parts(table: Path, tmp_path: Path) -> None:
    """Ray installs a SIGTERM handler when it starts; the run replaces it."""
    folder = tmp_path / "out"
    arguments = [
        "score",
        "-c",
        table,
        *OPTIONS,
        "--parts",
        folder,
        "--engine",
        "ray",
        "--workers",
        2,
    ]
    with start(*arguments) as process:
        wait_for(lambda: count_parts(folder) >= 2, process)
        process.send_signal(signal.SIGTERM)
        _, messages = process.communicate(timeout=120)
    assert process.returncode == 143, messages
    assert "run the same command again to resume" in messages
    assert "Traceback" not in messages
    assert count_parts(folder) >= 2
