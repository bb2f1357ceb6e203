"""Loops that Cython compiles when nlgauge is installed; each .pxd declares the types of its .py.

On a processor with AVX2 the extensions of the folder x86_64_avx2 are imported, which are the same
sources compiled for such processors; the others run on every processor of their architecture.
Without any extension (no C compiler at installation) Python runs the sources themselves: the
results are the same, 40 to 400 times slower.
"""

import warnings
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path


class UncompiledWarning(UserWarning):
    """Warns that the solvers run uncompiled."""


def _processor_features() -> frozenset[str]:
    """Return the instruction sets of the processor as numpy detects them."""
    try:
        features = import_module("numpy._core._multiarray_umath").__cpu_features__
    except (ImportError, AttributeError):  # it is private, and in another module before numpy 2
        return frozenset()
    return frozenset(name for name, present in features.items() if present)


def _folders(package: Path, features: frozenset[str]) -> list[str]:
    """Return the folders to import kernels from, in order."""
    wide = [str(package / "x86_64_avx2")] if features >= {"AVX2", "FMA3"} else []
    return [*wide, str(package)]


__path__ = _folders(Path(__file__).parent, _processor_features())
if not any((Path(__path__[-1]) / f"depth{suffix}").exists() for suffix in EXTENSION_SUFFIXES):
    warnings.warn(
        "the solvers of nlgauge are not compiled and run 40 to 400 times slower: install a "
        "C compiler (for example gcc, or pip install ziglang), then run pip install "
        "--force-reinstall --no-cache-dir --no-deps nlgauge",
        UncompiledWarning,
        stacklevel=2,
    )
