"""Compiled functions: kept on disk where that is possible, and made anew where it is not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import nlgauge

pytest.importorskip("numba", reason="functions are compiled by numba (pip install nlgauge[fast])")


def test_starts_where_no_folder_can_be_written_to(tmp_path):
    """The package is a copy in a folder that may not be written to, and so is everything else."""
    closed = tmp_path / "closed"
    closed.write_text("a file where folders are looked for")
    source = Path(nlgauge.__file__).parent
    package = tmp_path / "site" / "nlgauge"
    package.mkdir(parents=True)
    for entry in source.iterdir():
        if entry.name not in {"measure", "__pycache__"}:
            (package / entry.name).symlink_to(entry)
    (package / "measure").mkdir()
    for entry in (source / "measure").glob("*.py"):
        (package / "measure" / entry.name).write_bytes(entry.read_bytes())
    (package / "measure" / "__pycache__").write_text("a file here, too")
    surroundings = os.environ | {
        "PYTHONPATH": str(tmp_path / "site"),
        "HOME": str(closed),
        "XDG_CACHE_HOME": str(closed),
        "LOCALAPPDATA": str(closed),
    }
    surroundings.pop("NUMBA_CACHE_DIR", None)
    question = "from nlgauge.measure import simplex; print(simplex.couple_all.stats.cache_path)"
    asked = [sys.executable, "-c", question]
    shown = subprocess.run(asked, env=surroundings, capture_output=True, text=True, check=False)
    assert (shown.stdout.strip(), shown.returncode) == ("None", 0), shown.stderr


def test_code_is_kept_where_a_folder_can_be_written_to():
    from nlgauge.measure import simplex

    assert simplex.couple_all.stats.cache_path


def test_compiling_is_announced_once(tmp_path):
    """Whoever waits for it is told why, and only then; what is kept is not compiled again."""
    surroundings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    work = (
        "import logging, numpy as np; logging.basicConfig(level=logging.INFO);"
        "from nlgauge.measure.trimming import quantiles;"
        "quantiles(np.arange(3.0), np.array([0.5])); quantiles(np.arange(3.0)[::2], np.ones(1))"
    )
    for told in (1, 0):
        shown = subprocess.run(
            [sys.executable, "-c", work],
            env=surroundings,
            capture_output=True,
            text=True,
            check=True,
        )
        assert shown.stderr.count("compiling for this processor") == told, shown.stderr
