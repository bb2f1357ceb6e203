"""The memory of a run in parts does not grow with its input, and its scores stay the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from faults.processes import TIMEOUT, run
from generated_rows import generate_rows, write_jsonl

METRICS = ("-m", "bleu", "chrf", "bertscore:model=hashing", "--format", "json", "-q")


# ru_maxrss of a child process starts at the memory of its parent, so VmHWM is read instead.
_PROGRAM = """
import atexit, sys
from pathlib import Path
from nlgauge.cli import main
atexit.register(lambda: sys.stderr.write(Path("/proc/self/status").read_text()))
main()
"""


def _peak(*arguments: object) -> tuple[float, list[dict]]:
    """Return the peak memory of nlgauge in megabytes, and its scores."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
    )
    line = next(line for line in done.stderr.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024, json.loads(done.stdout)["scores"]


@pytest.mark.slow
def test_more_rows_take_no_more_memory(tmp_path: Path) -> None:
    peaks, scores = {}, {}
    for segments in (500, 4000):
        rows = generate_rows(segments, systems="A", references=1)
        table = write_jsonl(tmp_path / f"{segments}.jsonl", rows)
        arguments = ["score", "-c", table, *METRICS, "--part-rows", 250, "--parts"]
        peaks[segments], scores[segments] = _peak(*arguments, tmp_path / f"out-{segments}")
    assert peaks[4000] < peaks[500] + 15 < 600
    listed = json.loads(run("score", "-c", tmp_path / "4000.jsonl", *METRICS).stdout)["scores"]
    for mine, other in zip(scores[4000], listed, strict=True):
        assert mine["components"] == pytest.approx(other["components"], abs=1e-9)
        assert mine["signature"] == other["signature"]
