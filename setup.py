"""The compiled part of the build; everything else is in pyproject.toml."""

import os
import platform
import shutil
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PACKAGE = "nlgauge.measure.kernels"
FOLDER = Path("src", *PACKAGE.split("."))
DIRECTIVES = {
    "annotation_typing": False,  # types are declared in the .pxd files
    "boundscheck": False,
    "cdivision": True,
    "infer_types": True,
    "initializedcheck": False,
    "language_level": 3,
    "wraparound": False,
}
# Sums may be taken in any order, which vectorises them. Unlike -ffast-math this keeps NaN and inf.
# MSVC has no such options; its /O2 is the default.
OPTIONS = [
    "-O3",
    "-g0",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-signed-zeros",
    "-fassociative-math",
]
# Kernels that gain from AVX2, and the folder that nlgauge/measure/kernels/__init__.py then imports.
WIDE = "x86_64_avx2"
WIDE_KERNELS = ("depth", "fixed_point", "interior_point", "network_simplex", "newton_system")


class BuildKernels(build_ext):
    """Compiles each kernel for every processor, and on x86-64 once more for those with AVX2."""

    def finalize_options(self) -> None:
        """Compile as many kernels at a time as there are cores."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extension(self, ext: Extension) -> None:
        """Compile one extension with the options of its processor."""
        wide = f".{WIDE}." in ext.name
        if self.compiler.compiler_type != "msvc":
            ext.extra_compile_args = OPTIONS + (["-mavx2", "-mfma"] if wide else [])
        elif wide:
            ext.extra_compile_args = ["/arch:AVX2"]
        super().build_extension(ext)


def extensions() -> list[Extension]:
    """Return all extensions; each kernel is a .py file with a .pxd file beside it."""
    names = sorted(path.stem for path in FOLDER.glob("*.pxd") if path.stem != "__init__")
    found = cythonize(
        [Extension(f"{PACKAGE}.{name}", [str(FOLDER / f"{name}.py")]) for name in names],
        include_path=["src"],
        force=True,  # Cython does not notice changes of a .pxd that another .pxd imports
        compiler_directives=DIRECTIVES,
    )
    if platform.machine().lower() in ("x86_64", "amd64"):
        for name in WIDE_KERNELS:
            copy = shutil.copy(FOLDER / f"{name}.c", FOLDER / WIDE / f"{name}.c")
            found.append(Extension(f"{PACKAGE}.{WIDE}.{name}", [str(copy)]))
    for extension in found:
        extension.optional = True  # without a compiler Python runs the sources
    return found


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildKernels})
