"""A new metric is one file, in a folder or an entry point."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

from nlgauge.cli import main

PROJECT = Path(__file__).resolve().parents[1]
TOY = '''
"""Shared words: the Jaccard index of two sets of words. Higher is better, range [0, 1]."""

from dataclasses import dataclass

import numpy as np

from nlgauge.core.metric import PairMetric, similarity
from nlgauge.core.options import option


@dataclass(frozen=True)
class Shared(PairMetric):
    """Words in common over words in either."""

    scale = similarity()
    symmetric = True
    lowercase: bool = option(True, "Fold case first.")

    def prepare(self, item, side):
        return frozenset((item.lower() if self.lowercase else item).split()) or None

    def compare(self, candidates, references):
        return np.array(
            [[len(c & r) / len(c | r)] for c, r in zip(candidates, references, strict=True)]
        )
'''


def _run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env={**os.environ, **environment},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shared_words.py").write_text(TOY)
    return tmp_path


@pytest.fixture
def call(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Call the command line with the folder of metrics: exit code, output, messages."""
    monkeypatch.setenv("NLGAUGE_METRICS", str(folder))

    def called(*words: str) -> tuple[int, str, str]:
        with mock.patch.dict(sys.modules), pytest.raises(SystemExit) as ended:
            main(list(words))
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return called


def test_a_file_in_a_named_folder_is_a_metric(folder: Path) -> None:
    surroundings = {"NLGAUGE_METRICS": str(folder)}
    (folder / "c.txt").write_text("The cat sat\n")
    (folder / "r.txt").write_text("the cat ran\n")
    specs = ("shared_words", "shared_words:lowercase=no")
    files = ("-c", str(folder / "c.txt"), "-r", str(folder / "r.txt"))
    scored = _run("-m", "nlgauge", "score", *files, "-m", *specs, **surroundings)
    assert "0.5000" in scored.stdout, scored.stderr
    assert "0.2000" in scored.stdout, scored.stderr


def test_the_new_metric_is_listed(call: Callable[..., tuple[int, str, str]]) -> None:
    _, listed, err = call("metrics", "shared_words")
    assert "shared_words ↑ [0, 1]  Words in common over words in either." in listed, err
    assert "Fold case first. (yes or no) [yes]" in listed


def test_the_law_tests_find_the_new_metric(folder: Path) -> None:
    laws = str(PROJECT / "tests" / "laws" / "test_laws.py")
    words = ("-m", "pytest", laws, "-k", "shared_words", "-p", "no:cacheprovider")
    held = _run(*words, NLGAUGE_METRICS=str(folder))
    assert held.returncode == 0, held.stdout
    assert "16 passed" in held.stdout, held.stdout


def test_an_entry_point_is_a_metric(folder: Path) -> None:
    info = folder / "toy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    points = "[nlgauge.metrics]\nshared_words = shared_words:Shared\n"
    (info / "entry_points.txt").write_text(points)
    listed = _run("-m", "nlgauge", "metrics", "shared_words", PYTHONPATH=str(folder))
    assert "shared_words ↑ [0, 1]" in listed.stdout, listed.stderr


def test_a_broken_file_is_named(folder: Path, call: Callable[..., tuple[int, str, str]]) -> None:
    (folder / "broken.py").write_text("import nothing_of_that_name\n")
    code, _, err = call("metrics", "broken")
    assert code == 2
    assert "broken.py fails on import: ModuleNotFoundError" in err
    assert "Traceback" not in err


def test_a_file_with_two_metrics_is_refused(
    folder: Path, call: Callable[..., tuple[int, str, str]]
) -> None:
    (folder / "two.py").write_text(TOY + TOY.replace("class Shared", "class Other"))
    code, _, err = call("metrics", "two")
    assert code == 2
    assert "must define exactly one metric class, but it defines Shared, Other" in err
