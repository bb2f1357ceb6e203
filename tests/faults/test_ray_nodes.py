"""A Ray cluster of a head and two nodes, each with its own object store, that loses a node."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faults.conftest import ray_run
from generated_rows import read_files

ray = pytest.importorskip("ray")

pytestmark = pytest.mark.slow


@pytest.fixture
def nodes() -> Iterator[tuple[Any, list[Any]]]:
    """A cluster whose head runs no workers, and its two nodes, which run one worker each."""
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    quick = {"health_check_period_ms": 1000, "health_check_failure_threshold": 8}
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RAY_worker_niceness", "0")
        options = {"num_cpus": 0, "include_dashboard": False, "_system_config": quick}
        cluster = cluster_utils.Cluster()
        try:
            try:
                cluster.add_node(**options)
                started = [cluster.add_node(num_cpus=1) for _ in range(2)]
            except Exception as error:  # raised by Ray if a busy machine starts it slowly
                pytest.skip(f"Ray could not start three nodes here: {error}")
            ray.init(cluster.address, log_to_driver=False)
            yield cluster, started
        finally:
            ray.shutdown()
            cluster.shutdown()


def _wait_for_worker(node: Any, state: str) -> None:
    """Wait until a worker on the node is in the state; Ray starts and ends workers late."""
    from ray._private.state import actors

    until = time.monotonic() + 120
    while not any(
        actor["State"] == state and actor["Address"]["NodeID"] == node.node_id
        for actor in actors().values()
    ):
        assert time.monotonic() < until, f"no worker on the node became {state}"
        time.sleep(0.05)


def test_a_run_continues_after_the_loss_of_a_node(
    nodes: tuple[Any, list[Any]], table: Path, uninterrupted: dict[str, bytes], tmp_path: Path
) -> None:
    """The other node runs one worker only, which finishes the run."""
    cluster, started = nodes
    lost: list[Any] = []

    def lose_one(stage: str, rows: int) -> None:
        if stage == "scoring" and rows >= 60 and not lost:
            _wait_for_worker(started[0], "ALIVE")
            lost.append(started[0])
            cluster.remove_node(started[0], allow_graceful=False)
            # A worker runs for a while after its node is removed.
            _wait_for_worker(started[0], "DEAD")

    run = ray_run(table, tmp_path / "out")
    with pytest.warns(UserWarning, match="a worker died"):
        outcome = run.execute(lose_one)
    assert lost
    assert outcome.scored == 600
    assert read_files(tmp_path / "out") == uninterrupted
