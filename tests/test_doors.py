"""Who may open whose door: imports between the rooms follow the plan of the house."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nlgauge

HOUSE = Path(nlgauge.__file__).parent
MODULES = sorted(HOUSE.rglob("*.py"))
FORBIDDEN = {
    "core": {"text", "encode", "measure", "metrics", "stats", "data", "report", "scoring", "cli"},
    "text": {"encode", "measure", "metrics", "stats", "data", "report", "scoring", "cli"},
    "measure": {"encode", "text", "metrics", "stats", "data", "report", "scoring", "cli"},
    "metrics": {"encode", "stats", "data", "report", "scoring", "cli"},
    "stats": {"encode", "text", "metrics", "measure", "data", "report", "scoring", "cli"},
    "encode": {"measure", "metrics", "stats", "data", "report", "scoring", "cli"},
    "data": {"encode", "measure", "metrics", "stats", "report", "scoring", "cli"},
    "study": {"encode", "cli"},
    "recipes": {"encode", "cli"},
    "figures": {
        "encode",
        "text",
        "measure",
        "metrics",
        "stats",
        "data",
        "report",
        "scoring",
        "cli",
    },
    "report": {"encode", "measure", "metrics", "stats", "data", "scoring", "cli"},
    "service": {"encode", "measure", "stats", "text", "figures", "report", "cli"},
}


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(HOUSE)))
def test_rooms_open_only_the_doors_they_may(path: Path) -> None:
    room = path.relative_to(HOUSE).parts[0]
    closed = FORBIDDEN.get(room, set())
    for name in _imported(path):
        parts = name.split(".")
        if parts[0] == "nlgauge" and len(parts) > 1:
            assert parts[1] not in closed, f"{path} opens the door to {name}"
        if parts[0] in {"fastapi", "starlette", "uvicorn"}:
            assert room == "service", path
        if parts[0] in {"torch", "transformers"}:
            assert room in {"encode", "adapters"} or path.stem.endswith("_torch"), path


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(HOUSE)))
def test_modules_stay_small_and_have_names_of_their_own(path: Path) -> None:
    assert path.stem not in {"utils", "util", "helpers", "common", "misc"}
    limit = 150 if path.parent.name == "metrics" and not path.stem.startswith("_") else 400
    assert len(path.read_text("utf-8").splitlines()) <= limit


def test_core_needs_only_numpy_and_the_standard_library() -> None:
    for path in (HOUSE / "core").glob("*.py"):
        for name in _imported(path):
            top = name.split(".")[0]
            optional = {"pandas"}  # imported inside Scores.to_frame only
            assert top in {"nlgauge", "numpy"} | optional or top in sys.stdlib_module_names, name


@pytest.mark.parametrize(
    "statement",
    ["import nlgauge", "import nlgauge.cli", "import nlgauge; nlgauge.metric_names()"],
)
def test_heavy_libraries_stay_out(statement: str) -> None:
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
