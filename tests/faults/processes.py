"""The command line as a process of its own, to be signalled and killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PATIENCE = 120  # seconds; a loaded machine is slow to start a process


def command(*words: object) -> list[str]:
    """The words that start nlgauge with this Python."""
    return [sys.executable, "-m", "nlgauge", *map(str, words)]


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """nlgauge run to its end."""
    return subprocess.run(
        command(*words), capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def start(*words: object) -> subprocess.Popen[str]:
    """nlgauge begun."""
    return subprocess.Popen(
        command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(happened: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Wait until something happened or the process is over."""
    end = time.monotonic() + PATIENCE
    while not happened() and process.poll() is None:
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.005)


def parts_in(folder: Path) -> int:
    """How many parts are done."""
    return len(list((folder / "parts").glob("*.json")))


def descendants(pid: int) -> Iterator[int]:
    """The processes below a process, by the system's own list."""
    parents = dict(_parents())
    for child in parents:
        above = child
        while above in parents and above != pid:
            above = parents[above]
        if above == pid and child != pid:
            yield child


def words_of(pid: int) -> str:
    """The command line of a process, or nothing if it is gone."""
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
