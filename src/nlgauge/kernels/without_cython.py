"""What the kernels use of the package Cython, for running them uncompiled without it."""

from contextlib import nullcontext

nogil = nullcontext()
compiled = False
