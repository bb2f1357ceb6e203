"""A wheel contains every file that git tracks below src."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_data_files_are_declared() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    declared = {
        path
        for package, patterns in config["tool"]["setuptools"]["package-data"].items()
        for pattern in patterns
        for path in ROOT.joinpath("src", *package.split(".")).glob(pattern)
    }
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "src"], capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is not a git checkout")
    tracked = [ROOT / name for name in listed.stdout.splitlines()]
    missing = [path for path in tracked if path.suffix != ".py" and path not in declared]
    assert missing == []
