"""The compiled part of the build; everything else is in pyproject.toml."""

import os
import platform
import shutil
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PACKAGE = "nlgauge.kernels"
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
# Memoryview code that all kernels share, compiled once instead of in each of them.
SHARED = f"{PACKAGE}._cyutility"
# Kernels that gain from AVX2, and the folder that nlgauge/kernels/__init__.py then imports.
WIDE = "x86_64_avx2"
WIDE_KERNELS = (
    "active_set",
    "depth",
    "fixed_point",
    "int8_rounding",
    "interior_point",
    "network_simplex",
    "newton_system",
    "pricing",
    "tree",
)


class BuildKernels(build_ext):
    """Compiles each kernel for every processor, and on x86-64 once more for those with AVX2."""

    def finalize_options(self) -> None:
        """Compile as many kernels at a time as there are cores."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self) -> None:
        """Write the C files, then compile; metadata and source distributions need neither."""
        from Cython.Build import cythonize

        portable = [extension for extension in self.extensions if not _is_wide(extension)]
        cythonize(
            [Extension(extension.name, extension.sources) for extension in portable],
            include_path=["src"],
            force=True,  # Cython does not notice changes of a .pxd that another .pxd imports
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=SHARED,
        )
        for extension in self.extensions:
            source = Path(extension.sources[0]).with_suffix(".c")
            if _is_wide(extension):
                source = shutil.copy(source, source.parent / WIDE / source.name)
            extension.sources = [str(source)]
        super().build_extensions()

    def build_extension(self, ext: Extension) -> None:
        """Compile one extension with the options of its processor."""
        if self.compiler.compiler_type != "msvc":
            ext.extra_compile_args = OPTIONS + (["-mavx2", "-mfma"] if _is_wide(ext) else [])
        elif _is_wide(ext):
            ext.extra_compile_args = ["/arch:AVX2"]
        super().build_extension(ext)


def _is_wide(extension: Extension) -> bool:
    """Return whether the extension is for processors with AVX2 only."""
    return f".{WIDE}." in extension.name


def _extensions() -> list[Extension]:
    """Return all extensions; each kernel is a .py file with a .pxd file beside it."""
    kernels = sorted(path.stem for path in FOLDER.glob("*.pxd") if path.stem != "__init__")
    names = {f"{PACKAGE}.{name}": f"{name}.py" for name in kernels}
    names[SHARED] = f"{SHARED.rpartition('.')[-1]}.c"
    if platform.machine().lower() in ("x86_64", "amd64"):
        names |= {f"{PACKAGE}.{WIDE}.{name}": f"{name}.py" for name in WIDE_KERNELS}
    # Without a compiler Python runs the sources.
    return [Extension(name, [str(FOLDER / file)], optional=True) for name, file in names.items()]


setup(ext_modules=_extensions(), cmdclass={"build_ext": BuildKernels})
