"""A full disk is reported, finished parts are kept, and the run can be resumed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import needs_embedded
from faults.conftest import OPTIONS
from faults.processes import count_parts, run
from generated_rows import read_files


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_a_run_resumes_after_the_disk_was_full(
    table: Path, uninterrupted: dict[str, bytes], small_disk: Path
) -> None:
    folder = small_disk / "out"
    arguments = ["score", "-c", table, *OPTIONS, "--parts", folder]
    done = run(*arguments)
    assert done.returncode == 1, done.stderr
    assert "is full; finished parts are kept: free some space and run the same" in done.stderr
    assert "Traceback" not in done.stderr
    finished = count_parts(folder)
    assert finished > 2
    larger = ["mount", "-o", "remount,size=4m", str(small_disk)]
    subprocess.run(larger, check=True)
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    assert f"{finished} parts reused from an earlier run" in done.stderr
    assert read_files(folder) == uninterrupted


@pytest.mark.slow
@needs_embedded
def test_a_read_only_cache_changes_no_score(small_disk: Path, tmp_path: Path) -> None:
    """Embeddings that cannot be stored are computed again, with a note."""
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    (tmp_path / "c.txt").write_text("the cat sat\na dog\n")
    (tmp_path / "r.txt").write_text("a cat sat\nthe dog\n")
    arguments = ["score", "-c", tmp_path / "c.txt", "-r", tmp_path / "r.txt", "-m", "bertscore"]
    usual = run(*arguments)
    cached = run(*arguments, "--cache", small_disk / "cache")
    assert cached.returncode == usual.returncode == 0, cached.stderr
    assert cached.stdout == usual.stdout
    assert "note: the cache" in cached.stderr
    assert "Traceback" not in cached.stderr
