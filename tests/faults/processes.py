"""nlgauge in a child process that tests signal and kill, and the processes below it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

TIMEOUT = 120  # seconds; a loaded machine is slow to start a process


def command(*arguments: object) -> list[str]:
    """Return the command that runs nlgauge with this Python."""
    return [sys.executable, "-m", "nlgauge", *map(str, arguments)]


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run nlgauge and wait until it ends."""
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=TIMEOUT, check=False
    )


def start(*arguments: object) -> subprocess.Popen[str]:
    """Start nlgauge and return at once."""
    return subprocess.Popen(
        command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Wait until the condition holds or the process ends."""
    end = time.monotonic() + TIMEOUT
    while not condition() and process.poll() is None:
        assert time.monotonic() < end, f"the condition did not hold within {TIMEOUT} seconds"
        time.sleep(0.005)


def count_parts(folder: Path) -> int:
    """Return the number of finished parts in the folder of a run."""
    return len(list((folder / "parts").glob("*.json")))


def descendant_pids(pid: int) -> Iterator[int]:
    """Yield the process ids of all children and their children, from /proc."""
    parents = dict(_parents())
    for child in parents:
        above = child
        while above in parents and above != pid:
            above = parents[above]
        if above == pid and child != pid:
            yield child


def command_line(pid: int) -> str:
    """Return the command line of a process, or an empty string if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def _parents() -> Iterator[tuple[int, int]]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "stat").read_text()
        except OSError:
            continue
        yield int(folder.name), int(status.rpartition(")")[2].split()[1])
