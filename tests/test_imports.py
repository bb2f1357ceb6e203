"""Packages import only what the contracts in pyproject.toml allow, and stay small."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nlgauge

PACKAGE = Path(nlgauge.__file__).parent
ROOT = Path(__file__).parent.parent
MODULES = sorted(PACKAGE.rglob("*.py"))

REFUSED = [  # module, line added to it, what the contract reports
    ("metrics/wmd.py", "from nlgauge.encode import open_encoder", "nlgauge.encode"),
    ("metrics/yisi.py", "import nlgauge.stats.levels", "nlgauge.stats.levels"),
    ("metrics/ter.py", "def late(): from nlgauge.inputs import Spec", "nlgauge.inputs"),
    ("core/cloud.py", "import numba", "numba"),
    ("core/plan.py", "import importlib\nimportlib.import_module('threadpoolctl')", "threadpoolctl"),
    ("core/scores.py", "from importlib import import_module as get\nget('torch.nn')", "torch.nn"),
    ("core/corpus.py", "__import__('to' + 'rch')", "<computed>"),
    ("core/errors.py", "exec('import torch')", "<computed>"),
    ("cli/score.py", "from nlgauge.measure.transport import match", "nlgauge.measure.transport"),
    ("cli/darr.py", "from nlgauge.stats import levels", "nlgauge.stats.levels"),
    ("service/app.py", "from nlgauge.figures import bars", "nlgauge.figures.bars"),
    ("service/jobs.py", "LAZY = {'heat': 'nlgauge.stats.matrix'}", "nlgauge.stats.matrix"),
    ("stats/levels.py", "import nlgauge.text.idf", "nlgauge.text.idf"),
    ("study/compare.py", "from nlgauge.encode import open_encoder", "nlgauge.encode"),
    ("report/table.py", "import matplotlib.pyplot", "matplotlib"),
]


def lint(source: Path) -> subprocess.CompletedProcess[str]:
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", command, "--no-cache", "--config", str(ROOT / "pyproject.toml")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'tools'}{os.pathsep}{source}"},
        cwd=ROOT,
    )


def test_forbidden_imports_are_found_in_every_spelling(tmp_path: Path) -> None:
    shutil.copytree(
        PACKAGE, tmp_path / "nlgauge", ignore=shutil.ignore_patterns("page", "data/*.safetensors")
    )
    for name, line, _ in REFUSED:
        with (tmp_path / "nlgauge" / name).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")
    found = lint(tmp_path)
    assert found.returncode == 1
    for name, _, imported in REFUSED:
        module = "nlgauge." + name.removesuffix(".py").replace("/", ".")
        assert f"{module} imports {imported}" in found.stdout


def test_every_package_has_a_contract() -> None:
    names = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in MODULES}
    config = (ROOT / "pyproject.toml").read_text("utf-8")
    for name in names - {"__init__", "__main__", "torch"}:
        assert f'source = "nlgauge.{name}"' in config, name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_are_small_and_not_named_utils(path: Path) -> None:
    assert path.stem not in {"utils", "util", "helpers", "common", "misc"}
    limit = 150 if path.parent.name == "metrics" and not path.stem.startswith("_") else 400
    assert len(path.read_text("utf-8").splitlines()) <= limit


@pytest.mark.parametrize(
    "statement",
    ["import nlgauge", "import nlgauge.cli", "import nlgauge; nlgauge.metric_names()"],
)
def test_heavy_libraries_are_imported_when_needed(statement: str) -> None:
    heavy = {"torch", "transformers", "scipy", "ot", "sacrebleu", "pandas", "matplotlib", "nltk"}
    heavy |= {"fastapi", "uvicorn"}
    check = f"{statement}\nimport sys\nprint(sorted({heavy!r} & set(sys.modules)))"
    words = [sys.executable, "-c", check]
    shown = subprocess.run(words, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_public_names_are_the_listed_ones() -> None:
    assert set(dir(nlgauge)) == {*nlgauge.__all__, "__version__"}
    for name in dir(nlgauge):
        assert getattr(nlgauge, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'scoar'"):
        _ = nlgauge.scoar
