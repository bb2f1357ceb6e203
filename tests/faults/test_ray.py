"""Ray gives what local workers give, also when an actor is killed or a signal comes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import example, needs_embedded
from faults.conftest import OPTIONS
from faults.processes import descendants, parts_in, start, wait_for, words_of
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
    """Two workers' worth of Ray on this machine, which does not wait until the others are idle."""
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
def test_ray_scores_as_local_workers_do(tmp_path: Path) -> None:
    """Bit for bit: parts are the same, so batches are, and every worker runs on one thread."""
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
def test_an_actor_is_killed_in_the_middle_of_a_part(
    table: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill_one(stage: str, rows: int) -> None:
        if stage == "scoring" and rows >= 60 and not killed:
            actors = [pid for pid in descendants(os.getpid()) if "ray::Worker" in words_of(pid)]
            killed.append(actors[0])
            os.kill(actors[0], signal.SIGKILL)

    run_ = Run(
        InputFiles([str(table)], []),
        ("chrf",),
        tmp_path / "out",
        part_rows=20,
        confidence=0.95,
        resamples=50,
        engine="ray",
        workers=2,
    )
    outcome = run_.execute(kill_one)
    assert killed
    assert outcome.scored == 600
    assert read_files(tmp_path / "out") == undisturbed


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
def test_what_an_actor_refuses_is_refused_in_its_words() -> None:
    with pytest.raises(DataError, match="choose long_text=window") as raised:
        _score_on_ray("bertscore:long_text=error", "word " * 2000)
    assert "ray::" not in str(raised.value)


@pytest.mark.usefixtures("cluster")
def test_an_actor_that_cannot_start_says_why() -> None:
    """As where a machine of the cluster lacks a model that the others have."""
    with pytest.raises(NlgaugeError, match=r"a worker cannot start: .*nowhere/nothing") as raised:
        _score_on_ray("bertscore:model=nowhere/nothing", "a")
    assert "\n" not in str(raised.value)


def test_a_signal_reaches_a_run_on_ray(table: Path, tmp_path: Path) -> None:
    """Ray takes SIGTERM for itself when it starts; a run on it is still finished in order."""
    folder = tmp_path / "out"
    words = ["score", "-c", table, *OPTIONS, "--parts", folder, "--engine", "ray", "--workers", 2]
    with start(*words) as process:
        wait_for(lambda: parts_in(folder) >= 2, process)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 143, said
    assert "run the same command again to resume" in said
    assert "Traceback" not in said
    assert parts_in(folder) >= 2
