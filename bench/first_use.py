"""The first use of each metric after an installation, against the second.

For every metric nlgauge is copied without bytecode to a new folder, and two processes score one
pair with this copy. They share a new home folder, so that the first finds no cache of any library.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import nlgauge
from bench.timing import Timing

_SCORE = """
import sys, nlgauge
nlgauge.score(["A guy stands on a boat."], ["A man is standing in a canoe."], metrics=sys.argv[1:])
"""
_OPTIONS = {"external": f"external:command={sys.executable} tests/word_overlap.py references"}


def first_use(_: int) -> list[Timing]:
    """Seconds of two processes per metric, imports included."""
    timings = []
    for name in nlgauge.metric_names():
        with TemporaryDirectory() as folder:
            for use in ("first", "second"):
                seconds, cpu = _seconds(_OPTIONS.get(name, name), Path(folder))
                timings.append(Timing(f"{name}, {use} use", seconds, pairs=1, cpu=cpu))
    return timings


def _seconds(spec: str, folder: Path) -> tuple[float, float]:
    """Seconds on the clock and on the cores of a process that scores one pair with the copy."""
    site, home = folder / "site", folder / "home"
    if not site.exists():
        unwanted = shutil.ignore_patterns("__pycache__", "*.c")
        shutil.copytree(Path(nlgauge.__file__).parent, site / "nlgauge", ignore=unwanted)
        home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    start, busy = time.perf_counter(), _cpu_of_children()
    subprocess.run(
        [sys.executable, "-c", _SCORE, spec],
        env=kept | {"PYTHONPATH": str(site), "HOME": str(home), "HF_HUB_OFFLINE": "1"},
        check=True,
    )
    return time.perf_counter() - start, _cpu_of_children() - busy


def _cpu_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system
