"""Compiled kernels: chosen for the processor, and the same numbers without a compiler."""

import math
import os
import subprocess
import sys
import warnings
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np
import pytest

import nlgauge
import uncompiled_kernels
from nlgauge import kernels
from nlgauge.measure.transport import match_many

SOLVE = """
from nlgauge.measure.transport import match
print(match([[0.0, 1.0], [1.0, 0.0]], [3, 1], [2, 2]).value)
from nlgauge.measure import depth
from nlgauge.measure.barycenter import barycenter
import sys
print(sys.modules["nlgauge.kernels.depth"].__file__, "cython" in sys.modules)
"""


def copy_of_package(folder):
    """A package without extensions in a folder of its own."""
    source = Path(nlgauge.__file__).parent
    package = folder / "site" / "nlgauge"
    package.mkdir(parents=True)
    for entry in source.iterdir():
        if entry.name not in {"kernels", "__pycache__"}:
            (package / entry.name).symlink_to(entry)
    for entry in (source / "kernels").rglob("*.py"):
        target = package / "kernels" / entry.relative_to(source / "kernels")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(entry.read_bytes())
    return folder / "site"


def run(site, *, without_cython=True):
    code = "import sys; sys.modules['cython'] = None\n" if without_cython else ""
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", code + SOLVE],
        env=os.environ | {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )


def test_the_sources_run_without_extensions_and_without_cython(tmp_path):
    shown = run(copy_of_package(tmp_path))
    assert shown.stdout.split()[0] == "0.25"
    assert shown.stdout.split()[1].endswith("depth.py")
    assert shown.stderr.count("UncompiledWarning") == 1, shown.stderr
    assert "install a C compiler" in shown.stderr


def test_extensions_are_imported_without_a_warning():
    shown = run(Path(nlgauge.__file__).parents[1])
    assert shown.stdout.split()[1].endswith(tuple(EXTENSION_SUFFIXES))
    assert shown.stderr == ""


def test_processors_with_avx2_get_extensions_of_their_own():
    package = Path(kernels.__file__).parent
    assert kernels._folders(package, frozenset()) == [str(package)]
    assert kernels._folders(package, frozenset({"AVX2"})) == [str(package)]
    wide = kernels._folders(package, frozenset({"AVX2", "FMA3", "SSE"}))
    assert wide == [str(package / "x86_64_avx2"), str(package)]


def test_features_of_the_processor_are_known():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(isinstance(name, str) for name in kernels._processor_features())


@pytest.mark.parametrize(
    "penalties", [(math.inf, math.inf), (0.23, 0.31), (0.018, 0.97), (math.inf, 0.3), (0.3, 50.0)]
)
def test_plans_are_the_same_uncompiled(monkeypatch, penalties):
    rng = np.random.default_rng(1)
    shapes = [(1, 1), (1, 4), (3, 1), (4, 5), (6, 3), (7, 7)]
    costs = [rng.random(shape) for shape in shapes]
    costs.append(rng.integers(0, 3, size=(5, 6)) / 2.0)
    a, b = ([rng.dirichlet(np.ones(c.shape[axis])) for c in costs] for axis in (0, 1))
    options = {"penalty_a": penalties[0], "penalty_b": penalties[1]}
    compiled = match_many(costs, a, b, **options)
    uncompiled_kernels.use(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = match_many(costs, a, b, **options)
    for one, other in zip(compiled[:-1], plain[:-1], strict=True):  # the last is not unique
        np.testing.assert_allclose(one.coupling, other.coupling, atol=1e-9)
    for one, other in zip(compiled, plain, strict=True):
        assert one.objective == pytest.approx(other.objective, abs=1e-11)
        assert one.iterations == other.iterations
